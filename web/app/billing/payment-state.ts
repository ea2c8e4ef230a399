import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import type {
  INVOICE_PAYMENT_STATUSES,
  INVOICE_STATUSES,
} from '../../../schemas/invoice-requests.ts';
import { isZero } from './zero.ts';

/** What the state depends on. */
export interface PayableInvoice {
  readonly invoice_status: (typeof INVOICE_STATUSES)[number];
  readonly payment_status: (typeof INVOICE_PAYMENT_STATUSES)[number];
  readonly amount_remaining: string;
  readonly amount_paid: string;
  readonly due_date: string | null;
}

export type OwedInvoice = Pick<PayableInvoice, 'invoice_status'> & {
  /** Absent for a preview. */
  readonly source_type?: string | null | undefined;
};

/** The tone of a badge. */
type Tone = 'neutral' | 'positive' | 'negative' | 'warning' | 'info';

/**
 * A draft is not issued yet; the API keeps the amounts of a voided invoice as they were. Nothing of them is owed. A
 * draft that is issued when its payment page is paid is owed before: the page asks for the amount.
 */
export const isOwed = ({ invoice_status, source_type }: OwedInvoice): boolean =>
  invoice_status === 'FINALIZED' || isGated({ invoice_status, source_type: source_type ?? null });

/** How far an invoice is paid, in the words of people who pay and collect; null before it is issued. */
export function paymentStateOf(
  invoice: PayableInvoice,
  nowMs: number,
): readonly [string, Tone] | null {
  const { invoice_status, payment_status, amount_remaining, amount_paid, due_date } = invoice;
  if (invoice_status === 'VOIDED') return ['Voided', 'neutral'];
  if (invoice_status !== 'FINALIZED') return null;
  if (isZero(amount_remaining)) return SETTLED[payment_status] ?? ['Paid', 'positive'];
  if (payment_status === 'PROCESSING') return ['Payment processing', 'info'];
  const isOverdue = due_date !== null && Date.parse(due_date) < nowMs;
  if (payment_status === 'FAILED')
    return [isOverdue ? 'Overdue, payment failed' : 'Payment failed', 'negative'];
  if (isOverdue) return ['Overdue', 'negative'];
  return isZero(amount_paid) ? ['Due', 'warning'] : ['Partially paid', 'warning'];
}

/** What became of the money of an invoice on which nothing is open. */
const SETTLED: Readonly<
  Partial<Record<PayableInvoice['payment_status'], readonly [string, Tone]>>
> = {
  OVERPAID: ['Overpaid', 'positive'],
  REFUNDED: ['Refunded', 'neutral'],
  PARTIALLY_REFUNDED: ['Partially refunded', 'neutral'],
};
