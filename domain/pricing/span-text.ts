import { dayForReaders, timeForReaders } from '../reader-text.ts';
import { epochMs, isoText } from '../time/instant.ts';
import { zoneOf } from '../time/zone.ts';
import { withThousands } from './thousands.ts';

/**
 * A half-open period. Whole days print as people read them, from the first day to the last that belongs to it:
 * `1 Jan 2026 – 31 Jan 2026`. Other periods print their instants, and what both have in common once:
 * `5 Jan 2026, 09:20 – 14:20 UTC`.
 */
export function spanText(
  { start, end }: { readonly start: string; readonly end: string },
  timezone = 'UTC',
): string {
  if (start === end) return shortInstant(start, timezone);
  if (!isMidnight(start, timezone) || !isMidnight(end, timezone))
    return instantsText(wholeInstant(start, timezone), wholeInstant(end, timezone));
  const [first, last] = [start, isoText(epochMs(end) - 1)].map((at) => dayForReaders(at, timezone));
  return first === last ? first! : `${first} – ${last}`;
}

/** Both are `5 Jan 2026, 09:20 UTC`. */
function instantsText(start: string, end: string): string {
  const [day, time] = start.split(', ');
  const [endDay, endTime] = end.split(', ');
  const zone = zoneWord(time!);
  const from = zone === zoneWord(endTime!) ? start.slice(0, -zone.length) : start;
  return `${from} – ${day === endDay ? endTime : end}`;
}

/** The zone at the end of a time, with the space before it. */
const zoneWord = (time: string): string => time.slice(time.indexOf(' '));

const localText = (instant: string, timezone: string): string =>
  isoText(zoneOf(timezone).toLocal(epochMs(instant)));

const isMidnight = (instant: string, timezone: string): boolean =>
  localText(instant, timezone).endsWith(MIDNIGHT);

const MIDNIGHT = 'T00:00:00.000Z';

/** Midnight prints as a day; another time with its zone, which tells the two times of a changed clock apart. */
export const shortInstant = (instant: string, timezone = 'UTC'): string =>
  isMidnight(instant, timezone)
    ? dayForReaders(instant, timezone)
    : wholeInstant(instant, timezone);

/** Seconds and milliseconds are printed if they are not zero. */
const wholeInstant = (instant: string, timezone: string): string => {
  const ms = epochMs(instant);
  return timeForReaders(instant, timezone, {
    seconds: ms % 60_000 !== 0,
    milliseconds: ms % 1_000 !== 0,
  });
};

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
