import { inScope, type Scope, type Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { WebhookEventType } from '../../../schemas/webhooks/event-types.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { subscriptionSnapshot } from './subscription-notification.ts';
import { lockGrouped, releaseGrouped } from './child-repository.ts';

/** Fields of a parent that its inherited subscriptions follow (billing 16). */
const FOLLOWED = [
  'subscription_status', 'billing_anchor', 'earlier_anchors', 'current_period_start', 'current_period_end', 'trial_start', 'trial_end',
  'end_date', 'cancel_at', 'cancel_at_period_end', 'cancelled_at', 'pause_status', 'updated_at', 'updated_by',
] as const satisfies readonly (keyof SubscriptionRow)[]; // prettier-ignore

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
  const columns = FOLLOWED.map((column) => tx`${tx(column)} = p.${tx(column)}`);
  const followed = await tx<(SubscriptionRow & { status_before: string })[]>`
    with children as (
      select id, subscription_status from subscriptions
       where ${inScope(tx, scope)} and parent_subscription_id = any(${parentIds as string[]}::text[])
         and subscription_type = 'inherited' and subscription_status <> 'cancelled'
       order by id for update)
    update subscriptions c
       set ${columns.reduce((left, right) => tx`${left}, ${right}`)},
           start_date = case when c.subscription_status = 'draft' then p.start_date else c.start_date end,
           version = c.version + 1
      from subscriptions p, children
     where ${inScope(tx, scope, 'c')} and c.id = children.id and p.id = c.parent_subscription_id
       and ${inScope(tx, scope, 'p')}
    returning c.*, children.subscription_status as status_before`;
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
