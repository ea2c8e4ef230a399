import { invalidField } from '../../../../domain/errors.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type {
  ChangedResources,
  GroupedInvoicingParams,
  InheritanceChangeParams,
} from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { findSubscriptions, lockSubscription } from '../../records/subscription-repository.ts';
import { groupSubscriptions, ungroupSubscriptions } from '../hierarchy/group.ts';
import { disinheritCustomers, inheritCustomers } from '../hierarchy/inherit.ts';

type ChangedSubscriptions = ChangedResources['subscriptions'];

/** Customers begin or cease to use the subscription (billing 16). */
export async function changeInheritance(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  parent: SubscriptionRow,
  params: InheritanceChangeParams,
  at: string,
): Promise<ChangedSubscriptions> {
  const isRemoval = params.action === 'remove';
  const field = isRemoval
    ? 'external_customer_ids_to_remove'
    : 'external_customer_ids_to_inherit_subscription';
  const other = isRemoval
    ? 'external_customer_ids_to_inherit_subscription'
    : 'external_customer_ids_to_remove';
  if (params[other]?.length)
    throw invalidField(
      `inheritance_params.${other}`,
      `is not sent with action ${isRemoval ? 'remove' : 'add'}`,
    );
  const ids = (params[field] ?? []).filter((id) => id !== '');
  const path = `inheritance_params.${field}`;
  if (ids.length === 0) throw invalidField(path, 'needs at least one external customer id');
  if (isRemoval) {
    const ended = await disinheritCustomers(tx, deps, caller, parent, ids, { path, at });
    return ended.map((child) => shown('updated', child));
  }
  const children = await inheritCustomers(tx, deps, caller, parent, ids, path);
  return children.map((child) => shown('created', child));
}

/**
 * Subscriptions join or leave the invoice of a parent (billing 16). On a parent the request names the children, on
 * a child the parent.
 */
export async function changeGrouping(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  params: GroupedInvoicingParams,
): Promise<ChangedSubscriptions> {
  const named = params.child_subscription_ids ?? [];
  const isChild = named.length === 0;
  if (!isChild && params.parent_subscription_id)
    throw invalidField(
      'grouped_invoicing_params.parent_subscription_id',
      'is not sent together with child_subscription_ids',
    );
  const parentId = isChild
    ? params.parent_subscription_id || subscription.parent_subscription_id
    : subscription.id;
  if (!parentId)
    throw invalidField(
      'grouped_invoicing_params.child_subscription_ids',
      'is required unless parent_subscription_id is sent',
    );
  const parent = isChild ? await lockSubscription(tx, caller.scope, parentId) : subscription;
  const childIds = isChild ? [subscription.id] : named;
  const path = (index: number) =>
    isChild
      ? 'grouped_invoicing_params.parent_subscription_id'
      : `grouped_invoicing_params.child_subscription_ids[${index}]`;
  if (params.action === 'add') await groupSubscriptions(tx, deps, caller, parent, childIds, path);
  else await ungroupSubscriptions(tx, deps, caller, parent, childIds, path);
  const rows = await findSubscriptions(tx, caller.scope, childIds);
  return childIds.flatMap((id) =>
    rows.filter((row) => row.id === id).map((row) => shown('updated', row)),
  );
}

const shown = (action: 'created' | 'updated', row: SubscriptionRow) => ({
  id: row.id,
  action,
  status: row.subscription_status,
  trial_end: row.trial_end,
  current_period_end: row.current_period_end,
});
