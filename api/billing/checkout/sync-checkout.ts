import { moveCheckout } from '../../../domain/states/checkout.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { syncPayment } from '../payments/dispatch-payment.ts';
import {
  checkoutEvent,
  getCheckout,
  lockCheckout,
  updateCheckout,
} from '../records/checkout-repository.ts';

/**
 * Reads the payment of an active session from the gateway, and stores the address of its page once it exists. After a
 * declined charge of a saved method that is the page which replaces it.
 * Changes nothing while the gateway does not answer (money 11.21).
 */
export async function syncCheckout(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<CheckoutRecord> {
  const session = await getCheckout(deps.pool, caller.scope, id);
  const isActive = session.checkout_status === 'initiated' || session.checkout_status === 'pending';
  if (!isActive || session.checkout_payment_id === null) return session;
  const payment = await syncPayment(deps, caller, session.checkout_payment_id);
  if (payment.payment_url === null) {
    const after = await getCheckout(deps.pool, caller.scope, id);
    const isReplaced = after.checkout_payment_id !== session.checkout_payment_id;
    return isReplaced ? await syncCheckout(deps, caller, id) : after;
  }
  return await deps.pool.begin(async (tx) => {
    const now = await lockCheckout(tx, caller.scope, id);
    if (now.checkout_status !== 'initiated') return now;
    const offered = await updateCheckout(tx, caller.scope, id, {
      checkout_status: moveCheckout(now.checkout_status, 'offer_payment'),
      ...changed(deps, caller),
    });
    await writeOutboxEvents(tx, [
      await checkoutEvent(tx, 'checkout.session.initiated', caller.scope, offered),
    ]);
    return offered;
  });
}
