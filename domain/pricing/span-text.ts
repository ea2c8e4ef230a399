import { dayForReaders } from '../reader-text.ts';
import { epochMs, isoText } from '../time/instant.ts';
import { zoneOf } from '../time/zone.ts';
import { withThousands } from './thousands.ts';

/**
 * A half-open period. Whole days print as people read them, from the first day to the last that belongs to it:
 * `1 Jan 2026 – 31 Jan 2026`. Other periods print their instants.
 */
export function spanText(
  { start, end }: { readonly start: string; readonly end: string },
  timezone = 'UTC',
): string {
  if (start === end) return shortInstant(start, timezone);
  if (!isMidnight(start, timezone) || !isMidnight(end, timezone))
    return `${shortInstant(start, timezone)} to ${shortInstant(end, timezone)}`;
  const [first, last] = [start, isoText(epochMs(end) - 1)].map((at) => dayForReaders(at, timezone));
  return first === last ? first! : `${first} – ${last}`;
}

const localText = (instant: string, timezone: string): string =>
  isoText(zoneOf(timezone).toLocal(epochMs(instant)));

const isMidnight = (instant: string, timezone: string): boolean =>
  localText(instant, timezone).endsWith(MIDNIGHT);

const MIDNIGHT = 'T00:00:00.000Z';

/**
 * Midnight prints as a date; another time with its offset from UTC, because a clock shows some times twice.
 * Seconds and milliseconds are printed if they are not zero.
 */
export function shortInstant(instant: string, timezone = 'UTC'): string {
  const local = localText(instant, timezone);
  if (local.endsWith(MIDNIGHT)) return local.slice(0, 10);
  const offset = offsetText(zoneOf(timezone).offsetAt(epochMs(instant)));
  return local.replace(/(:00)?\.000Z$/, 'Z').replace(/Z$/, offset);
}

function offsetText(ms: number): string {
  if (ms === 0) return 'Z';
  const minutes = Math.round(Math.abs(ms) / 60_000);
  const two = (value: number) => String(value).padStart(2, '0');
  return `${ms < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

const UNITS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
] as const;

/** Part and whole in the longest unit in which both are integers: `10 / 30 days`. */
export function shareText(partMs: number, wholeMs: number): string {
  const [name, length] = UNITS.find(([, ms]) => partMs % ms === 0 && wholeMs % ms === 0) ?? [
    'ms',
    1,
  ];
  const count = (ms: number): string => withThousands(String(ms / length));
  return `${count(partMs)} / ${count(wholeMs)} ${name}`;
}
