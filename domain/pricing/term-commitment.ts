import assert from 'node:assert/strict';
import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { decimalText, Decimal, ZERO } from '../money.ts';
import { explainOutcome, type CommitmentOutcome, type CommitmentTerms } from './commitment.ts';
import type { Period } from '../time/instant.ts';

/** Position of a billing period in a commitment term of several periods. */
export interface TermPosition {
  readonly term: Period;
  /**
   * The term's commitment as money; the caller scales it when the term ends early (billing 6.4).
   */
  readonly commitment: Decimal;
  /** Base usage money, before the factor, of earlier periods of the same term. */
  readonly priorUsage: Decimal;
  /** Whether no later period starts in the term. */
  readonly lastPeriod: boolean;
}

type TermRates = Pick<CommitmentTerms, 'overageFactor' | 'trueUpEnabled'>;

/**
 * One period of a cumulative commitment (billing 6.4). The rest of the commitment covers usage at
 * its own price. Usage above it is multiplied by the overage factor. The last period of the term pays the
 * unused commitment if true-up is on. The periods of a term sum to C + (U − C) × f if U ≥ C, and with true-up
 * to C if U < C.
 */
export function applyTermCommitment(
  usage: Decimal,
  { overageFactor, trueUpEnabled }: TermRates,
  { commitment, priorUsage, lastPeriod }: TermPosition,
): CommitmentOutcome {
  assert(usage.gte(0) && priorUsage.gte(0) && commitment.gte(0), 'negative usage or commitment');
  assert(overageFactor.gte(1), 'an overage factor below 1');
  const left = Decimal.max(commitment.minus(priorUsage), ZERO);
  const utilized = Decimal.min(usage, left);
  const overage = usage.minus(utilized).times(overageFactor);
  const trueUp = trueUpEnabled && lastPeriod ? left.minus(utilized) : ZERO;
  const charge = utilized.plus(overage).plus(trueUp);
  return { usage, commitment, utilized, overage, trueUp, charge };
}

export function explainTermCommitment(
  outcome: CommitmentOutcome,
  { overageFactor, trueUpEnabled }: TermRates,
  position: TermPosition,
): ExplanationStepOf<'term_commitment'> {
  return {
    step: 'term_commitment',
    rule: 'billing 6.4',
    term: position.term,
    prior_usage: decimalText(position.priorUsage),
    overage_factor: decimalText(overageFactor),
    true_up_enabled: trueUpEnabled,
    last_period_of_term: position.lastPeriod,
    ...explainOutcome(outcome),
  };
}
