export const spanText = ({
  start,
  end,
}: {
  readonly start: string;
  readonly end: string;
}): string =>
  start === end ? shortInstant(start) : `${shortInstant(start)} to ${shortInstant(end)}`;

/** Midnight UTC is a date; seconds and milliseconds are shown where they are not zero. */
function shortInstant(instant: string): string {
  return instant.replace(/T00:00:00\.000Z$/, '').replace(/(:00)?\.000Z$/, 'Z');
}
