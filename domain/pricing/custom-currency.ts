import assert from 'node:assert/strict';
import type { ExplanationStepOf } from '../../schemas/explanation.ts';
import { minorDigits, roundToCurrency, type Currency } from '../currency.ts';
import { decimal, decimalText, Decimal, roundToStorage } from '../money.ts';
import type { CommitmentInfo } from './commitment.ts';
import { currencyCode } from './explain.ts';
import type { RatedLine } from './rated-line.ts';

/** A row in the currency of its invoice, and its amount in the custom currency. Both are stored. */
export interface ConvertedLine {
  readonly line: RatedLine;
  readonly custom_amount: Decimal;
}

/**
 * Converts a row from a custom currency to the currency of the invoice: rounded amount × factor, rounded per
 * row. The subtotal is the sum of the converted rows (billing 2.6, money 12.5). A draft
 * uses the current factor; finalization freezes it. The caller passes the factor that applies.
 */
export function convertLine(
  line: RatedLine,
  from: Currency,
  factor: string,
  to: Currency,
): ConvertedLine {
  const rate = decimal(factor);
  assert(rate.gt(0), 'a conversion factor of 0 or less');
  const unrounded = line.amount.times(rate);
  const amount = roundToCurrency(unrounded, to);
  const step: ExplanationStepOf<'conversion'> = {
    step: 'conversion',
    rule: 'money 12.5',
    from_currency: currencyCode(from),
    from_amount: decimalText(line.amount),
    factor: decimalText(rate),
    to_currency: currencyCode(to),
    unrounded: decimalText(unrounded),
    decimals: minorDigits(to),
    amount: decimalText(amount),
  };
  const { explanation, commitment_info } = line;
  return {
    custom_amount: line.amount,
    line: {
      ...line,
      amount,
      unrounded,
      commitment_info:
        commitment_info === null ? null : convertInfo(commitment_info, amount, rate, to),
      explanation: {
        ...explanation,
        currency: currencyCode(to),
        amount: decimalText(amount),
        steps: [...explanation.steps, step],
      },
    },
  };
}

/** Rounds the parts as in every committed row: they still sum to its amount (billing 6.1). */
function convertInfo(
  info: CommitmentInfo,
  amount: Decimal,
  rate: Decimal,
  to: Currency,
): CommitmentInfo {
  const converted = (text: string) => roundToCurrency(decimal(text).times(rate), to);
  const overage = converted(info.computed_overage_amount);
  const trueUp = Decimal.min(converted(info.computed_true_up_amount), amount.minus(overage));
  return {
    ...info,
    amount: decimalText(roundToStorage(decimal(info.amount).times(rate))),
    computed_commitment_utilized_amount: decimalText(amount.minus(overage).minus(trueUp)),
    computed_overage_amount: decimalText(overage),
    computed_true_up_amount: decimalText(trueUp),
  };
}
