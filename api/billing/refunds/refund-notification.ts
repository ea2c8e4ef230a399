import type { Scope } from '../../../postgres/client.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';

/** The notification of a refund in its current state (money 17.3). */
export function refundEvent(
  event_type: `refund.${'created' | 'succeeded' | 'failed'}`,
  scope: Scope,
  refund: RefundRecord,
): OutboxEvent & { readonly scope: Scope } {
  return {
    scope,
    event_type,
    payload: {
      refund: {
        id: refund.id,
        environment_id: refund.environment_id,
        payment_id: refund.payment_id,
        invoice_id: refund.invoice_id,
        customer_id: refund.customer_id,
        credit_note_id: refund.credit_note_id,
        refund_target: refund.refund_target,
        payment_gateway: refund.payment_gateway,
        amount: refund.amount,
        currency: refund.currency,
        refund_status: refund.refund_status,
        refund_reason: refund.refund_reason,
        failure_reason: refund.failure_reason,
        retry_of: refund.retry_of,
        succeeded_at: refund.succeeded_at,
        failed_at: refund.failed_at,
        metadata: refund.metadata,
      },
    },
  };
}
