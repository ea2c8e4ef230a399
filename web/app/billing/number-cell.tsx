import type { ReactNode } from 'react';
import styles from './number-cell.module.css';

/**
 * The number of an invoice on one line, or a dash. On a phone, what the columns beside it would say stands below it,
 * small.
 */
export function NumberCell({
  number,
  below = [],
}: {
  readonly number: string | null;
  readonly below?: readonly ReactNode[];
}) {
  return (
    <>
      {number === null ? (
        <>
          <span aria-hidden>–</span>
          <span className="visually-hidden">No number</span>
        </>
      ) : (
        <span className={styles.number}>{number}</span>
      )}
      {below.map((line, index) => (
        <span key={index} className={styles.below}>
          {line}
        </span>
      ))}
    </>
  );
}
