import { isTerminalCheckout } from '../../../domain/states/checkout.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { getCheckout } from '../records/checkout-repository.ts';
import { getPayment } from '../records/payment-repository.ts';
import { expireCheckout } from './expire-checkout.ts';
import { syncCheckout } from './sync-checkout.ts';
import { isGatewaySilent } from '../gateways/open-gateway.ts';

/** Minimum time between two reads of one session from the gateway (money 11.21). */
const SYNC_EVERY_MS = 2_000;

/**
 * The current session. An active one is first updated from its gateway, and ended if its time is over. A gateway that
 * does not answer changes nothing: the session stays as it is, and becomes stale (money 11.21).
 */
export async function readSession(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<CheckoutRecord> {
  const now = deps.clock.now();
  const session = await getCheckout(deps.pool, caller.scope, id);
  if (isTerminalCheckout(session.checkout_status)) return session;
  if (now >= Date.parse(session.expires_at)) return await expired(deps, caller, session);
  const payment = session.checkout_payment_id;
  const last = payment && (await getPayment(deps.pool, caller.scope, payment)).last_synced_at;
  const isDue = !last || now - Date.parse(last) >= SYNC_EVERY_MS;
  return isDue ? await syncCheckout(deps, caller, session.id) : session;
}

async function expired(
  deps: BillingDeps,
  caller: Caller,
  session: CheckoutRecord,
): Promise<CheckoutRecord> {
  try {
    return await expireCheckout(deps, caller, session.id, 'expire');
  } catch (error) {
    if (!isGatewaySilent(error)) throw error;
    return await getCheckout(deps.pool, caller.scope, session.id);
  }
}
