import { minorDigits, type Currency } from '../currency.ts';
import { Decimal, roundToStorage } from '../money.ts';

/** Decimals of the value of credits that count. Earlier debits left errors of 10⁻¹⁸ credits each (money 2.2.6). */
const VALUE_DECIMALS = 12;

const withoutErrors = (value: Decimal): Decimal =>
  value.toDecimalPlaces(VALUE_DECIMALS, Decimal.ROUND_HALF_UP);

/** The whole minor units in the value of credits: what they may pay (money 2.6.4). */
export const payableWith = (value: Decimal, currency: Currency): Decimal =>
  withoutErrors(value).toDecimalPlaces(minorDigits(currency), Decimal.ROUND_DOWN);

/**
 * The credits that pay an amount of money at a rate. The quotient can be inexact and keeps 18 decimals. If the
 * available credits are worth the amount to 12 decimals, the answer is at most the available credits (money 2.2.6).
 * If they are worth less, it is more than is available, and the debit is refused.
 */
export function creditsToPay(amount: Decimal, rate: Decimal, available: Decimal): Decimal {
  const asked = roundToStorage(amount.div(rate));
  const isCovered = withoutErrors(available.times(rate)).gte(amount);
  return isCovered ? Decimal.min(asked, available) : asked;
}
