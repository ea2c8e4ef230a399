import { CHECKOUT_STATUSES } from '../../schemas/words.ts';
import { move, type StateMachine } from './state-machine.ts';

export type CheckoutStatus = (typeof CHECKOUT_STATUSES)[number];

export const CHECKOUT_TRIGGERS = [
  'create', 'offer_payment', 'fail', 'complete', 'expire', 'cancel', 'receive_late_money',
] as const; // prettier-ignore
export type CheckoutTrigger = (typeof CHECKOUT_TRIGGERS)[number];

/**
 * Money-semantics 21.6. Cancelling sets the session to expired. Cancelling a failed or expired session
 * changes nothing; cancelling a completed one is refused. If an expiry and a cancel race, the second finds
 * the session expired. A late payment is recorded and refunded.
 */
export const checkoutMachine: StateMachine<CheckoutStatus, CheckoutTrigger> = {
  noun: 'checkout session',
  field: 'checkout_status',
  refusal: 'invalid_operation',
  states: CHECKOUT_STATUSES,
  triggers: CHECKOUT_TRIGGERS,
  initial: { create: 'initiated' },
  moves: {
    initiated: {
      offer_payment: 'pending',
      fail: 'failed',
      complete: 'completed',
      expire: 'expired',
      cancel: 'expired',
    },
    pending: { fail: 'failed', complete: 'completed', expire: 'expired', cancel: 'expired' },
    completed: {},
    failed: { cancel: 'failed', receive_late_money: 'failed' },
    expired: { cancel: 'expired', receive_late_money: 'expired' },
  },
};

/** The status after `trigger`; refuses with `invalid_operation`. */
export const moveCheckout = (
  from: CheckoutStatus | null,
  trigger: CheckoutTrigger,
): CheckoutStatus => move(checkoutMachine, from, trigger);

/** Only late payments are accepted in these statuses (interface: `terminal`). */
export const isTerminalCheckout = (status: CheckoutStatus): boolean =>
  status === 'completed' || status === 'failed' || status === 'expired';
