import { formatDay, formatTime } from './text.ts';

/**
 * A point in time, with the zone that it is shown in: the customer's where there is one, UTC otherwise.
 * Hovering shows the exact instant.
 */
export function Time({
  at,
  zone = 'UTC',
  seconds = false,
}: {
  readonly at: string | null;
  readonly zone?: string;
  readonly seconds?: boolean;
}) {
  if (at === null) return <>–</>;
  return (
    <time dateTime={at} title={at}>
      {formatTime(at, zone, { seconds })}
    </time>
  );
}

/** A day in a zone, for dates whose hour does not matter. */
export function Day({ at, zone = 'UTC' }: { readonly at: string | null; readonly zone?: string }) {
  if (at === null) return <>–</>;
  return (
    <time dateTime={at} title={`${formatTime(at, zone)}`}>
      {formatDay(at, zone)}
    </time>
  );
}

/** A half-open period: from the first day to the last day that belongs to it. */
export function Period({
  start,
  end,
  zone = 'UTC',
}: {
  readonly start: string;
  readonly end: string;
  readonly zone?: string;
}) {
  const last = new Date(Date.parse(end) - 1).toISOString();
  return (
    <span title={`${start} to ${end} (not included), ${zone}`}>
      {formatDay(start, zone)} – {formatDay(last, zone)}
    </span>
  );
}
