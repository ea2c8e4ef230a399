import { epochMs, isoText } from '../time/instant.ts';
import { zoneOf } from '../time/zone.ts';
import { withThousands } from './thousands.ts';

export const spanText = (
  { start, end }: { readonly start: string; readonly end: string },
  timezone = 'UTC',
): string =>
  start === end
    ? shortInstant(start, timezone)
    : `${shortInstant(start, timezone)} to ${shortInstant(end, timezone)}`;

/**
 * Midnight prints as a date; another time with its offset from UTC, because a clock shows some times twice.
 * Seconds and milliseconds are printed if they are not zero.
 */
export function shortInstant(instant: string, timezone = 'UTC'): string {
  const at = epochMs(instant);
  const zone = zoneOf(timezone);
  const local = isoText(zone.toLocal(at));
  if (local.endsWith('T00:00:00.000Z')) return local.slice(0, 10);
  return local.replace(/(:00)?\.000Z$/, 'Z').replace(/Z$/, offsetText(zone.offsetAt(at)));
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
