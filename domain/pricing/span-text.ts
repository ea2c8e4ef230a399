export const spanText = ({
  start,
  end,
}: {
  readonly start: string;
  readonly end: string;
}): string =>
  start === end ? shortInstant(start) : `${shortInstant(start)} to ${shortInstant(end)}`;

/** Midnight UTC prints as a date. Seconds and milliseconds are printed if they are not zero. */
export function shortInstant(instant: string): string {
  return instant.replace(/T00:00:00\.000Z$/, '').replace(/(:00)?\.000Z$/, 'Z');
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
  return `${partMs / length} / ${wholeMs / length} ${name}`;
}
