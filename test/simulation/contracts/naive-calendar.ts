import { luxonAdd, luxonInstant, luxonLocal } from '../../support/second-calendar.ts';

/** Periods, windows and terms by luxon, as a bookkeeper with a calendar on the wall would count them. */

/** Half-open, in milliseconds since 1970. */
export interface Time {
  readonly start: number;
  readonly end: number;
}

export type Unit = 'DAILY' | 'WEEKLY' | 'MONTHLY' | 'QUARTERLY' | 'HALF_YEARLY' | 'ANNUAL';
export type Bucket = '6HOUR' | 'DAY' | 'WEEK' | 'MONTH';

export const MONTHS: Readonly<Record<Unit, number>> = {
  DAILY: 0,
  WEEKLY: 0,
  MONTHLY: 1,
  QUARTERLY: 3,
  HALF_YEARLY: 6,
  ANNUAL: 12,
};

/** How long a unit is, roughly: which of two is longer. Days. */
export const roughDays = (unit: Unit, count = 1): number =>
  (MONTHS[unit] === 0 ? (unit === 'DAILY' ? 1 : 7) : MONTHS[unit] * 30) * count;

/** An anchor on the clock of a zone. */
export interface Clock {
  readonly zone: string;
  /** The instant of boundary 0. */
  readonly anchor: number;
  /** The clock time of boundary 0, as if it was UTC. */
  readonly local: number;
}

export const clockAt = (zone: string, anchor: number): Clock => ({
  zone,
  anchor,
  local: wall(zone, anchor),
});

function wall(zone: string, at: number): number {
  return luxonLocal(zone, at).setZone('utc', { keepLocalTime: true }).toMillis();
}

/** The k-th boundary of a grid of `count` units. */
export function boundary(clock: Clock, unit: Unit, count: number, k: number): number {
  if (k === 0) return clock.anchor;
  const months = MONTHS[unit];
  const moved =
    months === 0
      ? luxonAdd(clock.local, 'days', (unit === 'DAILY' ? 1 : 7) * count * k)
      : luxonAdd(clock.local, 'months', months * count * k);
  return luxonInstant(clock.zone, moved);
}

/** The cell of the grid that contains an instant. */
export function cellAt(clock: Clock, unit: Unit, count: number, at: number): Time {
  let k = Math.floor((at - clock.anchor) / (roughDays(unit, count) * 86_400_000));
  while (boundary(clock, unit, count, k) > at) k -= 1;
  while (boundary(clock, unit, count, k + 1) <= at) k += 1;
  return { start: boundary(clock, unit, count, k), end: boundary(clock, unit, count, k + 1) };
}

/** The uncut cells of the grid that overlap a time. */
export function cellsOver(clock: Clock, unit: Unit, count: number, { start, end }: Time): Time[] {
  const cells: Time[] = [];
  for (let at = start; at < end; at = cells.at(-1)!.end) cells.push(cellAt(clock, unit, count, at));
  return cells;
}

/** The first start of a unit at or after an instant, on the clock of a zone (billing 1.2). */
export function calendarAnchor(zone: string, unit: Unit, start: number): number {
  const local = luxonLocal(zone, start);
  const month = local.month - 1;
  const every = MONTHS[unit];
  const first =
    every === 0
      ? Date.UTC(local.year, month, local.day - (unit === 'WEEKLY' ? local.weekday - 1 : 0))
      : Date.UTC(local.year, month - (month % every), 1);
  if (luxonInstant(zone, first) === start) return start;
  const next =
    every === 0
      ? luxonAdd(first, 'days', unit === 'DAILY' ? 1 : 7)
      : luxonAdd(first, 'months', every);
  return luxonInstant(zone, next);
}

/** The windows of a bucket that overlap a time, uncut. */
export function windowsOver(bucket: Bucket, clock: Clock, { start, end }: Time): Time[] {
  if (bucket === 'MONTH') return cellsOver(clock, 'MONTHLY', 1, { start, end });
  const windows: Time[] = [];
  for (let at = start; at < end; at = windows.at(-1)!.end) {
    const local = luxonLocal(clock.zone, at);
    const day = Date.UTC(local.year, local.month - 1, local.day);
    const [first, next] =
      bucket === 'WEEK'
        ? [luxonAdd(day, 'days', 1 - local.weekday), luxonAdd(day, 'days', 8 - local.weekday)]
        : bucket === 'DAY'
          ? [day, luxonAdd(day, 'days', 1)]
          : [
              day + Math.floor(local.hour / 6) * 21_600_000,
              day + (Math.floor(local.hour / 6) + 1) * 21_600_000,
            ];
    windows.push({
      start: luxonInstant(clock.zone, first),
      end: luxonInstant(clock.zone, next),
    });
  }
  return windows;
}

export const cut = (time: Time, by: Time): Time | null => {
  const [start, end] = [Math.max(time.start, by.start), Math.min(time.end, by.end)];
  return start < end ? { start, end } : null;
};

export const iso = (at: number): string => new Date(at).toISOString();
