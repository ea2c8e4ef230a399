import { moveSubscription } from '../../../domain/states/subscription.ts';
import { dueAt } from '../../../domain/subscription/due.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { applyGrants } from '../grants/apply-grants.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import { changeSubscription } from '../records/subscription-repository.ts';

/**
 * Begins the subscription whose checkout session was paid. Its periods stay as the paid invoice shows them; its
 * credit grants are given now (money 11.24).
 */
export async function beginPaidSubscription(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  draft: SubscriptionRow,
): Promise<SubscriptionRow> {
  const { scope } = caller;
  const at = isoTime(deps.clock.now());
  const subscription_status = moveSubscription(draft.subscription_status, 'activate_active');
  const subscription = await changeSubscription(tx, scope, draft.id, {
    subscription_status,
    due_at: dueAt({ ...draft, subscription_status }),
    ...changed(deps, caller),
  });
  await applyGrants(tx, deps, caller, subscription, { at, refusal: 'throw' });
  const customer = await getCustomer(tx, scope, subscription.customer_id);
  const payload = { subscription: subscriptionSnapshot(subscription, customer) };
  await writeOutboxEvents(tx, [
    { scope, event_type: 'subscription.created', payload },
    { scope, event_type: 'subscription.activated', payload },
  ]);
  return subscription;
}
