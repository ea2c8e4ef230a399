export const spanText = ({
  start,
  end,
}: {
  readonly start: string;
  readonly end: string;
}): string =>
  start === end ? shortInstant(start) : `${shortInstant(start)} to ${shortInstant(end)}`;

/** Midnight UTC is a date; seconds and milliseconds are shown where they are not zero. */
export function shortInstant(instant: string): string {
  return instant.replace(/T00:00:00\.000Z$/, '').replace(/(:00)?\.000Z$/, 'Z');
}

const UNITS = [
  ['days', 86_400_000],
  ['hours', 3_600_000],
  ['minutes', 60_000],
  ['seconds', 1_000],
] as const;

/** A part of a whole length of time in the longest unit in which both are whole: `10 / 30 days`. */
export function shareText(partMs: number, wholeMs: number): string {
  const [name, length] = UNITS.find(([, ms]) => partMs % ms === 0 && wholeMs % ms === 0) ?? [
    'ms',
    1,
  ];
  return `${partMs / length} / ${wholeMs / length} ${name}`;
}
