import { Decimal, decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import type { DiscountedCharge } from './rate-subjects.ts';

/** Money of a usage line as on its invoice, before taxes. */
export interface LineCost {
  /** Sum of all rows of the line, before rounding to the currency and before discounts. */
  readonly cost: Decimal;
  /** Discount of the percentage coupons; never more than the cost (money 19.10). */
  readonly discount: Decimal;
  readonly utilized: Decimal;
  readonly overage: Decimal;
  readonly true_up: Decimal;
}

export const NO_COST: LineCost = {
  cost: ZERO,
  discount: ZERO,
  utilized: ZERO,
  overage: ZERO,
  true_up: ZERO,
};

/** Cost after discount. */
export const netCost = ({ cost, discount }: LineCost): Decimal => cost.minus(discount);

/** Cost of the rated rows of one line: base, overage and true-up together (billing 6.3). */
export function lineCost(rated: readonly DiscountedCharge[]): LineCost {
  const rows = rated.map((charge) => charge.rated);
  const part = (key: `computed_${string}_amount`) =>
    sum(
      rows.map(({ commitment_info: info }) =>
        info === null ? ZERO : decimal((info as unknown as Record<string, string>)[key]!),
      ),
    );
  return {
    cost: sum(rows.map((row) => row.unrounded)),
    discount: sum(rated.map(({ discount }) => discount)),
    utilized: part('computed_commitment_utilized_amount'),
    overage: part('computed_overage_amount'),
    true_up: part('computed_true_up_amount'),
  };
}

/** Usage and costs are printed with at most 15 decimals, as on invoices. */
export const figureText = (figure: Decimal): string =>
  decimalText(figure.toDecimalPlaces(SHARE_DECIMALS));

export const plainCost = (cost: Decimal): LineCost => ({ ...NO_COST, cost });

/** The weight of a share of a line's cost. */
export interface Weight {
  /** Usage, or money where windows are rated one by one. */
  readonly amount: Decimal;
  readonly event_count: number;
}

/** Decimals of a share; rates and prices have no more. */
const SHARE_DECIMALS = 15;

/**
 * Splits a cost in proportion to the weights. Groups and windows of a line have no price of their own: tiers,
 * packages, allowances and commitments apply to the whole line. If `whole` is the sum of the weights, the
 * parts add up to the cost exactly. If it is more, because a filter shows only a part of the line, the rest
 * belongs to what is not shown. If an amount is negative or all are zero, events are the weights.
 */
export function shareCost(
  cost: LineCost,
  weights: readonly Weight[],
  whole: Weight = total(weights),
): LineCost[] {
  const byAmount =
    whole.amount.gt(0) && weights.every(({ amount }) => amount.gte(0) && amount.lte(whole.amount));
  const own = (weight: Weight) => (byAmount ? weight.amount : new Decimal(weight.event_count));
  const all = own(whole);
  if (all.isZero()) return weights.map(() => NO_COST);
  const parts = weights.map((weight) => scale(cost, own(weight), all));
  const shown = sum(weights.map(own));
  if (parts.length === 0 || !shown.eq(all)) return parts;
  const others = parts.slice(0, -1);
  return [...others, minus(cost, others)];
}

export const total = (weights: readonly Weight[]): Weight => ({
  amount: sum(weights.map(({ amount }) => amount)),
  event_count: weights.reduce((count, weight) => count + weight.event_count, 0),
});

const KEYS = ['cost', 'discount', 'utilized', 'overage', 'true_up'] as const;

const mapped = (value: (key: (typeof KEYS)[number]) => Decimal): LineCost => ({
  cost: value('cost'),
  discount: value('discount'),
  utilized: value('utilized'),
  overage: value('overage'),
  true_up: value('true_up'),
});

export const addCosts = (costs: readonly LineCost[]): LineCost =>
  mapped((key) => sum(costs.map((cost) => cost[key])));

const scale = (cost: LineCost, part: Decimal, whole: Decimal): LineCost =>
  part.eq(whole)
    ? cost
    : mapped((key) => cost[key].times(part).div(whole).toDecimalPlaces(SHARE_DECIMALS));

const minus = (cost: LineCost, others: readonly LineCost[]): LineCost =>
  mapped((key) => cost[key].minus(sum(others.map((other) => other[key]))));
