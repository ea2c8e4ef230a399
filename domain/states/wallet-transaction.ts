import { TRANSACTION_STATUSES } from '../../schemas/words.ts';
import { move, type StateMachine } from './state-machine.ts';

export type TransactionStatus = (typeof TRANSACTION_STATUSES)[number];

export const TRANSACTION_TRIGGERS = ['record', 'request', 'complete', 'fail', 'reverse'] as const;
export type TransactionTrigger = (typeof TRANSACTION_TRIGGERS)[number];

/**
 * Money-semantics 21.2. `record`: a direct credit or any debit; `request`: a purchase that waits for its
 * invoice. Completing twice is a no-op (2.11.6). A reversal is a separate row. A failed row is final: a late
 * payment is refunded.
 */
export const transactionMachine: StateMachine<TransactionStatus, TransactionTrigger> = {
  noun: 'wallet transaction',
  field: 'transaction_status',
  refusal: 'invalid_operation',
  states: TRANSACTION_STATUSES,
  triggers: TRANSACTION_TRIGGERS,
  initial: { record: 'completed', request: 'pending' },
  moves: {
    pending: { complete: 'completed', fail: 'failed' },
    completed: { complete: 'completed', reverse: 'completed' },
    failed: { fail: 'failed' },
  },
};

/** The status after `trigger`; refuses with `invalid_operation`. */
export const moveTransaction = (
  from: TransactionStatus | null,
  trigger: TransactionTrigger,
): TransactionStatus => move(transactionMachine, from, trigger);
