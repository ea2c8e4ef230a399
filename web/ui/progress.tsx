import type { ReactNode } from 'react';
import styles from './progress.module.css';

/** Long work: how much is done, of how much, and a way to cancel it where there is one. */
export function Progress({
  label,
  done,
  of,
  cancel,
}: {
  readonly label: string;
  readonly done: number;
  readonly of: number;
  readonly cancel?: ReactNode;
}) {
  return (
    <div className={styles.progress}>
      <div className={styles.text}>
        <span>{label}</span>
        <span>
          {done.toLocaleString('en-US')} of {of.toLocaleString('en-US')}
        </span>
      </div>
      <progress aria-label={label} value={done} max={Math.max(of, 1)} />
      {cancel}
    </div>
  );
}
