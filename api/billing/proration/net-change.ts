import { type Decimal, decimalText } from '../../../domain/money.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import type { LineStep } from '../../../schemas/explanation.ts';
import type { ChangedRow } from './change-rows.ts';

/** The credit and the charge of one swap as one row: its quantity and amount are the differences. */
export function netted(rated: readonly ChangedRow[]): ChangedRow[] {
  const rows: ChangedRow[] = [];
  const bySwap = new Map<number, number[]>();
  for (const row of rated) {
    const ofSwap = bySwap.get(row.swap) ?? [];
    const index = ofSwap.find((each) => isOther(rows[each]!, row));
    if (index === undefined) {
      bySwap.set(row.swap, [...ofSwap, rows.length]);
      rows.push(row);
      continue;
    }
    const { rated: credit } = rows[index]!;
    rows[index] = { ...row, billed: null, billed_to: null, rated: mergedRow(credit, row.rated) };
  }
  return rows;
}

const isOther = (credit: ChangedRow, charge: ChangedRow): boolean =>
  credit.rated.kind === 'credit' &&
  charge.rated.kind === 'base' &&
  credit.line.price_id === charge.line.price_id &&
  credit.rated.period.start === charge.rated.period.start &&
  credit.rated.period.end === charge.rated.period.end;

function mergedRow(credit: RatedLine, charge: RatedLine): RatedLine {
  const quantity = charge.quantity.minus(credit.quantity);
  const amount = charge.amount.plus(credit.amount);
  return {
    ...charge,
    quantity,
    amount,
    unrounded: charge.unrounded.plus(credit.unrounded),
    explanation: {
      ...charge.explanation,
      quantity: decimalText(quantity),
      amount: decimalText(amount),
      steps: [
        {
          step: 'sum',
          rule: 'billing 5.3',
          parts: [partOf(credit, credit.quantity.neg()), partOf(charge, charge.quantity)],
          quantity: decimalText(quantity),
          amount: decimalText(amount),
        },
      ],
    },
  };
}

const partOf = ({ period, amount, explanation }: RatedLine, quantity: Decimal) => ({
  period,
  quantity: decimalText(quantity),
  amount: decimalText(amount),
  steps: explanation.steps.filter((step): step is LineStep => step.step !== 'sum'),
});
