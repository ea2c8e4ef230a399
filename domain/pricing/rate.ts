import assert from 'node:assert/strict';
import { Decimal, ZERO } from '../money.ts';
import type { ChargeModel, PackageRound, Tier } from './price.ts';

/** Cost of one quantity, unrounded, with its derivation. */
export interface Rating {
  /** The rated quantity: a quantity below zero counts as zero. */
  readonly quantity: Decimal;
  readonly amount: Decimal;
  /** Packages charged. Null for the other models. */
  readonly packages: Decimal | null;
  /** Tiers with units or a charge, ascending. Null for the other models. */
  readonly tiers: readonly TierShare[] | null;
}

export interface TierShare {
  /** Index of the tier, from 0. */
  readonly index: number;
  /** Units above this bound and up to `upTo`. Null `upTo` means no upper bound. */
  readonly above: Decimal;
  readonly upTo: Decimal | null;
  readonly quantity: Decimal;
  readonly unitAmount: Decimal;
  readonly flatAmount: Decimal;
  /** quantity × unitAmount + flatAmount. */
  readonly amount: Decimal;
}

/**
 * Money for a quantity, unrounded. `roundToCurrency` rounds the line once, so parts always sum to the amount
 * that the customer sees. A quantity of 0 or less costs nothing in every model, including flat amounts: an
 * empty window and an unused meter are free (billing 2.2).
 */
export function rate(model: ChargeModel, quantity: Decimal): Rating {
  assert(quantity.isFinite(), 'a quantity that is not finite');
  if (quantity.lte(0)) return rateNothing(model);
  switch (model.kind) {
    case 'FLAT_FEE':
      return {
        quantity,
        amount: quantity.times(model.unitAmount),
        packages: null,
        tiers: null,
      };
    case 'PACKAGE': {
      const packages = packagesFor(quantity, model.divideBy, model.round);
      return { quantity, amount: packages.times(model.packageAmount), packages, tiers: null };
    }
    case 'TIERED': {
      const tiers =
        model.mode === 'SLAB' ? slab(model.tiers, quantity) : volume(model.tiers, quantity);
      const amount = tiers.reduce((total, tier) => total.plus(tier.amount), ZERO);
      return { quantity, amount, packages: null, tiers };
    }
    default:
      return model satisfies never;
  }
}

function rateNothing(model: ChargeModel): Rating {
  return {
    quantity: ZERO,
    amount: ZERO,
    packages: model.kind === 'PACKAGE' ? ZERO : null,
    tiers: model.kind === 'TIERED' ? [] : null,
  };
}

/**
 * A started package is charged in full; with `down` only whole packages are charged (billing 2.2).
 * Uses integer division and remainder: a quotient cut at 40 digits may look whole when it is not.
 */
function packagesFor(quantity: Decimal, divideBy: Decimal, round: PackageRound): Decimal {
  const whole = quantity.divToInt(divideBy);
  if (round === 'down') return whole;
  return whole.times(divideBy).lt(quantity) ? whole.plus(1) : whole;
}

/**
 * SLAB: each unit at the rate of its tier. The flat amount of a tier is charged from its first unit
 * (billing 2.2).
 */
function slab(tiers: readonly Tier[], quantity: Decimal): TierShare[] {
  const shares: TierShare[] = [];
  let above = ZERO;
  for (const [index, tier] of tiers.entries()) {
    if (quantity.lte(above)) break;
    const top = tier.upTo === null ? quantity : Decimal.min(tier.upTo, quantity);
    shares.push(share(tier, index, above, top.minus(above)));
    above = top;
  }
  return shares;
}

/** VOLUME: all units at the rate of the one tier that contains the quantity (billing 2.2). */
function volume(tiers: readonly Tier[], quantity: Decimal): TierShare[] {
  const index = tiers.findIndex((tier) => tier.upTo === null || tier.upTo.gte(quantity));
  const tier = tiers[index];
  assert(tier, 'the last tier is open');
  const above = tiers[index - 1]?.upTo ?? ZERO;
  return [share(tier, index, above, quantity)];
}

function share(tier: Tier, index: number, above: Decimal, quantity: Decimal): TierShare {
  return {
    index,
    above,
    upTo: tier.upTo,
    quantity,
    unitAmount: tier.unitAmount,
    flatAmount: tier.flatAmount,
    amount: quantity.times(tier.unitAmount).plus(tier.flatAmount),
  };
}
