import { canMovePayment, movePayment } from '../../../domain/states/payment.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { endActiveCheckout, lockActiveCheckoutOf } from '../records/checkout-repository.ts';
import { lockPayment, paymentsOfInvoice, updatePayment } from '../records/payment-repository.ts';
import { eventOfStatus, paymentEvent } from '../records/payment-notification.ts';

/** Voids the unpaid payments of an invoice (money 9.11). The caller holds the lock of the invoice. */
export async function voidPaymentsInFlight(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  invoiceId: string,
): Promise<void> {
  const change = changed(deps, caller);
  for (const { id, payment_status: status } of await paymentsOfInvoice(
    tx,
    caller.scope,
    invoiceId,
  )) {
    const isInFlight = status === 'INITIATED' || status === 'PENDING';
    if (!isInFlight || !canMovePayment(status, 'VOIDED')) continue;
    await lockPayment(tx, caller.scope, id);
    const voided = await updatePayment(tx, caller.scope, id, {
      payment_status: movePayment(status, 'VOIDED'),
      voided_at: change.updated_at,
      ...change,
    });
    const session = await lockActiveCheckoutOf(tx, caller.scope, id);
    const reason = 'the payment is closed';
    if (session !== null)
      await endActiveCheckout(tx, caller.scope, session, 'fail', { reason, ...change });
    await writeOutboxEvents(tx, [
      await paymentEvent(tx, eventOfStatus('VOIDED'), caller.scope, voided),
    ]);
  }
}
