import { isZero } from '../app/billing/amounts.ts';
import { Badge } from '../ui/badge.tsx';
import type { Invoice } from './queries.ts';

/** The state of an invoice in words for the customer who pays it. */
export function InvoiceState({ invoice }: { readonly invoice: Invoice }) {
  const { invoice_status, payment_status, amount_remaining, due_date } = invoice;
  if (invoice_status === 'VOIDED') return <Badge>Voided</Badge>;
  if (isZero(amount_remaining)) return <Badge tone="positive">Paid</Badge>;
  if (payment_status === 'PROCESSING') return <Badge tone="info">Payment processing</Badge>;
  if (payment_status === 'FAILED') return <Badge tone="negative">Payment failed</Badge>;
  const isOverdue = due_date !== null && Date.parse(due_date) < Date.now();
  return isOverdue ? <Badge tone="negative">Overdue</Badge> : <Badge tone="warning">Due</Badge>;
}
