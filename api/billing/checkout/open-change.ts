import { notFound } from '../../../domain/errors.ts';
import type { CheckoutSession, CreateCheckoutBody } from '../../../schemas/checkout.ts';
import type { ModifySubscriptionBody } from '../../../schemas/subscription-modify.ts';
import type { Caller } from '../../conventions/record.ts';
import { getCustomerByExternalId } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { modify } from '../subscriptions/changes/modify.ts';
import { assertOpenable, checkoutRequest } from './create-checkout.ts';
import { assertConnected } from './store-session.ts';

/** Actions that change a running subscription. */
export const CHANGE_ACTIONS = ['add_addon', 'modify_subscription'] as const;

/**
 * Opens a session for a change of a running subscription (money 11.8), which is made once it is paid. The same
 * request with the same key returns the active session again (money 11.10). 404 for an unknown customer and a
 * subscription of another one; 400 if nothing is due; 409 while another session of the subscription is active.
 */
export async function openChange(
  deps: BillingDeps,
  caller: Caller,
  body: CreateCheckoutBody,
): Promise<CheckoutSession> {
  assertOpenable(body);
  const { customer_external_id, action: _, configuration, ...checkout } = body;
  const subscription_id = (configuration?.add_addon_params ??
    configuration?.modify_subscription_params)!.subscription_id;
  await deps.pool.begin(async (tx) => {
    const customer = await getCustomerByExternalId(tx, caller.scope, customer_external_id);
    await assertConnected(tx, caller, body.payment_provider);
    const subscription = await getSubscription(tx, caller.scope, subscription_id);
    if (subscription.customer_id !== customer.id) throw notFound('Subscription', subscription_id);
  });
  const change: ModifySubscriptionBody = { ...changeOf(body), checkout };
  const { checkout_session } = await modify(deps, caller, subscription_id, change, {
    isFreeRefused: true,
    request: checkoutRequest(body),
  });
  return checkout_session!;
}

function changeOf({ action, configuration }: CreateCheckoutBody): ModifySubscriptionBody {
  if (action === 'add_addon') {
    const [add] = configuration!.add_addon_params!.addons;
    return { type: 'addon', addon_params: { action: 'add', add: add! } };
  }
  const { line_item_modifications } = configuration!.modify_subscription_params!;
  const line_items = line_item_modifications.map(({ line_item_id: id, ...change }) => ({
    id,
    ...change,
  }));
  return { type: 'quantity_change', quantity_change_params: { line_items } };
}
