import assert from 'node:assert/strict';
import type { Explanation, ExplanationStep, ExplanationStepOf } from '../../schemas/explanation.ts';
import { allocate, minorDigits, type Currency } from '../currency.ts';
import { decimal, decimalText, ONE, sum, type Decimal } from '../money.ts';
import {
  applyCommitment,
  explainCommitmentRounding,
  explainOutcome,
  partOf,
  roundCommitment,
  type CommitmentOutcome,
  type CommitmentPart,
} from './commitment.ts';
import { currencyCode } from './explain.ts';
import { isWhole, prorate, type TimeShare } from './proration.ts';
import { type Period } from '../time/instant.ts';
import type { RatedLine } from './rated-line.ts';
import {
  applyTermCommitment,
  explainTermCommitment,
  type TermPosition,
} from './term-commitment.ts';

/** The commitment fields of a subscription, decimals as text. */
export interface SubscriptionCommitmentFields {
  readonly commitment_amount?: string | null;
  readonly overage_factor?: string | null;
  readonly enable_true_up?: boolean | null;
  readonly currency: string;
}

/** A commitment over all usage of a subscription. */
export interface SubscriptionCommitmentTerms {
  readonly amount: Decimal;
  readonly overageFactor: Decimal;
  readonly trueUpEnabled: boolean;
}

/**
 * Null without a commitment. Active from an amount above 0, with any factor including 1 (billing
 * 6.1).
 */
export function subscriptionCommitmentTerms(
  subscription: SubscriptionCommitmentFields,
): SubscriptionCommitmentTerms | null {
  const amount = decimal(subscription.commitment_amount ?? '0');
  if (amount.lte(0)) return null;
  return {
    amount,
    overageFactor: decimal(subscription.overage_factor ?? '1'),
    trueUpEnabled: subscription.enable_true_up ?? false,
  };
}

/** The part of the commitment that applies to the period: all, the share of a stub, or the rest of a term. */
export type SubscriptionCommitmentScope =
  | { readonly scope: 'period'; readonly share: TimeShare | null }
  | { readonly scope: 'term'; readonly position: TermPosition };

export interface CommittedSubscription {
  /**
   * The usage rows in the given order. The amount of each is its share of the usage within the commitment.
   */
  readonly rows: readonly RatedLine[];
  /** Rows of the plan, without a price; null when not above zero (billing 6.3). */
  readonly overage: RatedLine | null;
  readonly trueUp: RatedLine | null;
  /** Usage money before the factor, unrounded: the entry of the period in the ledger of the term (6.4). */
  readonly baseUsage: Decimal;
}

/**
 * Applies the subscription's commitment to the usage rows of one billing period (billing 6.3, 6.4).
 * The unrounded amounts of the rows form a pool. The part within the commitment is allocated to the rows by
 * these amounts. The overage and the true-up are two rows of the plan. Quantities do not change. Without
 * usage rows the pool is 0, and a true-up bills the whole commitment.
 *
 * `rows` are the USAGE rows of kind base; fixed fees do not count (6.1).
 */
export function commitSubscription(
  rows: readonly RatedLine[],
  terms: SubscriptionCommitmentTerms,
  scope: SubscriptionCommitmentScope,
  period: Period,
  currency: Currency,
): CommittedSubscription {
  assert(
    rows.every((row) => row.kind === 'base'),
    'only usage rows are held to a commitment',
  );
  const usage = sum(rows.map((row) => row.unrounded));
  const { outcome, step } = holdTo(usage, terms, scope);
  const parts = roundCommitment(outcome, currency);
  const weights = rows.map((row) => row.unrounded);
  const shares = allocate(parts.utilized, weights, currency);
  const rounding = (bills: CommitmentPart) =>
    explainCommitmentRounding(outcome, parts, bills, currency);

  const pool = (index: number | null): ExplanationStepOf<'pool'> => ({
    step: 'pool',
    rule: 'billing 6.3',
    amounts: weights.map(decimalText),
    index,
    amount: decimalText(usage),
  });

  const planRow = (kind: 'overage' | 'true_up'): RatedLine | null => {
    const amount = partOf(parts, kind);
    if (amount.lte(0)) return null;
    const explanation: Explanation = {
      kind,
      currency: currencyCode(currency),
      period,
      quantity: '1',
      amount: decimalText(amount),
      steps: [pool(null), step, rounding(kind)],
    };
    return {
      kind,
      period,
      quantity: ONE,
      amount,
      unrounded: partOf(outcome, kind),
      adjusted_entitlement_quantity: null,
      commitment_info: null,
      explanation,
    };
  };

  return {
    rows: rows.map((row, index) =>
      withShare(row, shares[index]!, [
        pool(index),
        step,
        rounding('utilized'),
        explainShare(parts.utilized, weights, index, shares[index]!, currency),
      ]),
    ),
    overage: planRow('overage'),
    trueUp: planRow('true_up'),
    baseUsage: usage,
  };
}

function holdTo(
  usage: Decimal,
  terms: SubscriptionCommitmentTerms,
  scope: SubscriptionCommitmentScope,
): { outcome: CommitmentOutcome; step: ExplanationStep } {
  if (scope.scope === 'term') {
    const outcome = applyTermCommitment(usage, terms, scope.position);
    return { outcome, step: explainTermCommitment(outcome, terms, scope.position) };
  }
  const share = scope.share !== null && !isWhole(scope.share) ? scope.share : null;
  const commitment = share === null ? terms.amount : prorate(terms.amount, share);
  const outcome = applyCommitment(usage, commitment, terms.overageFactor, terms.trueUpEnabled);
  return { outcome, step: explainPeriod(terms, outcome, share) };
}

function explainPeriod(
  terms: SubscriptionCommitmentTerms,
  outcome: CommitmentOutcome,
  share: TimeShare | null,
): ExplanationStepOf<'commitment'> {
  return {
    step: 'commitment',
    rule: 'billing 6.3',
    type: 'amount',
    promised: decimalText(terms.amount),
    quantity_rating: null,
    overage_factor: decimalText(terms.overageFactor),
    true_up_enabled: terms.trueUpEnabled,
    share,
    windows: null,
    omitted: null,
    ...explainOutcome(outcome),
  };
}

function explainShare(
  of: Decimal,
  weights: readonly Decimal[],
  index: number,
  amount: Decimal,
  currency: Currency,
): ExplanationStepOf<'share'> {
  return {
    step: 'share',
    rule: 'billing 0.6',
    of: decimalText(of),
    weights: weights.map(decimalText),
    index,
    decimals: minorDigits(currency),
    amount: decimalText(amount),
  };
}

/** The row with its share as the amount. The rounding step of the pool replaces its own. */
function withShare(row: RatedLine, amount: Decimal, steps: readonly ExplanationStep[]): RatedLine {
  const before = row.explanation.steps.filter((step) => step.step !== 'rounding');
  return {
    ...row,
    amount,
    explanation: {
      ...row.explanation,
      amount: decimalText(amount),
      steps: [...before, ...steps],
    },
  };
}
