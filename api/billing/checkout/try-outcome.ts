import { invalidOperation } from '../../../domain/errors.ts';
import type { CheckoutRecord } from '../../../schemas/checkout.ts';
import type { PageOutcome } from '../../../schemas/checkout-page.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { openGateway } from '../gateways/open-gateway.ts';
import { receiveGatewayEvent } from '../payments/receive-event.ts';
import { getCheckout } from '../records/checkout-repository.ts';
import { getPayment } from '../records/payment-repository.ts';
import { syncCheckout } from './sync-checkout.ts';

/**
 * Sets the outcome that a person chose at the test gateway. The payment then settles as with any gateway: by the
 * gateway's event and its state, never by what the browser says (money 11.31). With `timeout` the event is lost, and
 * a later poll finds the money. 400 for other gateways and for sessions that cannot be paid.
 */
export async function tryOutcome(
  deps: BillingDeps,
  caller: Caller,
  { id, checkout_status, checkout_payment_id }: CheckoutRecord,
  outcome: PageOutcome,
): Promise<CheckoutRecord> {
  const { scope } = caller;
  if (checkout_status !== 'pending' || checkout_payment_id === null) throw notPayable();
  const payment = await getPayment(deps.pool, scope, checkout_payment_id);
  if (payment.connection_id === null || payment.gateway_payment_id === null) throw notPayable();
  const open = await openGateway(deps, scope, payment.connection_id);
  if (!('setOutcome' in open.gateway)) throw notPayable();
  const events = await open.gateway.setOutcome(payment.gateway_payment_id, outcome);
  for (const event of events) await receiveGatewayEvent(deps, open, event);
  // The gateway sends one event per outcome; a second decline is found by reading its state.
  return outcome === 'timeout'
    ? await getCheckout(deps.pool, scope, id)
    : await syncCheckout(deps, caller, id);
}

const notPayable = () =>
  invalidOperation('The session has no pending payment of the test gateway.', 'outcome');
