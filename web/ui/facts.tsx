import { Fragment, type ReactNode } from 'react';
import styles from './facts.module.css';

/** Names and values of a record: `<Facts of={[['Currency', 'USD'], ['Created', <Time … />]]} />`. */
export function Facts({ of }: { readonly of: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className={styles.facts}>
      {of.map(([name, value]) => (
        <Fragment key={name}>
          <dt>{name}</dt>
          <dd>{value === null || value === '' ? '–' : value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}
