import { isoTime } from '../../../platform/clock.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { Page } from '../../../schemas/search.ts';
import type { Subscription, SubscriptionV2 } from '../../../schemas/subscription-answers.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';
import { entitlementsBySubscription } from '../granted-entitlements/granted-features.ts';
import { invoiceAnswers } from '../invoices/answers.ts';
import { findLatestInvoice } from '../records/subscription-invoice-repository.ts';
import { subscriptionAnswers } from '../records/subscription-answers.ts';
import {
  getStoredSubscription,
  getSubscription,
  searchSubscriptions,
  type SubscriptionFilter,
} from '../records/subscription-repository.ts';
import { isBehindPlan } from './plan-price-sync-repository.ts';

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
  const [[subscription], entitlements, unsynced] = await Promise.all([
    subscriptionAnswers(deps.pool, scope, [row], embed),
    entitlementsOf(deps, scope, [row], expand),
    isBehindPlan(deps.pool, scope, row),
  ]);
  return {
    ...subscription!,
    entitlements: entitlements(id),
    latest_invoice: null,
    plan_prices_out_of_sync: unsynced,
  };
}

async function latestInvoice(db: Db, scope: Scope, row: SubscriptionRow) {
  const invoice = await findLatestInvoice(db, scope, row.id);
  if (invoice === null) return null;
  const [answer] = await invoiceAnswers(db, scope, [invoice], { line_items: true });
  return answer!;
}

/** Active subscriptions unless a status is requested, with the requested records embedded. */
export async function listSubscriptions(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  filter: SubscriptionFilter,
): Promise<Page<Subscription>> {
  const { pool: db } = deps;
  const page = await searchSubscriptions(db, scope, filter);
  const { expand } = filter.search;
  const [items, entitlements] = await Promise.all([
    subscriptionAnswers(db, scope, page.items, {
      line_items: filter.with_line_items === true || expand.has('subscription_line_items'),
      prices: expand.has('prices'),
      customer: expand.has('customer'),
      plan: { at: isoTime(deps.clock.now()) },
    }),
    entitlementsOf(deps, scope, page.items, expand),
  ]);
  return {
    ...page,
    items: items.map((item) => ({ ...item, entitlements: entitlements(item.id) })),
  };
}

/** The entitlements of each subscription, by id, if they are requested. */
async function entitlementsOf(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  rows: readonly SubscriptionRow[],
  expand: ReadonlySet<string>,
): Promise<(id: string) => Subscription['entitlements']> {
  if (!expand.has('entitlements')) return () => null;
  const found = await entitlementsBySubscription(deps, scope, rows);
  return (id) => found.get(id) ?? null;
}
