import { classNames } from './class-names.ts';
import { formatDecimal, formatMoney } from './text.ts';
import styles from './money.module.css';

/** An exact amount as returned by the API. A negative amount is red and has a minus sign as wide as a digit. */
export function Money({
  amount,
  currency,
  fraction = 0,
  isFilled = false,
}: {
  readonly amount: string;
  readonly currency: string;
  /** Digits after the point for which the column has room (`fractionOf`). */
  readonly fraction?: number;
  /** The room is filled with zeros: amounts side by side then have equally many digits. */
  readonly isFilled?: boolean;
}) {
  const exact = formatMoney(amount, currency);
  // A unit behind the number has no room before it.
  const isLast = /\d$/.test(exact);
  const text = isFilled && isLast ? exact + (roomAfter(exact, fraction) ?? '') : exact;
  return (
    <span
      className={classNames(styles.number, isNegative(amount) && styles.negative)}
      data-room={roomAfter(text, fraction)}
    >
      {text}
    </span>
  );
}

/** An exact quantity: usage, credits, seats. */
export function Quantity({
  value,
  unit,
  fraction = 0,
}: {
  readonly value: string;
  readonly unit?: string;
  /** Digits after the point for which the column has room (`fractionOf`). */
  readonly fraction?: number;
}) {
  const text = formatDecimal(value);
  return (
    <span
      className={classNames(styles.number, isNegative(value) && styles.negative)}
      data-room={roomAfter(text, fraction)}
    >
      {text}
      {unit === undefined || unit === '' ? null : <span className={styles.unit}> {unit}</span>}
    </span>
  );
}

/** The largest number of digits after the point in a column. With it the numbers are aligned by their points. */
export const fractionOf = (values: readonly string[]): number =>
  Math.max(0, ...values.map((value) => digitsAfterPoint(value)));

const digitsAfterPoint = (text: string): number => /\.(\d+)/.exec(text)?.[1]?.length ?? 0;

/** Invisible digits that fill a number up to the width of its column. */
function roomAfter(text: string, fraction: number): string | undefined {
  const digits = digitsAfterPoint(text);
  if (digits >= fraction) return undefined;
  return (digits === 0 ? '.' : '') + '0'.repeat(fraction - digits);
}

const isNegative = (text: string): boolean => /^-.*[1-9]/.test(text);
