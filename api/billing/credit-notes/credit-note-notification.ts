import type { Scope } from '../../../postgres/client.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { CreditNoteRecord } from '../../../schemas/credit-note.ts';

/** The notification of a credit note in its current state (interface, Events). */
export function creditNoteEvent(
  event_type: 'credit_note.created' | 'credit_note.updated',
  scope: Scope,
  note: CreditNoteRecord,
): OutboxEvent & { readonly scope: Scope } {
  return {
    scope,
    event_type,
    payload: {
      credit_note: {
        id: note.id,
        environment_id: note.environment_id,
        credit_note_number: note.credit_note_number,
        credit_note_status: note.credit_note_status,
        credit_note_type: note.credit_note_type,
        currency: note.currency,
        customer_id: note.customer_id,
        invoice_id: note.invoice_id,
        subscription_id: note.subscription_id,
        // As in answers: no memo is an empty one.
        memo: note.memo ?? '',
        metadata: note.metadata,
        reason: note.reason,
        total_amount: note.total_amount,
        finalized_at: note.finalized_at,
        voided_at: note.voided_at,
      },
    },
  };
}
