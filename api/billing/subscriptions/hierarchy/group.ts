import { invalidField } from '../../../../domain/errors.ts';
import { dueAt } from '../../../../domain/subscription/due.ts';
import { assertGroupable, mergesFrom } from '../../../../domain/subscription/hierarchy.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { releaseGrouped } from '../../records/child-repository.ts';
import { changeSubscription, lockSubscription } from '../../records/subscription-repository.ts';
import { standAloneWithoutChildren } from './inherit.ts';

/** The type that a subscription gets with its first child. */
export async function becomeParent(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  parent: SubscriptionRow,
): Promise<void> {
  if (parent.subscription_type === 'parent') return;
  await changeSubscription(tx, caller.scope, parent.id, {
    subscription_type: 'parent',
    ...changed(deps, caller),
  });
}

/**
 * Running subscriptions join the invoice of a parent: each bills its running period itself, and from the next
 * boundary on its rows are on the parent's invoice (billing 16). The caller holds the parent's lock.
 */
export async function groupSubscriptions(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  parent: SubscriptionRow,
  childIds: readonly string[],
  path: (index: number) => string,
): Promise<SubscriptionRow[]> {
  const children: SubscriptionRow[] = [];
  for (const [index, id] of childIds.entries()) {
    if (childIds.indexOf(id) !== index) throw invalidField(path(index), `${id} is named twice`);
    const child = await lockSubscription(tx, caller.scope, id);
    assertFreeToJoin(child, path(index));
    assertGroupable(parent, child, path(index));
    const merges_from = mergesFrom(parent, child);
    const joined = { ...child, merges_from };
    children.push(
      await changeSubscription(tx, caller.scope, id, {
        subscription_type: 'grouped_invoicing',
        parent_subscription_id: parent.id,
        merges_from,
        due_at: child.due_at === null ? null : dueAt(joined),
        ...changed(deps, caller),
      }),
    );
  }
  if (children.length > 0) await becomeParent(tx, deps, caller, parent);
  return children;
}

/** Grouped subscriptions leave their parent: each bills the whole running period itself (billing 16). */
export async function ungroupSubscriptions(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  parent: SubscriptionRow,
  childIds: readonly string[],
  path: (index: number) => string,
): Promise<void> {
  for (const [index, id] of childIds.entries()) {
    const child = await lockSubscription(tx, caller.scope, id);
    if (
      child.parent_subscription_id !== parent.id ||
      child.subscription_type !== 'grouped_invoicing'
    )
      throw invalidField(path(index), `subscription ${id} is not grouped under ${parent.id}`);
    await releaseGrouped(tx, caller.scope, child);
  }
  await standAloneWithoutChildren(tx, deps, caller, parent);
}

function assertFreeToJoin(child: SubscriptionRow, path: string): void {
  if (child.subscription_type !== 'standalone')
    throw invalidField(path, `subscription ${child.id} is of type ${child.subscription_type}`);
  if (child.subscription_status !== 'active')
    throw invalidField(path, `subscription ${child.id} is ${child.subscription_status}`);
  if (child.active_pause_id !== null)
    throw invalidField(path, `a pause of subscription ${child.id} is planned`);
}
