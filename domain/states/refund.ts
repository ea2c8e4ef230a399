import { REFUND_STATUSES } from '../../schemas/words.ts';
import { move, type StateMachine } from './state-machine.ts';

export type RefundStatus = (typeof REFUND_STATUSES)[number];

export const REFUND_TRIGGERS = [
  'create',
  'record',
  'accept',
  'succeed',
  'fail',
  'cancel',
  'retry',
] as const;
export type RefundTrigger = (typeof REFUND_TRIGGERS)[number];

/**
 * Money-semantics 21.4. `record`: the refund was made at the gateway (9.8). A refund to a wallet also moves by
 * `succeed`, in its own transaction. A second gateway delivery for a settled refund is ignored, and so is every
 * delivery after a success. `cancel`: the refund was cancelled at the gateway; only the gateway knows whether
 * the refund had begun. A retry creates a new row and the failed row stays. The row stores whether it was
 * retried.
 */
export const refundMachine: StateMachine<RefundStatus, RefundTrigger> = {
  noun: 'refund',
  field: 'refund_status',
  refusal: 'invalid_operation',
  states: REFUND_STATUSES,
  triggers: REFUND_TRIGGERS,
  initial: { create: 'PENDING', record: 'SUCCEEDED' },
  moves: {
    PENDING: { accept: 'PROCESSING', succeed: 'SUCCEEDED', fail: 'FAILED', cancel: 'CANCELLED' },
    PROCESSING: {
      accept: 'PROCESSING',
      succeed: 'SUCCEEDED',
      fail: 'FAILED',
      cancel: 'CANCELLED',
    },
    SUCCEEDED: {
      accept: 'SUCCEEDED',
      succeed: 'SUCCEEDED',
      fail: 'SUCCEEDED',
      cancel: 'SUCCEEDED',
    },
    FAILED: { fail: 'FAILED', cancel: 'FAILED', retry: 'FAILED' },
    CANCELLED: {
      accept: 'CANCELLED',
      succeed: 'CANCELLED',
      fail: 'CANCELLED',
      cancel: 'CANCELLED',
    },
  },
};

/** The status after `trigger`; refuses with `invalid_operation`. */
export const moveRefund = (from: RefundStatus | null, trigger: RefundTrigger): RefundStatus =>
  move(refundMachine, from, trigger);
