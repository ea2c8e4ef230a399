import { decimal, ZERO, type Decimal } from '../../../domain/money.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import type { SettledRow } from '../records/subscription-change-repository.ts';

/** The customer who was billed most of a service; null if it is on no invoice. */
export const mostBilled = (rows: readonly SettledRow[]): string | null =>
  withMost(
    rows
      .filter(({ kind, invoice_status }) => kind !== 'credit' && invoice_status !== 'VOIDED')
      .map(({ customer_id, amount }) => ({ customer_id, amount: decimal(amount) })),
  );

/** The customer who was billed most of what a change credits; null if it is on no invoice. */
export const creditedCustomer = (
  rows: readonly { readonly billed_to: string | null; readonly rated: Pick<RatedLine, 'amount'> }[],
): string | null =>
  withMost(
    rows.map(({ billed_to, rated }) => ({ customer_id: billed_to, amount: rated.amount.neg() })),
  );

interface Part {
  readonly customer_id: string | null;
  readonly amount: Decimal;
}

/** The customer with the largest sum, the first of equal ones. Amounts of no customer do not count. */
function withMost(parts: readonly Part[]): string | null {
  const sums = new Map<string, Decimal>();
  for (const { customer_id, amount } of parts)
    if (customer_id !== null) sums.set(customer_id, (sums.get(customer_id) ?? ZERO).plus(amount));
  const [first, ...others] = sums;
  if (first === undefined) return null;
  return others.reduce((most, one) => (one[1].gt(most[1]) ? one : most), first)[0];
}
