import type { BucketSize } from './usage-windows.ts';
import { DAY_MS, dayNumber } from './civil.ts';
import { epochMs, isoText, type Instant } from './instant.ts';
import { windowStart } from './usage-windows.ts';
import { zoneOf } from './zone.ts';

/** Back to the full hour on the zone's clock. */
export function floorToHour(at: Instant, timezone: string): Instant {
  return floorTo('HOUR', at, timezone);
}

/** Back to local midnight: the instant at which the local date began. */
export function floorToDay(at: Instant, timezone: string): Instant {
  return floorTo('DAY', at, timezone);
}

/** Back to the local midnight of Monday (billing 2.4). */
export function floorToWeek(at: Instant, timezone: string): Instant {
  return floorTo('WEEK', at, timezone);
}

/** `days` calendar days later, or earlier when negative, at the same wall clock. */
export function advanceDays(at: Instant, days: number, timezone: string): Instant {
  const zone = zoneOf(timezone);
  return isoText(zone.toInstant(zone.toLocal(epochMs(at)) + days * DAY_MS));
}

/** Local dates from the date of `start` to the date of `end`, the latter not counted. */
export function localDaysBetween(start: Instant, end: Instant, timezone: string): number {
  const zone = zoneOf(timezone);
  return dayNumber(zone.toLocal(epochMs(end))) - dayNumber(zone.toLocal(epochMs(start)));
}

const floorTo = (bucket_size: BucketSize, at: Instant, timezone: string): Instant =>
  windowStart({ bucket_size, timezone, billing_anchor: null }, at);
