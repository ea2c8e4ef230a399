import assert from 'node:assert/strict';
import type { ExplanationStepOf, LineStep } from '../../schemas/explanation.ts';
import { decimal, decimalText, sum, type Decimal } from '../money.ts';
import { byText } from '../text-order.ts';
import type { CommitmentInfo } from './commitment.ts';
import type { RatedLine } from './rated-line.ts';

export const LINE_ITEM_GROUPINGS = ['per_charge_period', 'per_billing_period'] as const;
export type LineItemGrouping = (typeof LINE_ITEM_GROUPINGS)[number];

/**
 * The rows of one subscription line item in one billing period: one per charge cell, or one merged row. The
 * merged quantity and amount are the sums of the rounded cells, so the total is the same. Only base rows are
 * merged; the overage and true-up rows of a term stay separate (billing 3.3).
 */
export function groupLines(
  lines: readonly RatedLine[],
  grouping: LineItemGrouping,
): readonly RatedLine[] {
  if (grouping === 'per_charge_period') return lines;
  const base = lines.filter((line) => line.kind === 'base');
  const others = lines.filter((line) => line.kind !== 'base');
  return base.length < 2 ? lines : [mergeLines(base), ...others];
}

/** Merges base rows into one, in the order of time. Its explanation is the sum of the rows. */
export function mergeLines(lines: readonly RatedLine[]): RatedLine {
  const ordered = lines.toSorted((left, right) => byText(left.period.start, right.period.start));
  const first = ordered[0]!;
  const period = { start: first.period.start, end: ordered.at(-1)!.period.end };
  const quantity = sum(ordered.map((line) => line.quantity));
  const amount = sum(ordered.map((line) => line.amount));
  const { currency } = first.explanation;
  assert(
    ordered.every((line) => line.explanation.currency === currency),
    'rows of several currencies',
  );
  return {
    kind: 'base',
    period,
    quantity,
    amount,
    unrounded: sum(ordered.map((line) => line.unrounded)),
    adjusted_entitlement_quantity: sumOrNull(
      ordered.map((line) => line.adjusted_entitlement_quantity),
    ),
    commitment_info: mergeCommitments(ordered.map((line) => line.commitment_info)),
    explanation: {
      kind: 'base',
      currency,
      period,
      quantity: decimalText(quantity),
      amount: decimalText(amount),
      steps: [explainSum(ordered, quantity, amount)],
    },
  };
}

function sumOrNull(values: readonly (Decimal | null)[]): Decimal | null {
  const given = values.filter((value) => value !== null);
  return given.length === 0 ? null : sum(given);
}

/** Terms of the first row, sums of the computed figures. They still sum to the merged amount. */
function mergeCommitments(infos: readonly (CommitmentInfo | null)[]): CommitmentInfo | null {
  const given = infos.filter((info) => info !== null);
  const first = given[0];
  if (first === undefined) return null;
  const total = (field: ComputedField) =>
    decimalText(sum(given.map((info) => decimal(info[field]))));
  return {
    ...first,
    computed_commitment_utilized_amount: total('computed_commitment_utilized_amount'),
    computed_overage_amount: total('computed_overage_amount'),
    computed_true_up_amount: total('computed_true_up_amount'),
  };
}

type ComputedField = Extract<keyof CommitmentInfo, `computed_${string}`>;

function explainSum(
  lines: readonly RatedLine[],
  quantity: Decimal,
  amount: Decimal,
): ExplanationStepOf<'sum'> {
  return {
    step: 'sum',
    rule: 'billing 3.3',
    parts: lines.map((line) => ({
      period: line.period,
      quantity: decimalText(line.quantity),
      amount: decimalText(line.amount),
      steps: line.explanation.steps.filter((step): step is LineStep => step.step !== 'sum'),
    })),
    quantity: decimalText(quantity),
    amount: decimalText(amount),
  };
}
