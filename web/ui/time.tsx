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
      <span className={styles.whole}>{formatDay(start, zone)} –</span>{' '}
      <span className={styles.whole}>{formatDay(last, zone)}</span>
    </span>
  );
}
