import { advanceDays, localDate, localDaysBetween } from '../../domain/time/local-days.ts';
import { zoneOf } from '../../domain/time/zone.ts';
import { isoText } from '../../domain/time/instant.ts';
import type { PortalRange } from '../../schemas/words.ts';

export interface Range {
  readonly start_time: string;
  readonly end_time: string;
}

const DEFAULT_DAYS = 30;

/** Days `from` to `to`, both included, of the zone. Empty days mean the last 30 up to today. */
export function rangeOf(from: string, to: string, zone: string, now: string): Range {
  const last = to === '' ? localDate(now, zone) : to;
  const end_time = advanceDays(midnight(last, zone), 1, zone);
  const start_time =
    from === '' ? advanceDays(end_time, -DEFAULT_DAYS, zone) : midnight(from, zone);
  return { start_time, end_time };
}

/** The first day of the range, as `YYYY-MM-DD` of the zone. */
export const firstDayOf = ({ start_time }: Range, zone: string): string =>
  localDate(start_time, zone);

/** The last day of the range: its end is the first instant after it. */
export const lastDayOf = ({ end_time }: Range, zone: string): string =>
  localDate(advanceDays(end_time, -1, zone), zone);

/** The equally many days before the range. */
export function rangeBefore({ start_time, end_time }: Range, zone: string): Range {
  const days = localDaysBetween(start_time, end_time, zone);
  return { start_time: advanceDays(start_time, -days, zone), end_time: start_time };
}

/** The instant at which a day such as `2026-12-01` begins in the zone, in UTC. */
export const midnight = (date: string, zone: string): string =>
  isoText(zoneOf(zone).toInstant(Date.parse(`${date}T00:00:00Z`)));

/** The days that a preset of the portal names, in the zone. */
export function presetRange(preset: PortalRange, zone: string, now: string): Range {
  const today = localDate(now, zone);
  const daysAgo = (days: number, from = today): string =>
    localDate(advanceDays(midnight(from, zone), -days, zone), zone);
  const firstOf = (date: string): string => `${date.slice(0, 'YYYY-MM'.length)}-01`;
  const lastMonth = daysAgo(1, firstOf(today));
  const days: Record<PortalRange, readonly [string, string]> = {
    today: [today, today],
    yesterday: [daysAgo(1), daysAgo(1)],
    last_7_days: [daysAgo(6), today],
    last_30_days: [daysAgo(29), today],
    last_90_days: [daysAgo(89), today],
    current_month: [firstOf(today), today],
    last_month: [firstOf(lastMonth), lastMonth],
  };
  return rangeOf(...days[preset], zone, now);
}
