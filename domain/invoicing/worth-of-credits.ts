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
 * The credits that pay an amount of money at a rate. The quotient can be inexact and keeps 18 decimals; credits whose
 * value is the amount but for errors of earlier quotients pay it, so that it takes at most what is available
 * (money 2.2.6). More than is available if that is worth less.
 */
export function creditsToPay(amount: Decimal, rate: Decimal, available: Decimal): Decimal {
  const asked = roundToStorage(amount.div(rate));
  const isCovered = withoutErrors(available.times(rate)).gte(amount);
  return isCovered ? Decimal.min(asked, available) : asked;
}
