import { Decimal, decimal, decimalText } from '../money.ts';
import type { Consumption } from './transaction.ts';

/**
 * The part of a debit that a refund returns, block by block: the credits taken last return first. `returned`
 * credits of the debit have come back before. Never more than the debit took (money 9.7).
 */
export function partOfDebit(
  breakdown: readonly Consumption[],
  returned: Decimal,
  credits: Decimal,
): Consumption[] {
  let skip = returned;
  let left = credits;
  const parts: Consumption[] = [];
  for (const { credit_transaction_id, credits: taken } of breakdown.toReversed()) {
    const skipped = Decimal.min(skip, decimal(taken));
    skip = skip.minus(skipped);
    const part = Decimal.min(left, decimal(taken).minus(skipped));
    if (part.lte(0)) continue;
    parts.push({ credit_transaction_id, credits: decimalText(part) });
    left = left.minus(part);
  }
  return parts;
}
