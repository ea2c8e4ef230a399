import { canMove, move, targetMachine } from './state-machine.ts';
import { PAYMENT_STATUSES } from '../../schemas/words.ts';
import type { PaymentStatus } from './payment-status.ts';

/** Money-semantics 21.3: the status of a payment record. FAILED, REFUNDED and VOIDED are final. */
export const paymentMachine = targetMachine<PaymentStatus>({
  noun: 'payment',
  field: 'payment_status',
  states: PAYMENT_STATUSES,
  initial: ['INITIATED', 'PENDING'],
  targets: {
    INITIATED: ['PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED', 'VOIDED'],
    PENDING: ['PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED', 'VOIDED'],
    PROCESSING: ['INITIATED', 'PENDING', 'SUCCEEDED', 'OVERPAID', 'FAILED'],
    SUCCEEDED: ['OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED', 'VOIDED'],
    OVERPAID: ['PARTIALLY_REFUNDED', 'REFUNDED'],
    PARTIALLY_REFUNDED: ['REFUNDED'],
    FAILED: [],
    REFUNDED: [],
    VOIDED: [],
  },
});

/** The status after a move to `to`; refuses with `validation_error` naming the allowed targets. */
export const movePayment = (from: PaymentStatus | null, to: PaymentStatus): PaymentStatus =>
  move(paymentMachine, from, to);

export const canMovePayment = (from: PaymentStatus, to: PaymentStatus): boolean =>
  canMove(paymentMachine, from, to);
