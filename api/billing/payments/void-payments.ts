import { movePayment } from '../../../domain/states/payment.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { endActiveCheckout, lockActiveCheckoutsOf } from '../records/checkout-repository.ts';
import { lockUnpaidPayments, updatePaymentStatuses } from '../records/payment-repository.ts';
import { eventOfStatus, paymentEvents } from '../records/payment-notification.ts';

/**
 * Voids the unpaid payments of an invoice (money 9.11), with as many statements for many payments as for one. The
 * caller holds the lock of the invoice.
 */
export async function voidPaymentsInFlight(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  invoiceId: string,
): Promise<void> {
  const { scope } = caller;
  const change = changed(deps, caller);
  const unpaid = await lockUnpaidPayments(tx, scope, invoiceId);
  if (unpaid.length === 0) return;
  const moves = unpaid.map(({ id, payment_status }) => ({
    id,
    payment_status: movePayment(payment_status, 'VOIDED'),
  }));
  const times = { voided_at: change.updated_at, ...change };
  const voided = await updatePaymentStatuses(tx, scope, moves, times);
  // An invoice has at most one active session.
  const ids = voided.map(({ id }) => id);
  for (const session of await lockActiveCheckoutsOf(tx, scope, ids))
    await endActiveCheckout(tx, scope, session, 'fail', {
      reason: 'the payment is closed',
      ...change,
    });
  await writeOutboxEvents(tx, await paymentEvents(tx, eventOfStatus('VOIDED'), scope, voided));
}
