import { CREDIT_NOTE_STATUSES, CREDIT_NOTE_TYPES } from '../../schemas/words.ts';
import { BillingError } from '../errors.ts';
import { move, type StateMachine } from './state-machine.ts';

export type CreditNoteStatus = (typeof CREDIT_NOTE_STATUSES)[number];

export type CreditNoteType = (typeof CREDIT_NOTE_TYPES)[number];

export const CREDIT_NOTE_TRIGGERS = ['create', 'finalize', 'void'] as const;
export type CreditNoteTrigger = (typeof CREDIT_NOTE_TRIGGERS)[number];

/** Money-semantics 21.5; the two types differ in the allowed moves of a finalized note. */
export const creditNoteMachine: StateMachine<CreditNoteStatus, CreditNoteTrigger> = {
  noun: 'credit note',
  field: 'credit_note_status',
  refusal: 'invalid_operation',
  states: CREDIT_NOTE_STATUSES,
  triggers: CREDIT_NOTE_TRIGGERS,
  initial: { create: 'DRAFT' },
  moves: {
    DRAFT: { finalize: 'FINALIZED', void: 'VOIDED' },
    FINALIZED: { void: 'VOIDED' },
    VOIDED: {},
  },
};

/**
 * The status after `trigger`; refuses with `invalid_operation`. A finalized refund has moved money and cannot
 * be voided (money 10.11).
 */
export function moveCreditNote(
  type: CreditNoteType,
  from: CreditNoteStatus | null,
  trigger: CreditNoteTrigger,
): CreditNoteStatus {
  if (type === 'REFUND' && from === 'FINALIZED' && trigger === 'void') {
    const message = 'A FINALIZED refund credit note has returned its money and cannot be voided.';
    throw new BillingError('invalid', 'invalid_operation', message, [
      { path: 'credit_note_status', code: 'illegal_transition', message },
    ]);
  }
  return move(creditNoteMachine, from, trigger);
}
