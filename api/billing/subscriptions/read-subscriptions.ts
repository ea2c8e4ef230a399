import { isoTime } from '../../../platform/clock.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { z } from 'zod';
import type { Page } from '../../../schemas/search.ts';
import type { Subscription, SubscriptionV2 } from '../../../schemas/subscription-answers.ts';
import type { SubscriptionRow, SubscriptionSearch } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { invoiceAnswers } from '../invoices/answers.ts';
import { findLatestInvoice } from '../records/subscription-invoice-repository.ts';
import { subscriptionAnswers } from '../records/subscription-answers.ts';
import {
  getStoredSubscription,
  getSubscription,
  searchSubscriptions,
} from '../records/subscription-repository.ts';
import { isBehindPlan } from './sync-repository.ts';

/** A new subscription as its creation returns it: with its line items and its opening invoice. */
export async function createdSubscription(db: Db, scope: Scope, id: string): Promise<Subscription> {
  const row = await getSubscription(db, scope, id);
  const [subscription] = await subscriptionAnswers(db, scope, [row], { line_items: true });
  return { ...subscription!, latest_invoice: await latestInvoice(db, scope, row) };
}

/**
 * A subscription as commands that change it return it: with its line items, its plan, and its customer at
 * `at`.
 */
export async function modifiedSubscription(
  db: Db,
  scope: Scope,
  id: string,
  at: string | null,
): Promise<Subscription> {
  const row = await getSubscription(db, scope, id);
  const embed = {
    line_items: true,
    prices: true,
    customer: at !== null,
    ...(at === null ? {} : { plan: { at } }),
  };
  const [subscription] = await subscriptionAnswers(db, scope, [row], embed);
  return { ...subscription!, latest_invoice: null };
}

/** A subscription with all its records embedded. */
export async function readSubscription(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  id: string,
): Promise<Subscription> {
  const row = await getStoredSubscription(deps.pool, scope, id);
  const [subscription] = await subscriptionAnswers(deps.pool, scope, [row], {
    line_items: true,
    prices: true,
    customer: true,
    plan: { at: isoTime(deps.clock.now()) },
  });
  return { ...subscription!, latest_invoice: await latestInvoice(deps.pool, scope, row) };
}

/** A subscription with only the requested records embedded. 404 if unknown. */
export async function readSubscriptionV2(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  id: string,
  expand: ReadonlySet<string>,
): Promise<SubscriptionV2> {
  const row = await getStoredSubscription(deps.pool, scope, id);
  const embed = {
    line_items: expand.has('subscription_line_items'),
    prices: expand.has('prices'),
    customer: expand.has('customer'),
    ...(expand.has('plan') ? { plan: { at: isoTime(deps.clock.now()) } } : {}),
  };
  const [[subscription], unsynced] = await Promise.all([
    subscriptionAnswers(deps.pool, scope, [row], embed),
    isBehindPlan(deps.pool, scope, row),
  ]);
  return { ...subscription!, latest_invoice: null, plan_prices_out_of_sync: unsynced };
}

async function latestInvoice(db: Db, scope: Scope, row: SubscriptionRow) {
  const invoice = await findLatestInvoice(db, scope, row.id);
  if (invoice === null) return null;
  const [answer] = await invoiceAnswers(db, scope, [invoice], { line_items: true });
  return answer!;
}

type SubscriptionFilter = z.output<typeof SubscriptionSearch.body>;

/** Active subscriptions unless a status is requested, with the requested records embedded. */
export async function listSubscriptions(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  filter: SubscriptionFilter,
): Promise<Page<Subscription>> {
  const { pool: db } = deps;
  const { search } = filter;
  const statuses = filter.subscription_status?.length ? filter.subscription_status : ['active'];
  const where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
    and subscription_status = any(${statuses as string[]})
    ${filter.subscription_ids?.length ? db`and id = any(${filter.subscription_ids})` : db``}
    ${filter.customer_id ? db`and customer_id = ${filter.customer_id}` : db``}
    ${filter.customer_ids?.length ? db`and customer_id = any(${filter.customer_ids})` : db``}
    ${
      filter.external_customer_id
        ? db`and customer_id in (select id from customers c where ${inScope(db, scope, 'c')}
              and c.external_id = ${filter.external_customer_id})`
        : db``
    }
    ${filter.invoicing_customer_ids?.length ? db`and invoicing_customer_id = any(${filter.invoicing_customer_ids})` : db``}
    ${filter.parent_subscription_ids?.length ? db`and parent_subscription_id = any(${filter.parent_subscription_ids})` : db``}
    ${filter.plan_id ? db`and plan_id = ${filter.plan_id}` : db``}
    ${filter.lookup_key ? db`and lookup_key = ${filter.lookup_key}` : db``}
    ${filter.subscription_type?.length ? db`and subscription_type = any(${filter.subscription_type as string[]})` : db``}
    ${filter.billing_period?.length ? db`and billing_period = any(${filter.billing_period as string[]})` : db``}
    ${
      filter.active_at
        ? db`and start_date <= ${filter.active_at} and (end_date is null or end_date > ${filter.active_at})`
        : db``
    }
    ${filter.trial_end_due_lte ? db`and trial_end <= ${filter.trial_end_due_lte}` : db``}
    ${filter.effective_date_for_update ? db`and current_period_end <= ${filter.effective_date_for_update}` : db``}`;
  const page = await searchSubscriptions(db, where, search);
  const { expand } = search;
  const items = await subscriptionAnswers(db, scope, page.items, {
    line_items: filter.with_line_items === true || expand.has('subscription_line_items'),
    prices: expand.has('prices'),
    customer: expand.has('customer'),
    plan: { at: isoTime(deps.clock.now()) },
  });
  return { ...page, items };
}
