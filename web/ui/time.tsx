import { formatDay, formatTime } from './text.ts';
import styles from './time.module.css';

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
      <Instant text={formatTime(at, zone, { seconds })} />
    </time>
  );
}

/** Breaks between the day and the time only: `27 Nov 2026,` and `09:20 UTC`. */
function Instant({ text }: { readonly text: string }) {
  const [day, time] = text.split(', ');
  return (
    <>
      <span className={styles.whole}>{day},</span> <span className={styles.whole}>{time}</span>
    </>
  );
}

/** A day in a zone, for dates whose hour does not matter. */
export function Day({ at, zone = 'UTC' }: { readonly at: string | null; readonly zone?: string }) {
  if (at === null) return <>–</>;
  return (
    <time dateTime={at} title={formatTime(at, zone)}>
      <span className={styles.whole}>{formatDay(at, zone)}</span>
    </time>
  );
}

/** The last day of a time that ends at `end`, which is the first instant after it. */
export function LastDay({
  end,
  zone = 'UTC',
}: {
  readonly end: string | null;
  readonly zone?: string;
}) {
  if (end === null) return <>–</>;
  return (
    <time dateTime={end} title={`until ${formatTime(end, zone)} (not included)`}>
      <span className={styles.whole}>{formatDay(lastInstantBefore(end), zone)}</span>
    </time>
  );
}

const lastInstantBefore = (end: string): string => new Date(Date.parse(end) - 1).toISOString();

/** A half-open period: from the first day to the last day that belongs to it. A single day stands alone. */
export function Period({
  start,
  end,
  zone = 'UTC',
}: {
  readonly start: string;
  readonly end: string;
  readonly zone?: string;
}) {
  const first = formatDay(start, zone);
  const last = start === end ? first : formatDay(lastInstantBefore(end), zone);
  return (
    <span title={`${start} to ${end} (not included), ${zone}`}>
      {first === last ? null : (
        <>
          <span className={styles.whole}>{first} –</span>{' '}
        </>
      )}
      <span className={styles.whole}>{last}</span>
    </span>
  );
}
