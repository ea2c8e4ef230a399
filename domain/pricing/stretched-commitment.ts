import { decimalText, ONE, ZERO, type Decimal } from '../money.ts';
import {
  commitmentInfo,
  explainCommitmentRounding,
  partOf,
  roundCommitment,
  type CommitmentPart,
  type CommitmentTerms,
} from './commitment.ts';
import { commitForPeriod, commitmentAsMoney } from './line-commitment.ts';
import { mergeLines } from './line-grouping.ts';
import type { PriceTerms } from './price.ts';
import {
  chargedSlice,
  isWhole,
  timeShare,
  type ChargeCell,
  type ProrationBehavior,
} from './proration.ts';
import type { LineKind, RatedLine } from './rated-line.ts';
import {
  applyTermCommitment,
  explainTermCommitment,
  type TermPosition,
} from './term-commitment.ts';

/**
 * The rows of a charge period that was rated in several stretches, because the lines that share the meter
 * changed within it. One commitment applies to the sum of the unrounded amounts of all stretches
 * (billing 6.2: one computation for each line item). A commitment for a term adds its own rows (6.4).
 *
 * `stretches`: the base rows, rated without the commitment; at least one. `cell`: the whole charge period.
 */
export function commitStretches(
  stretches: readonly RatedLine[],
  terms: CommitmentTerms,
  price: PriceTerms,
  cell: ChargeCell,
  behavior: ProrationBehavior,
  position: TermPosition | null = null,
): readonly RatedLine[] {
  const merged = mergeLines(stretches);
  const pool = {
    step: 'pool' as const,
    rule: 'billing 6.2',
    amounts: stretches.map((row) => decimalText(row.unrounded)),
    index: null,
    amount: decimalText(merged.unrounded),
  };
  const { commitment, outcome, step } =
    position === null
      ? heldForPeriod(stretches, terms, price, cell, behavior)
      : heldForTerm(merged.unrounded, terms, price, position);
  const parts = roundCommitment(outcome, price.currency);
  const row = (kind: LineKind, bills: CommitmentPart): RatedLine => {
    const isBase = kind === 'base';
    const amount = partOf(parts, bills);
    const shown = (part: CommitmentPart) =>
      bills === 'charge' || part === bills ? partOf(parts, part) : ZERO;
    const quantity = isBase ? merged.quantity : ONE;
    return {
      ...merged,
      kind,
      period: cell.service,
      quantity,
      amount,
      unrounded: partOf(outcome, bills),
      adjusted_entitlement_quantity: isBase ? merged.adjusted_entitlement_quantity : null,
      commitment_info: commitmentInfo(terms, commitment, {
        utilized: shown('utilized'),
        overage: shown('overage'),
        trueUp: shown('true_up'),
      }),
      explanation: {
        ...merged.explanation,
        kind,
        period: cell.service,
        quantity: decimalText(quantity),
        amount: decimalText(amount),
        steps: [
          ...merged.explanation.steps,
          pool,
          step,
          explainCommitmentRounding(outcome, parts, bills, price.currency),
        ],
      },
    };
  };
  if (position === null) return [row('base', 'charge')];
  return [
    row('base', 'utilized'),
    ...(parts.overage.gt(0) ? [row('overage', 'overage')] : []),
    ...(parts.trueUp.gt(0) ? [row('true_up', 'true_up')] : []),
  ];
}

function heldForPeriod(
  stretches: readonly RatedLine[],
  terms: CommitmentTerms,
  price: PriceTerms,
  cell: ChargeCell,
  behavior: ProrationBehavior,
) {
  const share = timeShare(chargedSlice(cell, behavior), cell.reference);
  const units = stretches.map((row) => ({ rating: { amount: row.unrounded } }));
  return commitForPeriod(terms, price.model, units, isWhole(share) ? null : share);
}

function heldForTerm(
  usage: Decimal,
  terms: CommitmentTerms,
  price: PriceTerms,
  position: TermPosition,
) {
  const outcome = applyTermCommitment(usage, terms, position);
  return {
    commitment: commitmentAsMoney(terms, price.model).commitment,
    outcome,
    step: explainTermCommitment(outcome, terms, position),
  };
}
