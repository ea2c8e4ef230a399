import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import styles from './figure.module.css';

/** Numbers side by side, each with a link to the list that makes it up. */
export function Figures({ children }: { readonly children: ReactNode }) {
  return <div className={styles.figures}>{children}</div>;
}

export function Figure({
  label,
  value,
  note,
  to,
  search,
}: {
  readonly label: string;
  readonly value: ReactNode;
  readonly note?: ReactNode;
  readonly to?: string;
  readonly search?: Readonly<Record<string, string>>;
}) {
  return (
    <div className={styles.figure} data-figure>
      <div className={styles.label}>
        {to === undefined ? (
          label
        ) : (
          <Link to={to} {...(search === undefined ? {} : { search: search as never })}>
            {label}
          </Link>
        )}
      </div>
      <div className={styles.value}>{value}</div>
      {note === undefined ? null : <div className={styles.note}>{note}</div>}
    </div>
  );
}
