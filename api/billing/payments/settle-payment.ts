import { movePayment } from '../../../domain/states/payment.ts';
import type { PaymentStatus } from '../../../domain/states/payment-status.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { LockedPayment } from '../computing/lock-payment.ts';
import { reviseInvoicePayment } from '../computing/revise-invoice-payment.ts';
import { updatePayment } from '../records/payment-repository.ts';
import { eventOfStatus, paymentEvent } from '../records/payment-notification.ts';
import { endCheckout } from './end-checkout.ts';
import { followCollection } from './follow-collection.ts';

/**
 * Changes the status of the locked payment, derives its invoice again and writes the notifications, in one
 * transaction. Payments settle in this function only (money 8.3.4). Refuses a change that the table of money
 * 21 does not contain. With the same status it changes only the other fields.
 */
export async function movePaymentTo(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { payment, locked }: LockedPayment,
  status: PaymentStatus,
  fields: Partial<PaymentRecord> = {},
): Promise<PaymentRecord> {
  const to = movePayment(payment.payment_status, status);
  const change = changed(deps, caller);
  const isMove = to !== payment.payment_status;
  const moved = await updatePayment(tx, caller.scope, payment.id, {
    ...(isMove ? timeOf(to, change.updated_at) : {}),
    ...fields,
    payment_status: to,
    ...change,
  });
  const announce = async () => {
    const type = isMove ? eventOfStatus(to) : 'payment.updated';
    await writeOutboxEvents(tx, [await paymentEvent(tx, type, caller.scope, moved)]);
  };
  const isPaid = to === 'SUCCEEDED' || to === 'OVERPAID';
  if (!isPaid) await announce();
  const concerned = isPaid
    ? await endCheckout(tx, deps, caller, moved, locked, 'complete', announce)
    : to === 'FAILED' || to === 'VOIDED'
      ? await endCheckout(tx, deps, caller, moved, locked, 'fail')
      : locked;
  if (concerned === null) return moved;
  const invoice = await reviseInvoicePayment(tx, deps, caller, concerned);
  if (isMove) await followCollection(tx, caller.scope, moved, invoice, change.updated_at);
  return moved;
}

/** The time column of a status. */
function timeOf(status: PaymentStatus, at: string): Partial<PaymentRecord> {
  switch (status) {
    case 'SUCCEEDED':
    case 'OVERPAID':
      return { succeeded_at: at };
    case 'FAILED':
      return { failed_at: at };
    case 'REFUNDED':
    case 'PARTIALLY_REFUNDED':
      return { refunded_at: at };
    case 'VOIDED':
      return { voided_at: at };
    case 'INITIATED':
    case 'PENDING':
    case 'PROCESSING':
      return {};
  }
}
