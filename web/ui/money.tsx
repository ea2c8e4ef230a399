import { classNames } from './class-names.ts';
import { formatDecimal, formatMoney } from './text.ts';
import styles from './money.module.css';

/** An exact amount as the API gave it; a negative one is red and has a minus sign as wide as a digit. */
export function Money({
  amount,
  currency,
}: {
  readonly amount: string;
  readonly currency: string;
}) {
  return (
    <span className={classNames(styles.number, isNegative(amount) && styles.negative)}>
      {formatMoney(amount, currency)}
    </span>
  );
}

/** An exact quantity: usage, credits, seats. */
export function Quantity({ value, unit }: { readonly value: string; readonly unit?: string }) {
  return (
    <span className={classNames(styles.number, isNegative(value) && styles.negative)}>
      {formatDecimal(value)}
      {unit === undefined || unit === '' ? null : <span className={styles.unit}> {unit}</span>}
    </span>
  );
}

const isNegative = (text: string): boolean => /^-.*[1-9]/.test(text);
