import type { TAX_BEHAVIORS } from '../../schemas/words.ts';
import { roundToCurrency, type Currency } from '../currency.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../money.ts';

export type TaxBehavior = (typeof TAX_BEHAVIORS)[number];

/** A rate that applies to the invoice, selected by `resolveTaxes`. */
export interface InvoiceTaxRate {
  readonly tax_rate_id: string;
  readonly tax_association_id: string | null;
  /** 0 to 100, decimal text. */
  readonly percentage_value: string;
  readonly tax_behavior: TaxBehavior;
  readonly priority: number;
}

/** One tax of the invoice (interface, tax applied); amounts as decimal text. */
export interface TaxRow {
  readonly tax_rate_id: string;
  readonly tax_association_id: string | null;
  readonly tax_behavior: TaxBehavior;
  readonly percentage_value: string;
  readonly taxable_amount: string;
  readonly tax_amount: string;
}

export interface TaxExemption {
  readonly reason: string;
  readonly reason_code: 'customer_exempt' | 'no_tax_configured';
}

export interface TaxSummary {
  readonly exclusive_tax: string;
  readonly inclusive_tax: string;
  readonly total_tax: string;
  readonly exemption: TaxExemption | null;
}

export interface Taxes {
  readonly base: Decimal;
  readonly rows: readonly TaxRow[];
  readonly inclusive: Decimal;
  readonly exclusive: Decimal;
}

/**
 * Taxes on a base (billing 8.2). An inclusive tax is part of the base: `base * r / (100 + all
 * inclusive rates)`. Every exclusive tax applies to the net that remains. No rate applies to another tax.
 * Each tax is rounded once. The inclusive taxes never exceed the base, even after rounding. Rows are sorted
 * by priority, highest first (billing 8.1); equal priorities keep the given order.
 */
export function computeTaxes(
  base: Decimal,
  rates: readonly InvoiceTaxRate[],
  currency: Currency,
): Taxes {
  const listed = [...rates].sort((left, right) => right.priority - left.priority);
  const percentages = listed.map((rate) => decimal(rate.percentage_value));
  const isInclusive = listed.map((rate) => rate.tax_behavior === 'inclusive');
  const gross = sum(percentages.filter((_, index) => isInclusive[index])).plus(100);

  let net = base;
  const amounts = listed.map(() => ZERO);
  listed.forEach((_, index) => {
    if (!isInclusive[index]) return;
    const share = roundToCurrency(base.times(percentages[index]!).div(gross), currency);
    amounts[index] = Decimal.min(share, net);
    net = net.minus(amounts[index]!);
  });
  listed.forEach((_, index) => {
    if (isInclusive[index]) return;
    amounts[index] = roundToCurrency(net.times(percentages[index]!).div(100), currency);
  });

  const inclusive = base.minus(net);
  return {
    base,
    inclusive,
    exclusive: sum(amounts).minus(inclusive),
    rows: listed.map((rate, index) => ({
      tax_rate_id: rate.tax_rate_id,
      tax_association_id: rate.tax_association_id,
      tax_behavior: rate.tax_behavior,
      percentage_value: rate.percentage_value,
      taxable_amount: decimalText(net),
      tax_amount: decimalText(amounts[index]!),
    })),
  };
}

/** The `tax_summary` of the invoice. */
export function taxSummary(taxes: Taxes, exemption: TaxExemption | null): TaxSummary {
  return {
    exclusive_tax: decimalText(taxes.exclusive),
    inclusive_tax: decimalText(taxes.inclusive),
    total_tax: decimalText(taxes.exclusive.plus(taxes.inclusive)),
    exemption,
  };
}
