import assert from 'node:assert/strict';
import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { decimalText, Decimal, ZERO } from '../money.ts';
import type { CommitmentTerms } from './commitment.ts';
import type { Period } from './proration.ts';

/** Where a billing period stands in a commitment term of several periods. */
export interface TermPosition {
  readonly term: Period;
  /** The term's commitment as money; scaled by the caller when the term ends early (billing-semantics 6.4). */
  readonly commitment: Decimal;
  /** Base usage money, before the factor, of earlier periods of the same term. */
  readonly priorUsage: Decimal;
  /** Whether no later period starts in the term. */
  readonly lastPeriod: boolean;
}

export interface TermOutcome {
  readonly usage: Decimal;
  readonly within: Decimal;
  readonly overage: Decimal;
  readonly trueUp: Decimal;
}

/**
 * One period of a cumulative commitment: what is left of it covers usage at its own price, the rest
 * costs the factor, and the term's last period pays what was never used (billing-semantics 6.4). The
 * periods of a term sum to C + (U − C) × f from C on, and with true-up to C below it.
 */
export function applyTermCommitment(
  usage: Decimal,
  terms: Pick<CommitmentTerms, 'overageFactor' | 'trueUpEnabled'>,
  { commitment, priorUsage, lastPeriod }: TermPosition,
): TermOutcome {
  assert(usage.gte(0) && priorUsage.gte(0), 'negative usage');
  const left = Decimal.max(commitment.minus(priorUsage), ZERO);
  const within = Decimal.min(usage, left);
  return {
    usage,
    within,
    overage: usage.minus(within).times(terms.overageFactor),
    trueUp: terms.trueUpEnabled && lastPeriod ? left.minus(within) : ZERO,
  };
}

export function explainTermCommitment(
  outcome: TermOutcome,
  terms: Pick<CommitmentTerms, 'overageFactor' | 'trueUpEnabled'>,
  position: TermPosition,
  bills: ExplanationStepOf<'term_commitment'>['bills'],
): ExplanationStepOf<'term_commitment'> {
  const amount = { within: outcome.within, overage: outcome.overage, true_up: outcome.trueUp };
  return {
    step: 'term_commitment',
    rule: 'billing-semantics 6.4',
    term: position.term,
    commitment: decimalText(position.commitment),
    prior_usage: decimalText(position.priorUsage),
    usage: decimalText(outcome.usage),
    within: decimalText(outcome.within),
    overage_factor: decimalText(terms.overageFactor),
    overage: decimalText(outcome.overage),
    last_period_of_term: position.lastPeriod,
    true_up_enabled: terms.trueUpEnabled,
    true_up: decimalText(outcome.trueUp),
    bills,
    amount: decimalText(amount[bills]),
  };
}
