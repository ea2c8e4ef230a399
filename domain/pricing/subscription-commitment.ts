import assert from 'node:assert/strict';
import type { ExplanationStep, ExplanationStepOf } from '../../schemas/explanation.ts';
import { allocate, minorDigits, type Currency } from '../currency.ts';
import { decimal, decimalText, ONE, sum, type Decimal } from '../money.ts';
import {
  applyCommitment,
  explainCommitmentRounding,
  explainOutcome,
  roundCommitment,
  type CommitmentOutcome,
  type CommitmentPart,
  type RoundedCommitment,
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
  /** One for each given row, in the same order. */
  readonly rows: readonly CommittedRow[];
  /** The row of the plan, without a price; null when not above zero (billing 6.3). */
  readonly trueUp: RatedLine | null;
  /** The parts of the charge, rounded. */
  readonly parts: RoundedCommitment;
  /** Usage money before the factor, unrounded: the entry of the period in the ledger of the term (6.4). */
  readonly baseUsage: Decimal;
}

/** A usage row, divided by the commitment. */
export interface CommittedRow {
  /** Its share of the usage within the commitment. */
  readonly within: RatedLine;
  /** Its share of the overage; null when the subscription has none. */
  readonly overage: RatedLine | null;
}

/**
 * Applies the subscription's commitment to the usage rows of one billing period (billing 6.3, 6.4).
 * The unrounded amounts of the rows form a pool. The part within the commitment and the overage are
 * allocated to the rows by these amounts, and the units of each row in the same proportion. The true-up is a
 * row of the plan. Without usage rows the pool is 0, and a true-up bills the whole commitment.
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
  const rounding = (bills: CommitmentPart) =>
    explainCommitmentRounding(outcome, parts, bills, currency);

  const pool = (index: number | null): ExplanationStepOf<'pool'> => ({
    step: 'pool',
    rule: 'billing 6.3',
    amounts: weights.map(decimalText),
    index,
    amount: decimalText(usage),
  });

  /** The rows' shares of one part of the charge. */
  const shared = (kind: 'base' | 'overage', part: 'utilized' | 'overage'): RatedLine[] => {
    const amounts = allocate(parts[part], weights, currency);
    return rows.map((row, index) =>
      withShare(row, kind, amounts[index]!, [
        pool(index),
        step,
        rounding(part),
        explainShare(parts[part], weights, index, amounts[index]!, currency),
      ]),
    );
  };
  const within = shared('base', 'utilized');
  const beyond = parts.overage.gt(0) ? shared('overage', 'overage') : null;

  return {
    rows: rows.map((row, index): CommittedRow => {
      const overage = beyond?.[index];
      if (overage === undefined || row.unrounded.isZero())
        return { within: within[index]!, overage: null };
      const units = unitsWithin(row.quantity, outcome);
      return {
        within: ofUnits(within[index]!, units),
        overage: {
          ...ofUnits(overage, row.quantity.minus(units)),
          adjusted_entitlement_quantity: null,
        },
      };
    }),
    trueUp: parts.trueUp.gt(0)
      ? planRow(parts.trueUp, outcome, period, currency, [pool(null), step, rounding('true_up')])
      : null,
    parts,
    baseUsage: usage,
  };
}

/** The part of a row's units that is within the commitment: in proportion to the money of the pool. */
const unitsWithin = (quantity: Decimal, { usage, utilized }: CommitmentOutcome): Decimal =>
  quantity.times(utilized).div(usage).toDecimalPlaces(QUANTITY_DECIMALS);

/** Decimals of a quantity that is a share. */
const QUANTITY_DECIMALS = 15;

const ofUnits = (row: RatedLine, quantity: Decimal): RatedLine => ({
  ...row,
  quantity,
  explanation: { ...row.explanation, quantity: decimalText(quantity) },
});

function planRow(
  amount: Decimal,
  outcome: CommitmentOutcome,
  period: Period,
  currency: Currency,
  steps: ExplanationStep[],
): RatedLine {
  return {
    kind: 'true_up',
    period,
    quantity: ONE,
    amount,
    unrounded: outcome.trueUp,
    adjusted_entitlement_quantity: null,
    commitment_info: null,
    explanation: {
      kind: 'true_up',
      currency: currencyCode(currency),
      period,
      quantity: '1',
      amount: decimalText(amount),
      steps,
    },
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
function withShare(
  row: RatedLine,
  kind: 'base' | 'overage',
  amount: Decimal,
  steps: readonly ExplanationStep[],
): RatedLine {
  const before = row.explanation.steps.filter((step) => step.step !== 'rounding');
  return {
    ...row,
    kind,
    amount,
    explanation: {
      ...row.explanation,
      kind,
      amount: decimalText(amount),
      steps: [...before, ...steps],
    },
  };
}
