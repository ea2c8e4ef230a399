import type { ReactNode } from 'react';
import type { ApiRecord } from '../client/api.ts';
import styles from './seller.module.css';

type Brand = ApiRecord<'CheckoutPage'>['seller'];

/** The tenant at the top of a hosted page: logo or name, over a line in its colour. */
export function Seller({
  brand: { name, logo, accent },
  children,
}: {
  readonly brand: Brand;
  readonly children?: ReactNode;
}) {
  return (
    <header
      className={styles.seller}
      {...(accent === null ? {} : { style: { borderBottomColor: accent } })}
    >
      {logo === null ? (
        <span className={styles.name}>{name}</span>
      ) : (
        <img className={styles.logo} src={logo} alt={name} />
      )}
      {children}
    </header>
  );
}
