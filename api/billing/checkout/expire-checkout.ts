import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import { isTerminalCheckout, moveCheckout } from '../../../domain/states/checkout.ts';
import { canMovePayment } from '../../../domain/states/payment.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { discardGate } from './discard-gate.ts';
import { cancelAtGateway } from '../payments/close-payment.ts';
import { lockPaymentWithInvoice } from '../computing/lock-payment.ts';
import { movePaymentTo } from '../payments/settle-payment.ts';
import {
  checkoutEvent,
  getCheckout,
  lockCheckout,
  updateCheckout,
} from '../records/checkout-repository.ts';
import { isGatewaySilent } from '../gateways/open-gateway.ts';
import { endingOf, EXPIRED_UNPAID } from '../records/checkout-ending.ts';

/** How long after its expiry a session waits for the answer of its gateway. */
const WAIT_FOR_GATEWAY_MS = 24 * 3_600_000;

/**
 * Ends a session that expired or is cancelled (money 11.15, 11.16). The state is read from the gateway first:
 * a paid session completes instead. Then the page is closed, and session and payment end in one transaction.
 * A session waits at most a day for a gateway that does not answer, because it locks its invoice. Money that is found
 * there afterwards is late money (8.4.7, 8.4.8).
 * A cancellation is stored before the page is closed. So the gateway's message about the closed page, which may be
 * handled first, ends the session with the same state.
 * Cancelling a completed session is 400; a session that has ended is returned unchanged.
 */
export async function expireCheckout(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  trigger: 'expire' | 'cancel',
): Promise<CheckoutRecord> {
  const { scope } = caller;
  const session = await getCheckout(deps.pool, scope, id);
  if (isTerminalCheckout(session.checkout_status)) return ended(session, trigger);
  const paymentId = session.checkout_payment_id!;
  if (trigger === 'cancel') await storeCancellation(deps, caller, id);
  await closePage(deps, caller, session, paymentId);
  const over = await deps.pool.begin(async (tx) => {
    const found = await lockPaymentWithInvoice(tx, caller, paymentId);
    const now = await lockCheckout(tx, scope, id);
    if (isTerminalCheckout(now.checkout_status)) return ended(now, trigger);
    // The charge was declined meanwhile, and a page replaces it.
    if (now.checkout_payment_id !== paymentId) return null;
    const change = changed(deps, caller);
    const expired = await updateCheckout(tx, scope, id, {
      checkout_status: moveCheckout(now.checkout_status, trigger),
      failure_reason: endingOf(now, now.expires_at),
      ...change,
    });
    if (canMovePayment(found.payment.payment_status, 'VOIDED'))
      await movePaymentTo(tx, deps, caller, found, 'VOIDED');
    if (found.locked !== null && isGated(found.locked.invoice))
      await discardGate(tx, deps, caller, now, found.locked, EXPIRED_UNPAID);
    await writeOutboxEvents(tx, [
      await checkoutEvent(tx, 'checkout.session.expired', scope, expired),
    ]);
    return expired;
  });
  return over ?? (await expireCheckout(deps, caller, id, trigger));
}

async function closePage(
  deps: BillingDeps,
  caller: Caller,
  { expires_at }: CheckoutRecord,
  paymentId: string,
): Promise<void> {
  try {
    await cancelAtGateway(deps, caller, paymentId);
  } catch (error) {
    const isWaiting = deps.clock.now() < Date.parse(expires_at) + WAIT_FOR_GATEWAY_MS;
    if (isWaiting || !isGatewaySilent(error)) throw error;
  }
}

const storeCancellation = (deps: BillingDeps, caller: Caller, id: string): Promise<void> =>
  deps.pool.begin(async (tx) => {
    const now = await lockCheckout(tx, caller.scope, id);
    if (isTerminalCheckout(now.checkout_status) || now.cancelled_at !== null) return;
    const change = changed(deps, caller);
    await updateCheckout(tx, caller.scope, id, { cancelled_at: change.updated_at, ...change });
  });

/** Refuses to cancel a completed session. An expiry accepts every end. */
function ended(session: CheckoutRecord, trigger: 'expire' | 'cancel'): CheckoutRecord {
  if (trigger === 'cancel') moveCheckout(session.checkout_status, 'cancel');
  return session;
}
