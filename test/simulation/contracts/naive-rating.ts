import { Decimal } from '../../../domain/money.ts';
import type { Model } from './contract.ts';

export const zero = new Decimal(0);
export const total = (values: readonly Decimal[]) =>
  values.reduce((sum, value) => sum.plus(value), zero);
export const positive = (value: Decimal) => Decimal.max(value, 0);

/** The price of a quantity, not rounded. */
export function rate(model: Model, quantity: Decimal): Decimal {
  if (quantity.lte(0)) return zero;
  switch (model.kind) {
    case 'flat':
      return quantity.times(model.each);
    case 'package':
      return new Decimal(model.each).times(quantity.div(model.size).ceil());
    case 'volume': {
      const tier = model.tiers.find(({ upTo }) => upTo === null || quantity.lte(upTo))!;
      return quantity.times(tier.each).plus(tier.flat);
    }
    case 'slab': {
      let sum = zero;
      let from = 0;
      for (const { upTo, each, flat } of model.tiers) {
        if (quantity.lte(from)) break;
        const units = Decimal.min(quantity, upTo ?? Infinity).minus(from);
        sum = sum.plus(units.times(each)).plus(flat);
        from = upTo ?? Infinity;
      }
      return sum;
    }
    default:
      return model satisfies never;
  }
}

/** What a commitment makes of usage, in money. */
export interface Outcome {
  readonly within: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
}

/** Usage held to what was promised; `before` is what the term has used of it already. */
export function committed(
  usage: Decimal,
  promised: Decimal,
  before: Decimal,
  { factor }: { readonly factor: string },
  trueUp: boolean,
): Outcome {
  const left = positive(promised.minus(before));
  const within = Decimal.min(usage, left);
  return {
    within,
    overage: usage.minus(within).times(factor),
    trueUp: trueUp ? left.minus(within) : zero,
  };
}
