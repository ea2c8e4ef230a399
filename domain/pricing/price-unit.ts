import assert from 'node:assert/strict';
import { roundToCurrency, type Currency } from '../currency.ts';
import { invalidField } from '../errors.ts';
import { decimalText, isStorable, parseDecimal, roundToStorage, type Decimal } from '../money.ts';
import type { PriceUnitConfig, TierDefinition } from './validate-price.ts';

/** Money of a price that is defined in a pricing unit, decimal text. Absent terms stay null. */
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
 * Terms in a pricing unit as money: every amount times the unit's rate, tier by tier, and nothing
 * rounded to minor units, because rounding belongs to the line. The rate is stored with the price and
 * frozen there (billing 2.6, money 12.1, 12.2). Refuses what no price can hold.
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

/** A row's amount in the pricing unit, for information: amount / rate, rounded to the unit's decimals (2.6). */
export function priceUnitAmount(amount: Decimal, conversionRate: Decimal, unit: Currency): Decimal {
  assert(conversionRate.gt(0), 'a conversion rate of 0 or less');
  return roundToCurrency(amount.div(conversionRate), unit);
}

const isGiven = <Value>(value: Value | null | undefined): value is Value =>
  value !== null && value !== undefined;
