import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { PaymentStatus } from '../../../domain/states/payment-status.ts';
import { invoiceNumbers } from './invoice-repository.ts';

type PaymentEventType = `payment.${'created' | 'updated' | 'failed' | 'success' | 'pending'}`;
type PaymentEvent = OutboxEvent & { readonly scope: Scope };

/** The notification of a payment in its current state, with the number of the invoice that it pays (money 17.3). */
export async function paymentEvent(
  tx: Transaction,
  event_type: PaymentEventType,
  scope: Scope,
  payment: PaymentRecord,
): Promise<PaymentEvent> {
  const [event] = await paymentEvents(tx, event_type, scope, [payment]);
  return event!;
}

/** The same for each of the payments. */
export async function paymentEvents(
  tx: Transaction,
  event_type: PaymentEventType,
  scope: Scope,
  payments: readonly PaymentRecord[],
): Promise<PaymentEvent[]> {
  const invoiceIds = payments.flatMap(({ destination_type, destination_id }) =>
    destination_type === 'INVOICE' ? [destination_id] : [],
  );
  const numbers = await invoiceNumbers(tx, scope, [...new Set(invoiceIds)]);
  return payments.map((payment) => eventOf(event_type, scope, payment, numbers));
}

function eventOf(
  event_type: PaymentEventType,
  scope: Scope,
  payment: PaymentRecord,
  numbers: Awaited<ReturnType<typeof invoiceNumbers>>,
): PaymentEvent {
  const { destination_type, destination_id } = payment;
  return {
    scope,
    event_type,
    payload: {
      payment: {
        id: payment.id,
        environment_id: payment.environment_id,
        customer_id: payment.customer_id,
        destination_type,
        destination_id,
        invoice_number: numbers.get(destination_id) ?? null,
        payment_method_type: payment.payment_method_type,
        payment_gateway: payment.payment_gateway,
        amount: payment.amount,
        currency: payment.currency,
        payment_status: payment.payment_status,
        error_message: payment.error_message,
        succeeded_at: payment.succeeded_at,
        failed_at: payment.failed_at,
        refunded_at: payment.refunded_at,
        voided_at: payment.voided_at,
        metadata: payment.metadata,
      },
    },
  };
}

/** The event that a move to the status sends. */
export function eventOfStatus(
  status: PaymentStatus,
): 'payment.success' | 'payment.failed' | 'payment.pending' | 'payment.updated' {
  if (status === 'SUCCEEDED' || status === 'OVERPAID') return 'payment.success';
  if (status === 'FAILED') return 'payment.failed';
  if (status === 'PENDING' || status === 'PROCESSING') return 'payment.pending';
  return 'payment.updated';
}
