import { luxonAdd, luxonInstant, luxonLocal } from '../../support/second-calendar.ts';
import { Decimal } from '../../../domain/money.ts';
import type { Quota, Use } from './contract.ts';
import type { Time } from './naive-calendar.ts';
import { positive } from './naive-rating.ts';

const HOUR = 3_600_000;

/** A quota with the time in which it is in force. */
export interface DatedQuota {
  readonly quota: Quota;
  readonly time: Time;
}

/**
 * What each use of a period adds to the usage beyond a quota (money 7.10); the uses are those that count. The period is
 * the one without cuts by the start and the end of the contract: windows are counted from its start (money 7.6). Quotas
 * that are in force together add up; a window keeps what it has at its start (money 7.4, 7.5).
 */
export function beyondQuota(
  quotas: readonly DatedQuota[],
  zone: string,
  period: Time,
  uses: readonly Use[],
): { readonly at: number; readonly units: Decimal }[] {
  let window: Time = { start: -Infinity, end: period.start };
  let used = new Decimal(0);
  let free = 0;
  return [...uses]
    .sort((left, right) => left.at - right.at)
    .map(({ at, value }) => {
      const inForce = quotas.filter(({ time }) => time.start <= at && at < time.end);
      const quota = inForce[0]?.quota;
      if (quota === undefined) return { at, units: new Decimal(value) };
      if (at >= window.end) {
        // A window as long as the period counts nothing.
        const isLong = quota.unit !== 'subscription_period' && outlasts(quota, zone, period);
        if (isLong) return { at, units: new Decimal(value) };
        window = openedBy(quota, zone, period, at, window.end);
        used = new Decimal(0);
        free = inForce.reduce((sum, one) => sum + one.quota.units, 0);
      }
      const before = positive(used.minus(free));
      used = used.plus(value);
      return { at, units: positive(used.minus(free)).minus(before) };
    });
}

const outlasts = (quota: Quota, zone: string, { start, end }: Time): boolean =>
  after(quota, zone, start) >= end;

function openedBy(quota: Quota, zone: string, period: Time, at: number, covered: number): Time {
  if (quota.unit === 'subscription_period') return period;
  let start = at;
  if (quota.withUnit) {
    // Strides of the length, from the start of the unit in which the period begins.
    let next = floorOf(quota.unit, zone, period.start);
    while (after(quota, zone, next) <= at) next = after(quota, zone, next);
    start = Math.max(next, covered);
  }
  // Its duration after its start, also if it does not begin with its unit (money 7.7).
  return { start, end: stretched(after(quota, zone, start), period) };
}

/** A rest of less than an hour belongs to the window. */
const stretched = (end: number, period: Time): number =>
  period.end - end < HOUR ? period.end : end;

function after({ unit, length }: Quota, zone: string, at: number): number {
  if (unit === 'hour') return at + length * HOUR;
  return luxonInstant(zone, luxonAdd(wall(zone, at), 'days', (unit === 'week' ? 7 : 1) * length));
}

function floorOf(unit: Quota['unit'], zone: string, at: number): number {
  const local = luxonLocal(zone, at);
  if (unit === 'hour') return at - ((local.minute * 60 + local.second) * 1000 + local.millisecond);
  const days = unit === 'week' ? local.weekday - 1 : 0;
  return luxonInstant(zone, Date.UTC(local.year, local.month - 1, local.day - days));
}

const wall = (zone: string, at: number): number =>
  luxonLocal(zone, at).setZone('utc', { keepLocalTime: true }).toMillis();
