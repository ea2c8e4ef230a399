import type { Ledger } from './ledger.ts';
import type { Invoice } from './records.ts';
import { share } from './taxes.ts';

/** A credited row with its net, or `tax`. */
export interface NoteLine {
  readonly id: string;
  readonly net: number;
  readonly amount: number;
  /** It credits a fee of a plan. */
  readonly isFee: boolean;
}

export type NoteType = 'REFUND' | 'ADJUSTMENT';

/** Paid invoices get a refund, unpaid ones an adjustment; those that are wholly refunded none (money 10.2). */
export function noteTypeOf(ledger: Ledger, invoice: Invoice): NoteType {
  const due = Math.max(invoice.total! - invoice.adjusted, 0);
  return ledger.refunded(invoice) > 0 || ledger.paid(invoice) >= due ? 'REFUND' : 'ADJUSTMENT';
}

/** Exclusive tax that a note on these rows may still credit: in proportion to all that is credited (money 10.6). */
export function taxLeft(invoice: Invoice, lines: readonly NoteLine[]): number {
  if (invoice.net <= 0) return 0;
  const before = [...invoice.credited]
    .filter(([id]) => id !== 'tax')
    .reduce((sum, [, amount]) => sum + amount, 0);
  const credited = lines.reduce((sum, { id, amount }) => sum + (id === 'tax' ? 0 : amount), before);
  return share(invoice.exclusive, credited, invoice.net) - (invoice.credited.get('tax') ?? 0);
}

/** Money goes back to its source from the newest payment on, but offline money has none (money 9.7). */
export function hasSource(ledger: Ledger, invoice: Invoice, amount: number): boolean {
  let left = amount;
  for (const payment of ledger.paymentsOf(invoice).reverse()) {
    const part = Math.min(left, payment.amount - payment.refunded);
    if (part > 0 && payment.kind === 'offline') return false;
    left -= part;
  }
  return true;
}

/**
 * Each row up to its net, a fee up to what changes have left of it, the tax up to its share, all together up to what is
 * open or paid (money 10.5, 10.6).
 */
export function isCreditable(
  ledger: Ledger,
  invoice: Invoice,
  lines: readonly NoteLine[],
  isToSource: boolean,
): boolean {
  const [paid, refunded] = [ledger.paid(invoice), ledger.refunded(invoice)];
  if (refunded > 0 && refunded >= paid) return false;
  const total = lines.reduce((sum, { amount }) => sum + amount, 0);
  const capacity =
    noteTypeOf(ledger, invoice) === 'REFUND'
      ? paid - refunded
      : invoice.total! - invoice.adjusted - paid;
  const fees = lines.reduce((sum, { isFee, amount }) => sum + (isFee ? amount : 0), 0);
  const left = ledger.advances.left(invoice);
  return (
    total <= capacity &&
    (left === null || fees <= left) &&
    (!isToSource || hasSource(ledger, invoice, total)) &&
    lines.every(({ id, net, amount }) =>
      id === 'tax'
        ? amount <= taxLeft(invoice, lines)
        : amount <= net - (invoice.credited.get(id) ?? 0),
    )
  );
}
