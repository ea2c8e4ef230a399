import type { UseQueryResult } from '@tanstack/react-query';
import { useEffect, useState, type ReactNode } from 'react';
import { Refusal } from '../client/refusal.ts';
import { Button } from './button.tsx';
import styles from './query-state.module.css';

/** A person notices a wait that is longer than this; a text that is shown earlier only flickers. */
const SILENT_MS = 200;

interface Awaited {
  readonly what: string;
  /** Keeps the height of a chart with its figures free, so that what follows does not move later. */
  readonly isTall?: boolean;
}

/** Says what is loading, once the wait is noticeable. */
export function Awaiting({ what, isTall = false }: Awaited) {
  const [isNoticed, setNoticed] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setNoticed(true), SILENT_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <div className={isTall ? `${styles.awaiting} ${styles.tall}` : styles.awaiting} role="status">
      {isNoticed ? `Loading ${what} …` : null}
    </div>
  );
}

/** What went wrong, which fields, and the request id for support; with a button to try again. */
export function Failure({
  error,
  retry,
}: {
  readonly error: Error;
  readonly retry?: () => unknown;
}) {
  const refusal = error instanceof Refusal ? error : null;
  const details = (refusal?.details ?? []).filter((detail) => !isSaid(detail, error.message));
  return (
    <div className={styles.failure} role="alert">
      <p>{refusal === null ? 'Something unexpected happened on this page.' : error.message}</p>
      {details.length === 0 ? null : (
        <ul>
          {details.map(({ path, message }, index) => (
            <li key={index}>
              <code>{path}</code> {message}
            </li>
          ))}
        </ul>
      )}
      {refusal?.requestId == null ? null : (
        <p className={styles.request}>
          Request <code>{refusal.requestId}</code>
        </p>
      )}
      {retry === undefined ? null : (
        <Button small onPress={() => void retry()}>
          Try again
        </Button>
      )}
    </div>
  );
}

/** Whether the message consists of the detail, with or without the name of its field, or has it as a sentence. */
const isSaid = (
  { path, message = '' }: { readonly path?: string; readonly message?: string },
  said: string,
): boolean =>
  said === message ||
  said === `${path}: ${message}` ||
  (message.endsWith('.') && said.includes(message));

/** The data of a query when it is loaded; until then what is loading, or the error. */
export function Loaded<Data>({
  query,
  children,
  ...awaited
}: Awaited & {
  readonly query: UseQueryResult<Data>;
  readonly children: (data: Data) => ReactNode;
}) {
  if (query.isPending) return <Awaiting {...awaited} />;
  if (query.isError) return <Failure error={query.error} retry={query.refetch} />;
  return <>{children(query.data)}</>;
}

/** Shown in place of an empty list: what the list will contain, and the action that adds the first record. */
export function EmptyState({
  title,
  children,
  action,
}: {
  readonly title: string;
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}) {
  return (
    <div className={styles.empty}>
      <h2>{title}</h2>
      {children === undefined ? null : <div className={styles.teaching}>{children}</div>}
      {action}
    </div>
  );
}
