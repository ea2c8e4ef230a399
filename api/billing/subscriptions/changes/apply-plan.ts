import type { Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { changeLineItem } from '../../records/line-item-repository.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import { changeSubscription, insertLineItems } from '../../records/subscription-repository.ts';
import { endAddonsOfPeriod, endDroppedAddons } from './addons-of-change.ts';
import { replaceLine, rowOf } from './line-records.ts';
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
  for (const { before, after, effective_at } of change.swaps) {
    if (before !== null && after !== null) await replaceLine(tx, deps, caller, before, after);
    else if (after !== null) await insertLineItems(tx, [rowOf(after)]);
    else
      await changeLineItem(tx, scope, before!.id, {
        end_date: effective_at > before!.start_date ? effective_at : before!.start_date,
        ...changed(deps, caller),
      });
  }
  for (const { line, after } of change.kept)
    await changeLineItem(tx, scope, line.id, {
      price_id: after.price_id,
      entity_id: change.to.id,
      plan_display_name: change.to.name,
      ...changed(deps, caller),
    });
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
