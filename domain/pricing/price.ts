import assert from 'node:assert/strict';
import type {
  BILLING_MODELS,
  INVOICE_CADENCES,
  PACKAGE_ROUNDS,
  PRICE_TYPES,
  PRICE_UNIT_TYPES,
  TIER_MODES,
} from '../../schemas/words.ts';
import type { BucketSize } from '../time/usage-windows.ts';
import { decimal, Decimal, ZERO } from '../money.ts';

export type BillingModel = (typeof BILLING_MODELS)[number];
export type TierMode = (typeof TIER_MODES)[number];
export type PriceType = (typeof PRICE_TYPES)[number];
export type InvoiceCadence = (typeof INVOICE_CADENCES)[number];
export type PriceUnitType = (typeof PRICE_UNIT_TYPES)[number];
export type PackageRound = (typeof PACKAGE_ROUNDS)[number];

/** The fields of a stored price that rating reads. Amounts are decimal text in the price's currency. */
export interface PriceRecord {
  readonly id: string;
  readonly type: PriceType;
  readonly billing_model: BillingModel;
  readonly currency: string;
  /** Per unit (FLAT_FEE) or per package (PACKAGE); not used with TIERED. */
  readonly amount: string | null;
  readonly tier_mode?: TierMode | null;
  readonly tiers?: readonly TierRecord[] | null;
  readonly transform_quantity?: TransformQuantity | null;
  readonly min_quantity?: string | null;
  /** Bucket size of the price. Null means the bucket size of the meter. */
  readonly bucket_size?: BucketSize | null;
}

export interface TierRecord {
  /** Last quantity of the tier. Null means no upper bound (last tier only). */
  readonly up_to?: number | string | null;
  readonly unit_amount: string;
  readonly flat_amount?: string | null;
}

export interface TransformQuantity {
  readonly divide_by: number;
  /** `up` when absent. */
  readonly round?: PackageRound | null;
}

/** How a quantity is rated, with parsed Decimals. */
export type ChargeModel =
  | { readonly kind: 'FLAT_FEE'; readonly unitAmount: Decimal }
  | {
      readonly kind: 'PACKAGE';
      readonly packageAmount: Decimal;
      readonly divideBy: Decimal;
      readonly round: PackageRound;
    }
  | {
      readonly kind: 'TIERED';
      readonly mode: TierMode;
      /** Ascending; `upTo` is inclusive; the last tier is open. */
      readonly tiers: readonly Tier[];
    };

export interface Tier {
  readonly upTo: Decimal | null;
  readonly unitAmount: Decimal;
  readonly flatAmount: Decimal;
}

/** A price with parsed numbers. Rating many lines or windows does not parse again. */
export interface PriceTerms {
  readonly id: string;
  readonly type: PriceType;
  readonly currency: string;
  readonly model: ChargeModel;
  readonly minQuantity: Decimal | null;
  readonly bucketSize: BucketSize | null;
}

/**
 * Terms of a stored price, parsed once and used for every line of the price. `validatePrice` has checked the
 * record, so an inconsistency here is a bug.
 */
export function priceTerms(price: PriceRecord): PriceTerms {
  return {
    id: price.id,
    type: price.type,
    currency: price.currency,
    model: chargeModel(price),
    minQuantity: decimalOrNull(price.min_quantity),
    bucketSize: price.bucket_size ?? null,
  };
}

/** The charge model of a price (billing 2.2). */
export function chargeModel(
  price: Pick<
    PriceRecord,
    'billing_model' | 'amount' | 'tier_mode' | 'tiers' | 'transform_quantity'
  >,
): ChargeModel {
  switch (price.billing_model) {
    case 'FLAT_FEE':
      return { kind: 'FLAT_FEE', unitAmount: amountOf(price.amount) };
    case 'PACKAGE': {
      const transform = price.transform_quantity;
      assert(transform && transform.divide_by >= 1, 'a package without its size');
      return {
        kind: 'PACKAGE',
        packageAmount: amountOf(price.amount),
        divideBy: new Decimal(transform.divide_by),
        round: transform.round ?? 'up',
      };
    }
    case 'TIERED':
      assert(price.tier_mode, 'tiers without a mode');
      return { kind: 'TIERED', mode: price.tier_mode, tiers: ladder(price.tiers ?? []) };
    default:
      return price.billing_model satisfies never;
  }
}

/**
 * Tiers in ascending order, the last one open. If every tier is bounded, the last one counts as open in both
 * modes: units above it are not free (billing 2.2).
 */
function ladder(records: readonly TierRecord[]): readonly Tier[] {
  const tiers = records
    .map((tier) => ({
      upTo:
        tier.up_to === null || tier.up_to === undefined ? null : new Decimal(String(tier.up_to)),
      unitAmount: decimal(tier.unit_amount),
      flatAmount: decimalOrNull(tier.flat_amount) ?? ZERO,
    }))
    .sort((left, right) => {
      if (left.upTo === null || right.upTo === null) return left.upTo === null ? 1 : -1;
      return left.upTo.comparedTo(right.upTo);
    });
  const last = tiers.at(-1);
  assert(last, 'a price without tiers');
  return [...tiers.slice(0, -1), { ...last, upTo: null }];
}

function amountOf(amount: string | null): Decimal {
  assert(amount !== null, 'a price without amount');
  return decimal(amount);
}

const decimalOrNull = (text: string | null | undefined): Decimal | null =>
  text === null || text === undefined ? null : decimal(text);
