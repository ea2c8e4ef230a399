import { DAY_MS, dayNumber } from './civil.ts';
import { epochMs, isoText, type Instant } from './instant.ts';
import { zoneOf } from './zone.ts';

/** `days` calendar days later, or earlier when negative, at the same wall clock. */
export function advanceDays(at: Instant, days: number, timezone: string): Instant {
  const zone = zoneOf(timezone);
  return isoText(zone.toInstant(zone.toLocal(epochMs(at)) + days * DAY_MS));
}

/** Number of local dates from the date of `start` to the date of `end`, excluding the latter. */
export function localDaysBetween(start: Instant, end: Instant, timezone: string): number {
  const zone = zoneOf(timezone);
  return dayNumber(zone.toLocal(epochMs(end))) - dayNumber(zone.toLocal(epochMs(start)));
}

/** The date of the instant in the zone, `YYYY-MM-DD`. */
export function localDate(at: Instant, timezone: string): string {
  return isoText(zoneOf(timezone).toLocal(epochMs(at))).slice(0, 'YYYY-MM-DD'.length);
}
