import { minorDigits } from '../../domain/currency.ts';
import { decimal, decimalText } from '../../domain/money.ts';

/** Currencies without decimals at ISO 4217 for which Stripe counts hundredths all the same. */
const TWO_DECIMALS_AT_STRIPE: ReadonlySet<string> = new Set(['isk', 'ugx']);
/** Currencies that have decimals at ISO 4217, and none at Stripe. */
const NO_DECIMALS_AT_STRIPE: ReadonlySet<string> = new Set(['mga']);

/** Decimals of the amounts that Stripe takes: those of ISO 4217, with its documented exceptions; at most 3. */
function digitsAtStripe(currency: string): number {
  const code = currency.toLowerCase();
  if (NO_DECIMALS_AT_STRIPE.has(code)) return 0;
  if (TWO_DECIMALS_AT_STRIPE.has(code)) return 2;
  return Math.min(minorDigits(code), 3);
}

/**
 * A decimal amount as Stripe's whole number of minor units; null if Stripe cannot take it: finer than its units,
 * or in thousandths that are not a multiple of ten.
 */
export function toStripeAmount(amount: string, currency: string): number | null {
  const digits = digitsAtStripe(currency);
  const units = decimal(amount).times(10 ** digits);
  const isTaken = units.isInteger() && (digits < 3 || units.modulo(10).isZero());
  return isTaken && units.lte(99_999_999_999) ? units.toNumber() : null;
}

/** Stripe's whole number of minor units as decimal text in main units. */
export const fromStripeAmount = (units: number, currency: string): string =>
  decimalText(decimal(String(units)).div(10 ** digitsAtStripe(currency)));
