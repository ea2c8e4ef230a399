import { Decimal as DecimalJs } from 'decimal.js';

/**
 * The one configured Decimal. 40 significant digits (design: compute with 40, store numeric(38,18)),
 * half away from zero (decimal.js ROUND_HALF_UP rounds ties away from zero for negatives too), and
 * exponents wide enough that `toString` never prints `1e-7`.
 */
export const Decimal = DecimalJs.clone({
  precision: 40,
  rounding: DecimalJs.ROUND_HALF_UP,
  toExpNeg: -40,
  toExpPos: 60,
});
export type Decimal = DecimalJs;

export const ZERO: Decimal = new Decimal(0);
export const ONE: Decimal = new Decimal(1);

/** Canonical decimal text: no exponent, no trailing zeros, no plus sign, `0` for zero (never `-0`). */
export function decimalText(value: Decimal): string {
  return value.isZero() ? '0' : value.toFixed();
}
