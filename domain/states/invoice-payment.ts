import { move, targetMachine } from './state-machine.ts';
import { PAYMENT_STATUSES } from '../../schemas/words.ts';
import type { PaymentStatus } from './payment-status.ts';

/**
 * Billing-semantics 19.4: which payment statuses of an invoice a caller may set by hand. The status
 * itself is derived from rows (`deriveInvoicePayment`); a manual update is checked against this
 * table, records a payment row and derives again (money 8.4.4).
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
