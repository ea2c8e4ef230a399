import { invalidField, invalidOperation } from '../../../../domain/errors.ts';
import {
  assertGroupable,
  mergesFrom,
  refuseTwoRoles,
} from '../../../../domain/subscription/hierarchy.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type {
  CreateSubscriptionBody,
  InheritanceRequest,
} from '../../../../schemas/subscription-requests.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { lockCustomer } from '../../../customers/customers/repository.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { findRunningOfPlan } from '../../records/child-repository.ts';
import { lockSubscription, type NewSubscription } from '../../records/subscription-repository.ts';
import { becomeParent, groupSubscriptions } from './group.ts';
import { inheritCustomers } from './inherit.ts';

/** The place of a new subscription among others (billing 16). */
export interface Role {
  readonly inheritance: InheritanceRequest;
  /** The parent on whose invoice it is billed, locked. */
  readonly parent: SubscriptionRow | null;
}

/** The role that the request names; the parent is locked before any customer. */
export async function roleOf(
  tx: Transaction,
  { scope }: Caller,
  body: CreateSubscriptionBody,
): Promise<Role> {
  const named = body.inheritance ?? {};
  if (
    body.parent_subscription_id &&
    named.parent_subscription_id &&
    body.parent_subscription_id !== named.parent_subscription_id
  )
    throw invalidField('parent_subscription_id', 'differs from inheritance.parent_subscription_id');
  const parentId = named.parent_subscription_id || body.parent_subscription_id || null;
  const inheritance = { ...named, parent_subscription_id: parentId };
  refuseTwoRoles(inheritance);
  if (parentId !== null && body.subscription_status === 'draft')
    throw invalidField('subscription_status', 'a draft cannot be grouped under a parent');
  const parent = parentId === null ? null : await lockSubscription(tx, scope, parentId);
  return { inheritance, parent };
}

/** A grouped subscription takes anchor and time zone from its parent, so that their periods end together. */
export function alignedWith(
  { parent }: Role,
  body: CreateSubscriptionBody,
): CreateSubscriptionBody {
  if (parent === null) return body;
  const isAnniversary = (body.billing_cycle ?? parent.billing_cycle) === 'anniversary';
  return {
    ...body,
    billing_cycle: body.billing_cycle ?? parent.billing_cycle,
    customer_timezone: body.customer_timezone ?? body.timezone ?? parent.customer_timezone,
    billing_anchor: body.billing_anchor ?? (isAnniversary ? parent.billing_anchor : null),
  };
}

/** The fields by which a subscription states its role. */
export async function roleFields(
  tx: Transaction,
  { scope }: Caller,
  { inheritance, parent }: Role,
  subscription: Omit<
    NewSubscription,
    'subscription_type' | 'invoicing_customer_id' | 'parent_subscription_id' | 'merges_from'
  >,
): Promise<
  Pick<
    SubscriptionRow,
    'subscription_type' | 'invoicing_customer_id' | 'parent_subscription_id' | 'merges_from'
  >
> {
  const inherited = await findRunningOfPlan(
    tx,
    scope,
    subscription.customer_id,
    subscription.plan_id,
    'inherited',
  );
  if (inherited !== null)
    throw invalidOperation(
      `The customer already uses this plan by the inherited subscription ${inherited.id}.`,
      'plan_id',
    );
  const none = { invoicing_customer_id: null, parent_subscription_id: null, merges_from: null };
  if (parent !== null) {
    if (subscription.trial_end !== null)
      throw invalidField(
        'inheritance.parent_subscription_id',
        'a grouped subscription follows the periods of its parent and has no trial; send trial_period_days 0',
      );
    assertGroupable(parent, subscription, 'inheritance.parent_subscription_id');
    return {
      ...none,
      subscription_type: 'grouped_invoicing',
      parent_subscription_id: parent.id,
      merges_from: mergesFrom(parent, subscription),
    };
  }
  const payer = inheritance.invoicing_customer_external_id;
  if (payer) {
    const field = 'inheritance.invoicing_customer_external_id';
    const { id, status } = await lockCustomer(tx, scope, { external_id: payer });
    if (id === subscription.customer_id)
      throw invalidField(field, 'is the customer of the subscription; leave it out');
    if (status !== 'published') throw invalidField(field, `customer ${payer} is ${status}`);
    return { ...none, subscription_type: 'delegated_invoicing', invoicing_customer_id: id };
  }
  const children =
    (inheritance.external_customer_ids_to_inherit_subscription?.length ?? 0) +
    (inheritance.subscriptions_ids_for_grouped_invoicing?.length ?? 0);
  return { ...none, subscription_type: children > 0 ? 'parent' : 'standalone' };
}

/** Writes the children of a new subscription, and notes at its parent that it has a child. */
export async function writeRelatives(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { inheritance, parent }: Role,
  subscription: SubscriptionRow,
): Promise<void> {
  if (parent !== null) await becomeParent(tx, deps, caller, parent);
  await inheritCustomers(
    tx,
    deps,
    caller,
    subscription,
    inheritance.external_customer_ids_to_inherit_subscription ?? [],
    'inheritance.external_customer_ids_to_inherit_subscription',
  );
  await groupSubscriptions(
    tx,
    deps,
    caller,
    subscription,
    inheritance.subscriptions_ids_for_grouped_invoicing ?? [],
    (index) => `inheritance.subscriptions_ids_for_grouped_invoicing[${index}]`,
  );
}
