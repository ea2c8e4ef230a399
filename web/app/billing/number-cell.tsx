import type { ReactNode } from 'react';
import { Narrow } from '../../ui/data-table.tsx';
import styles from './number-cell.module.css';

/**
 * The number of an invoice on one line, or what stands for it. `below` is shown on a phone, where columns beside it are
 * left out.
 */
export function NumberCell({
  number,
  below = [],
}: {
  readonly number: string;
  readonly below?: readonly ReactNode[];
}) {
  return (
    <>
      <span className={styles.number}>{number}</span>
      {below.map((line, index) => (
        <Narrow key={index}>{line}</Narrow>
      ))}
    </>
  );
}
