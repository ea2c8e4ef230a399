import { invalidField } from '../../../../domain/errors.ts';
import { cancelledAt } from '../../../../domain/subscription/cancellation.ts';
import { assertPossibleParent } from '../../../../domain/subscription/hierarchy.ts';
import { laterOf } from '../../../../domain/time/instant.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { lockCustomer, type CustomerRow } from '../../../customers/customers/repository.ts';
import { changed, newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { findRunningOfPlan, groupedOf, inheritedOf } from '../../records/child-repository.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import { changeSubscription, insertSubscription } from '../../records/subscription-repository.ts';

/**
 * Customers begin to use the subscription: each gets an inherited one without lines, and its usage is pooled with
 * that of the parent's customer from the start of the running period on (billing 16). The caller holds the
 * parent's lock. `path` names the request's list.
 */
export async function inheritCustomers(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  parent: SubscriptionRow,
  externalIds: readonly string[],
  path: string,
): Promise<SubscriptionRow[]> {
  if (externalIds.length === 0) return [];
  assertPossibleParent(parent);
  refuseTwice(externalIds, path);
  const children: SubscriptionRow[] = [];
  // In the order of their ids, so that two requests never wait for each other.
  for (const external_id of [...externalIds].sort()) {
    const place = `${path}[${externalIds.indexOf(external_id)}]`;
    const customer = await lockCustomer(tx, caller.scope, { external_id });
    await assertFree(tx, caller, parent, customer, place);
    children.push(await insertSubscription(tx, inherited(deps, caller, parent, customer)));
  }
  await writeOutboxEvents(
    tx,
    children.map((child) => ({
      scope: caller.scope,
      event_type: 'subscription.created',
      payload: { subscription: subscriptionSnapshot(child, null) },
    })),
  );
  if (parent.subscription_type !== 'parent')
    await changeSubscription(tx, caller.scope, parent.id, {
      subscription_type: 'parent',
      ...changed(deps, caller),
    });
  return children;
}

/** Customers cease to use the subscription: their usage counts until now (billing 16). */
export async function disinheritCustomers(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  parent: SubscriptionRow,
  externalIds: readonly string[],
  { path, at }: { readonly path: string; readonly at: string },
): Promise<SubscriptionRow[]> {
  refuseTwice(externalIds, path);
  const known = await inheritedOf(tx, caller.scope, parent.id);
  const ended: SubscriptionRow[] = [];
  for (const [index, external_id] of externalIds.entries()) {
    const found = known.find((child) => child.external_id === external_id);
    if (found === undefined)
      throw invalidField(`${path}[${index}]`, `customer ${external_id} does not inherit`);
    const { takes_effect: _, ...fields } = cancelledAt(found, laterOf(at, found.start_date));
    const child = await changeSubscription(tx, caller.scope, found.id, {
      ...fields,
      ...changed(deps, caller),
    });
    ended.push(child);
  }
  await writeOutboxEvents(
    tx,
    ended.map((child) => ({
      scope: caller.scope,
      event_type: 'subscription.cancelled',
      payload: { subscription: subscriptionSnapshot(child, null) },
    })),
  );
  await standAloneWithoutChildren(tx, deps, caller, parent);
  return ended;
}

/** A parent without children is an ordinary subscription again. */
export async function standAloneWithoutChildren(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  parent: SubscriptionRow,
): Promise<void> {
  const { scope } = caller;
  if (parent.subscription_type !== 'parent') return;
  if ((await inheritedOf(tx, scope, parent.id)).length > 0) return;
  if ((await groupedOf(tx, scope, [parent.id])).length > 0) return;
  await changeSubscription(tx, scope, parent.id, {
    subscription_type: 'standalone',
    ...changed(deps, caller),
  });
}

/** A customer has an inherited or an own subscription to the plan, never both (billing 16). */
async function assertFree(
  tx: Transaction,
  { scope }: Caller,
  parent: SubscriptionRow,
  { id, external_id, status }: CustomerRow,
  path: string,
): Promise<void> {
  if (status !== 'published') throw invalidField(path, `customer ${external_id} is ${status}`);
  if (id === parent.customer_id)
    throw invalidField(path, `customer ${external_id} is the customer of the subscription`);
  const running = await findRunningOfPlan(tx, scope, id, parent.plan_id, null);
  if (running !== null)
    throw invalidField(
      path,
      `customer ${external_id} already has subscription ${running.id} to this plan`,
    );
}

/** The inherited subscription: the parent's terms and times, without lines and without an invoice of its own. */
const inherited = (
  deps: BillingDeps,
  caller: Caller,
  { version: _, ...parent }: SubscriptionRow,
  customer: Pick<CustomerRow, 'id'>,
): Omit<SubscriptionRow, 'version'> => ({
  ...parent,
  ...newRecord(deps, caller, 'subs'),
  customer_id: customer.id,
  subscription_type: 'inherited',
  parent_subscription_id: parent.id,
  invoicing_customer_id: null,
  start_date: parent.current_period_start,
  lookup_key: null,
  metadata: {},
  include_price_ids: null,
  commitment_amount: null,
  commitment_duration: null,
  enable_true_up: false,
  overage_factor: '1',
  cancel_proration_behavior: null,
  active_pause_id: null,
  pause_at: null,
  resume_at: null,
  merges_from: null,
  earlier_plans: [],
  earlier_anchors: [],
  last_billing_sequence: 0,
  due_at: null,
  billing_refusal: null,
  billing_retry_at: null,
});

function refuseTwice(ids: readonly string[], path: string): void {
  ids.forEach((id, index) => {
    if (ids.indexOf(id) !== index) throw invalidField(`${path}[${index}]`, `${id} is named twice`);
  });
}
