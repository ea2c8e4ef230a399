import type {
  ExplainedModel,
  ExplainedRating,
  ExplainedTier,
  ExplanationStepOf,
} from '../../schemas/explanation.ts';
import { minorDigits, roundToCurrency, type Currency } from '../currency.ts';
import { decimalText, type Decimal } from '../money.ts';
import type { ChargeModel, PriceTerms } from './price.ts';
import type { Rating, TierShare } from './rate.ts';

/** Maximum length of a list in an explanation. The entries beyond it are totalled in `omitted`. */
export const MAX_EXPLAINED_ENTRIES = 100;

export function explainModel(model: ChargeModel): ExplainedModel {
  switch (model.kind) {
    case 'FLAT_FEE':
      return { billing_model: 'FLAT_FEE', unit_amount: decimalText(model.unitAmount) };
    case 'PACKAGE':
      return {
        billing_model: 'PACKAGE',
        package_amount: decimalText(model.packageAmount),
        divide_by: decimalText(model.divideBy),
        round: model.round,
      };
    case 'TIERED':
      return {
        billing_model: 'TIERED',
        tier_mode: model.mode,
        tiers: model.tiers.map((tier) => ({
          up_to: textOrNull(tier.upTo),
          unit_amount: decimalText(tier.unitAmount),
          flat_amount: decimalText(tier.flatAmount),
        })),
      };
    default:
      return model satisfies never;
  }
}

export function explainRating(
  rating: Rating,
  windowStart: string | null = null,
  group: readonly string[] = [],
): ExplainedRating {
  return {
    window_start: windowStart,
    group: [...group],
    quantity: decimalText(rating.quantity),
    packages: textOrNull(rating.packages),
    tiers: rating.tiers === null ? null : rating.tiers.map(explainTier),
    amount: decimalText(rating.amount),
  };
}

function explainTier(share: TierShare): ExplainedTier {
  return {
    tier: share.index + 1,
    above: decimalText(share.above),
    up_to: textOrNull(share.upTo),
    quantity: decimalText(share.quantity),
    unit_amount: decimalText(share.unitAmount),
    flat_amount: decimalText(share.flatAmount),
    amount: decimalText(share.amount),
  };
}

/** The quantity of a fixed line (billing 2.3). */
export function explainQuantity(
  { minQuantity }: Pick<PriceTerms, 'minQuantity'>,
  quantity: Decimal,
): ExplanationStepOf<'quantity'> {
  return {
    step: 'quantity',
    rule: 'billing 2.3',
    quantity: decimalText(quantity),
    min_quantity: textOrNull(minQuantity),
  };
}

/** One quantity rated alone (billing 2.2). */
export function explainRate(model: ChargeModel, rating: Rating): ExplanationStepOf<'rate'> {
  return {
    step: 'rate',
    rule: 'billing 2.2',
    model: explainModel(model),
    ratings: [explainRating(rating)],
    omitted: null,
    quantity: decimalText(rating.quantity),
    amount: decimalText(rating.amount),
  };
}

export interface Rounded {
  readonly amount: Decimal;
  readonly step: ExplanationStepOf<'rounding'>;
}

/** The single rounding of a line, with its explanation step (billing 0.2, 0.3). */
export function roundLine(unrounded: Decimal, currency: Currency): Rounded {
  const amount = roundToCurrency(unrounded, currency);
  return { amount, step: explainRounding(unrounded, amount, currency) };
}

export function explainRounding(
  unrounded: Decimal,
  amount: Decimal,
  currency: Currency,
): ExplanationStepOf<'rounding'> {
  return {
    step: 'rounding',
    rule: 'billing 0.2',
    unrounded: decimalText(unrounded),
    currency: currencyCode(currency),
    decimals: minorDigits(currency),
    parts: null,
    bills: 'charge',
    amount: decimalText(amount),
  };
}

export const currencyCode = (currency: Currency): string =>
  typeof currency === 'string' ? currency : currency.code;

export const textOrNull = (value: Decimal | null): string | null =>
  value === null ? null : decimalText(value);
