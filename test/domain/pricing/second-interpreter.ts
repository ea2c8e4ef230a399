import type { ExplainedModel } from '../../../schemas/explanation.ts';
import {
  add,
  ceiling,
  compare,
  exact,
  floor,
  least,
  minus,
  NOTHING,
  over,
  times,
  total,
  type Exact,
} from './exact.ts';

/**
 * The price of a quantity, written a second time from the rules of billing 2.2: unit by tier
 * instead of by a running floor, in exact fractions instead of decimals. Knows nothing of the code.
 */
export function priceOf(model: ExplainedModel, quantity: Exact): Exact {
  if (compare(quantity, NOTHING) <= 0) return NOTHING;
  switch (model.billing_model) {
    case 'FLAT_FEE':
      return times(quantity, exact(model.unit_amount));
    case 'PACKAGE': {
      const packages = over(quantity, exact(model.divide_by));
      const whole = model.round === 'up' ? ceiling(packages) : floor(packages);
      return times(whole, exact(model.package_amount));
    }
    case 'TIERED':
      return model.tier_mode === 'SLAB' ? slabPrice(model, quantity) : volumePrice(model, quantity);
    default:
      return model satisfies never;
  }
}

type Tiered = Extract<ExplainedModel, { billing_model: 'TIERED' }>;

interface Rung {
  readonly from: Exact;
  /** null = open. */
  readonly to: Exact | null;
  readonly unit: Exact;
  readonly flat: Exact;
}

function rungs(model: Tiered): Rung[] {
  const bounded = model.tiers
    .filter((tier) => tier.up_to !== null)
    .sort((left, right) => compare(exact(left.up_to!), exact(right.up_to!)));
  const ladder = [...bounded, ...model.tiers.filter((tier) => tier.up_to === null)];
  return ladder.map((tier, index) => ({
    from: index === 0 ? NOTHING : exact(ladder[index - 1]!.up_to!),
    to: index === ladder.length - 1 ? null : exact(tier.up_to!),
    unit: exact(tier.unit_amount),
    flat: exact(tier.flat_amount),
  }));
}

/** Of each rung the units in it; a rung that holds some also owes its flat amount. */
function slabPrice(model: Tiered, quantity: Exact): Exact {
  return total(
    rungs(model).map(({ from, to, unit, flat }) => {
      const top = to === null ? quantity : least(quantity, to);
      const units = minus(top, from);
      return compare(units, NOTHING) > 0 ? add(times(units, unit), flat) : NOTHING;
    }),
  );
}

/** The one rung with from < quantity ≤ to prices everything. */
function volumePrice(model: Tiered, quantity: Exact): Exact {
  const rung = rungs(model).find(
    ({ from, to }) => compare(quantity, from) > 0 && (to === null || compare(quantity, to) <= 0),
  )!;
  return add(times(quantity, rung.unit), rung.flat);
}
