import { decimalText } from '../money.ts';
import {
  commitmentInfo,
  explainCommitmentRounding,
  roundCommitment,
  type CommitmentTerms,
} from './commitment.ts';
import { commitForPeriod } from './line-commitment.ts';
import { mergeLines } from './line-grouping.ts';
import type { PriceTerms } from './price.ts';
import {
  chargedSlice,
  isWhole,
  timeShare,
  type ChargeCell,
  type ProrationBehavior,
} from './proration.ts';
import type { RatedLine } from './rated-line.ts';

/**
 * One row for a charge period that was rated in several stretches, because the lines that share the meter
 * changed within it. One commitment applies to the sum of the unrounded amounts of all stretches
 * (billing 6.2: one computation for each line item).
 *
 * `stretches`: the base rows, rated without the commitment; at least one. `cell`: the whole charge period.
 */
export function commitStretches(
  stretches: readonly RatedLine[],
  terms: CommitmentTerms,
  price: PriceTerms,
  cell: ChargeCell,
  behavior: ProrationBehavior,
): RatedLine {
  const { currency } = price;
  const merged = mergeLines(stretches);
  const share = timeShare(chargedSlice(cell, behavior), cell.reference);
  const units = stretches.map((row) => ({ rating: { amount: row.unrounded } }));
  const { commitment, outcome, step } = commitForPeriod(
    terms,
    price.model,
    units,
    isWhole(share) ? null : share,
  );
  const parts = roundCommitment(outcome, currency);
  const pool = {
    step: 'pool' as const,
    rule: 'billing 6.2',
    amounts: stretches.map((row) => decimalText(row.unrounded)),
    index: null,
    amount: decimalText(merged.unrounded),
  };
  return {
    ...merged,
    period: cell.service,
    amount: parts.charge,
    unrounded: outcome.charge,
    commitment_info: commitmentInfo(terms, commitment, parts),
    explanation: {
      ...merged.explanation,
      period: cell.service,
      amount: decimalText(parts.charge),
      steps: [
        ...merged.explanation.steps,
        pool,
        step,
        explainCommitmentRounding(outcome, parts, 'charge', currency),
      ],
    },
  };
}
