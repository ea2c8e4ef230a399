import type { ReactNode } from 'react';
import { Narrow } from '../../ui/data-table.tsx';
import styles from './number-cell.module.css';

/**
 * The number of an invoice on one line, or a dash. `below` is shown on a phone, where columns beside it are left
 * out.
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
        <Narrow key={index}>{line}</Narrow>
      ))}
    </>
  );
}
