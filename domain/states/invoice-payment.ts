import { move, targetMachine } from './state-machine.ts';
import { PAYMENT_STATUSES } from '../../schemas/words.ts';
import type { PaymentStatus } from './payment-status.ts';

/**
 * Billing-semantics 19.4: the payment statuses of an invoice that a caller may set manually. The status is
 * derived from rows (`deriveInvoicePayment`). A manual update is checked against this table, records a
 * payment row and derives the status again (money 8.4.4).
 */
export const invoicePaymentMachine = targetMachine<PaymentStatus>({
  noun: 'invoice payment',
  field: 'payment_status',
  states: PAYMENT_STATUSES,
  initial: ['PENDING'],
  targets: {
    PENDING: ['INITIATED', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED', 'VOIDED'],
    FAILED: ['PENDING', 'INITIATED', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'VOIDED'],
    INITIATED: ['PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED'],
    PROCESSING: ['SUCCEEDED', 'OVERPAID', 'FAILED', 'PENDING'],
    SUCCEEDED: ['OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'],
    OVERPAID: ['PARTIALLY_REFUNDED', 'REFUNDED', 'SUCCEEDED'],
    PARTIALLY_REFUNDED: ['REFUNDED'],
    REFUNDED: [],
    VOIDED: [],
  },
});

/** The status after a move to `to`; refuses with `validation_error` naming the allowed targets. */
export const moveInvoicePayment = (from: PaymentStatus | null, to: PaymentStatus): PaymentStatus =>
  move(invoicePaymentMachine, from, to);
