import assert from 'node:assert/strict';
import { roundToCurrency, type Currency } from '../currency.ts';
import { invalidField } from '../errors.ts';
import { decimalText, isStorable, parseDecimal, roundToStorage, type Decimal } from '../money.ts';
import type { PriceUnitConfig, TierDefinition } from './validate-price.ts';

/** Money terms of a price in a pricing unit, decimal text. Absent terms are null. */
export interface ConvertedTerms {
  readonly amount: string | null;
  readonly tiers: readonly ConvertedTier[] | null;
}

export interface ConvertedTier {
  readonly up_to: number | null;
  readonly unit_amount: string;
  readonly flat_amount: string | null;
}

/**
 * Converts terms in a pricing unit to money: every amount × the rate of the unit, tier by tier. Not rounded
 * to minor units: only the line is rounded. The rate is stored with the price and does not change later
 * (billing 2.6, money 12.1, 12.2). Refuses amounts that are too large to store.
 */
export function convertPriceUnit(config: PriceUnitConfig, conversionRate: Decimal): ConvertedTerms {
  assert(conversionRate.gt(0), 'a conversion rate of 0 or less');
  const convert = (input: string | number, path: string, of = '') => {
    const money = roundToStorage(parseDecimal(input, path).times(conversionRate));
    if (!isStorable(money)) {
      const message = 'is too large an amount of money at the rate of the unit';
      throw invalidField(`price_unit_config.${of}${path}`, message);
    }
    return decimalText(money);
  };
  const convertTier = (tier: TierDefinition, index: number): ConvertedTier => {
    const of = `price_unit_tiers[${index}].`;
    return {
      up_to: tier.up_to ?? null,
      unit_amount: convert(tier.unit_amount, 'unit_amount', of),
      flat_amount: isGiven(tier.flat_amount) ? convert(tier.flat_amount, 'flat_amount', of) : null,
    };
  };
  return {
    amount: isGiven(config.amount) ? convert(config.amount, 'amount') : null,
    tiers: isGiven(config.price_unit_tiers) ? config.price_unit_tiers.map(convertTier) : null,
  };
}

/**
 * Informational amount of a row in the pricing unit: amount / rate, rounded to the decimals of the unit
 * (2.6).
 */
export function priceUnitAmount(amount: Decimal, conversionRate: Decimal, unit: Currency): Decimal {
  assert(conversionRate.gt(0), 'a conversion rate of 0 or less');
  return roundToCurrency(amount.div(conversionRate), unit);
}

const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined;
