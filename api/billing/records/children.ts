import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { WebhookEventType } from '../../../schemas/webhooks/event-types.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { subscriptionSnapshot } from './subscription-notification.ts';
import { copyToInherited, lockGrouped, releaseGrouped } from './child-repository.ts';

/**
 * Takes a change of parents over to their children, in the transaction of the change: inherited ones follow
 * status, period, trial and end; grouped ones stand alone when their parent ends (billing 16).
 */
export async function followParents(
  tx: Transaction,
  scope: Scope,
  changed: readonly SubscriptionRow[],
): Promise<void> {
  const parents = changed.filter(({ subscription_type }) => subscription_type === 'parent');
  if (parents.length === 0) return;
  await followInherited(
    tx,
    scope,
    parents.map(({ id }) => id),
  );
  const ended = parents.filter((parent) => parent.subscription_status === 'cancelled');
  for (const child of await lockGrouped(
    tx,
    scope,
    ended.map(({ id }) => id),
  ))
    await releaseGrouped(tx, scope, child);
}

async function followInherited(
  tx: Transaction,
  scope: Scope,
  parentIds: readonly string[],
): Promise<void> {
  const followed = await copyToInherited(tx, scope, parentIds);
  await writeOutboxEvents(
    tx,
    followed.flatMap(({ status_before, ...child }) =>
      status_before === child.subscription_status
        ? []
        : {
            scope,
            event_type: eventOf(status_before, child),
            payload: { subscription: subscriptionSnapshot(child, null) },
          },
    ),
  );
}

function eventOf(before: string, { subscription_status }: SubscriptionRow): WebhookEventType {
  if (subscription_status === 'cancelled') return 'subscription.cancelled';
  if (subscription_status === 'paused') return 'subscription.paused';
  if (before === 'paused') return 'subscription.resumed';
  return subscription_status === 'active' ? 'subscription.activated' : 'subscription.updated';
}
