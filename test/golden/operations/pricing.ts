import { roundToCurrency } from '../../../domain/currency.ts';
import { shareAllowance } from '../../../domain/pricing/allowance.ts';
import { Decimal, decimal, sum } from '../../../domain/money.ts';
import { dividesEvenly, type BillingPeriod } from '../../../domain/pricing/cadence.ts';
import {
  endPrice,
  planPriceEdit,
  type PriceEdit,
  type VersionedPrice,
} from '../../../domain/pricing/price-version.ts';
import type { PriceUnitType } from '../../../domain/pricing/price.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import type { JsonObject } from '../compare.ts';
import { oneOf, type AreaOperations } from '../operation.ts';
import { ANY_PERIOD, caseTerms, textOf, wholeCell, wholeUsage } from './price.ts';

export const pricing: AreaOperations = {
  price_amount(given) {
    const { model } = caseTerms(given['price'] as JsonObject);
    const { amount, tiers } = rate(model, decimal(textOf(given['quantity'])));
    const last = tiers?.at(-1);
    return { amount, tier_index: last?.index, tier_unit_amount: last?.unitAmount };
  },

  bucketed_price_amount(given) {
    const values = given['bucket_values'] as string[];
    const [line] = rateUsageLine({
      line: {},
      price: caseTerms(given['price'] as JsonObject),
      aggregation: 'MAX',
      bucket_size: 'DAY',
      timezone: 'UTC',
      // One value for each window, or for each group: both are priced alone.
      rows: values.map((quantity, index) => ({
        group: [String(index)],
        window_start: ANY_PERIOD.start,
        quantity,
        event_count: 1,
      })),
      cell: wholeCell(),
      proration_behavior: 'none',
    });
    return { amount: line!.unrounded, quantity: line!.quantity };
  },

  round_to_currency: (given) => ({
    amount: roundToCurrency(decimal(textOf(given['amount'])), given['currency'] as string),
  }),

  line_item_amount(given) {
    const [line] = rateUsageLine({
      line: {},
      price: caseTerms(given['price'] as JsonObject),
      aggregation: 'SUM',
      bucket_size: null,
      timezone: 'UTC',
      rows: wholeUsage(textOf(given['quantity'])),
      cell: wholeCell(),
      proration_behavior: 'none',
    });
    return { amount: line!.amount };
  },

  subtotal(given) {
    const lines = (given['raw_line_amounts'] as string[]).map((amount) =>
      roundToCurrency(decimal(amount), given['currency'] as string),
    );
    return { line_amounts: lines, subtotal: sum(lines) };
  },

  price_update_allowed(given) {
    const type = given['price_unit_type'] as PriceUnitType;
    const plan = planPriceEdit(storedPrice(type), given['update'] as PriceEdit, ANY_PERIOD.start);
    return { kind: plan.kind };
  },

  price_delete(given) {
    const price = { id: 'price', start_date: null, ...(given['price'] as { end_date: null }) };
    const request = given['request'] as { end_date?: string };
    return { end_date: endPrice(price, request, given['now'] as string) };
  },

  billing_period_is_multiple(given) {
    const cadence = (unit: unknown) => ({
      billing_period: unit as BillingPeriod,
      billing_period_count: 1,
    });
    return { is_multiple: dividesEvenly(cadence(given['shorter']), cadence(given['longer'])) };
  },

  peers(given, expected) {
    const limit = given['entitlement_usage_limit'];
    const usage = textOf(given['quantity']);
    const commitment = given['commitment'] as JsonObject | undefined;
    const [line] = rateUsageLine({
      line: commitment === undefined ? {} : commitmentOf(commitment),
      price: caseTerms(given),
      aggregation: 'SUM',
      bucket_size: null,
      timezone: 'UTC',
      rows: wholeUsage(usage),
      cell: wholeCell(),
      proration_behavior: 'none',
      allowance: limit === undefined ? null : periodAllowance(textOf(limit), usage),
    });
    const quantity = new Decimal(textOf(given['quantity']));
    return {
      amount: expected['rounding'] === 'none' ? line!.unrounded : line!.amount,
      commitment_info: line!.commitment_info as JsonObject | null,
      effective_unit_amount: { value: quantity.gt(0) ? line!.unrounded.div(quantity) : null },
    };
  },
};

/** An allowance whose reset window is the charge period. */
export function periodAllowance(limit: string | null, usage: string) {
  const claim = {
    line_id: 'line',
    at: ANY_PERIOD.start,
    usage: decimal(usage),
    limit: limit === null ? null : decimal(limit),
  };
  const window = { ...ANY_PERIOD, usedBefore: decimal('0'), claims: [claim] };
  return shareAllowance('MONTHLY', [window]).get('line')!;
}

function commitmentOf(commitment: JsonObject) {
  return {
    commitment_type: oneOf('commitment.type', commitment['type'] ?? 'amount', ['amount']),
    commitment_amount: commitment['amount'] as string,
    commitment_overage_factor: commitment['overage_factor'] as string,
    commitment_true_up_enabled: commitment['true_up_enabled'] as boolean,
  };
}

function storedPrice(price_unit_type: PriceUnitType): VersionedPrice {
  const custom = price_unit_type === 'CUSTOM';
  return {
    id: 'price',
    parent_price_id: 'price',
    status: 'published',
    entity_type: 'PLAN',
    entity_id: 'plan',
    type: 'USAGE',
    billing_model: 'FLAT_FEE',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    invoice_cadence: 'ARREAR',
    currency: 'usd',
    amount: '1',
    price_unit_type,
    price_unit: custom ? 'tok' : null,
    price_unit_amount: custom ? '100' : null,
    price_unit_tiers: null,
    meter_id: 'meter',
    filter_values: null,
    trial_period: null,
    start_date: null,
    end_date: null,
  };
}
