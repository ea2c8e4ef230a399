import type { Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { endLineItems, moveLineItems } from '../../records/line-item-repository.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import { changeSubscription, insertLineItems } from '../../records/subscription-repository.ts';
import { endAddonsOfPeriod, endDroppedAddons } from './addons-of-change.ts';
import { replaceLines, rowOf } from './line-records.ts';
import type { PlanChange } from './plan-swap.ts';

/**
 * Writes the lines and the plan of the subscription, and notifies (billing 14.2). `next` is the subscription with the
 * plan, in the period in which it is then. The caller changes its credit grants. Returns it as stored.
 */
export async function applyPlan(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  next: SubscriptionRow,
  change: PlanChange,
  at: string,
): Promise<SubscriptionRow> {
  const { scope, user_id } = caller;
  const { swaps, kept, to } = change;
  const replaced = swaps.flatMap(({ before, after }) => (before && after ? { before, after } : []));
  const ended = swaps.flatMap(({ before, after, effective_at }) =>
    before && !after ? { id: before.id, end_date: effective_at } : [],
  );
  const added = swaps.flatMap(({ before, after }) => (after && !before ? rowOf(after) : []));
  await replaceLines(tx, deps, caller, replaced);
  await endLineItems(tx, scope, ended, changed(deps, caller));
  await insertLineItems(tx, added);
  const moved = kept.map(({ line, after }) => ({ id: line.id, price_id: after.price_id }));
  await moveLineItems(tx, scope, moved, to, changed(deps, caller));
  await endDroppedAddons(tx, deps, caller, change.addons, {
    effective_at: change.effective_at,
    at,
  });
  await endAddonsOfPeriod(tx, deps, caller, change.ended, change.effective_at);
  const stored = await changeSubscription(tx, scope, next.id, {
    plan_id: next.plan_id,
    synced_price_sequence: next.synced_price_sequence,
    include_price_ids: next.include_price_ids,
    billing_anchor: next.billing_anchor,
    earlier_plans: next.earlier_plans,
    current_period_start: next.current_period_start,
    current_period_end: next.current_period_end,
    due_at: next.due_at,
    updated_at: at,
    updated_by: user_id,
  });
  const payload = { subscription: subscriptionSnapshot(stored, null) };
  await writeOutboxEvents(tx, [
    {
      scope,
      event_type: 'subscription.plan_changed',
      payload: { ...payload, previous_plan_id: change.from.id, effective_at: change.effective_at },
    },
    { scope, event_type: 'subscription.updated', payload },
  ]);
  return stored;
}
