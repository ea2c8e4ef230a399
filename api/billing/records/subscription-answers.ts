import type { Db, Scope } from '../../../postgres/client.ts';
import {
  lineItemFields,
  subscriptionFields,
  type EmbeddedSubscription,
  type LineItemRow,
  type SubscriptionLineItem,
  type SubscriptionRow,
} from '../../../schemas/subscription.ts';
import {
  couponAssociationAnswer,
  findCouponAssociationsOf,
} from '../../catalog/coupons/repository.ts';
import { findCreditGrantsOf } from '../../catalog/credit-grants/repository.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { picked } from '../../conventions/picked.ts';
import { findPlanRows } from '../../catalog/offers/plan-repository.ts';
import { planAnswers } from '../../catalog/plans/repository.ts';
import { findPrices, priceAnswers } from '../../catalog/prices/repository.ts';
import { findPausesOf } from './pause-repository.ts';
import { findPhasesOf } from './phase-repository.ts';
import { lineItemsOf } from './subscription-repository.ts';

export interface SubscriptionEmbeds {
  readonly line_items?: boolean;
  /** Prices inside the line items. */
  readonly prices?: boolean;
  readonly customer?: boolean;
  /** The plan with the prices that have not ended by this time. */
  readonly plan?: { readonly at: string };
}

/** Subscriptions as answered, in the same order, with the requested records embedded. */
export async function subscriptionAnswers(
  db: Db,
  scope: Scope,
  rows: readonly SubscriptionRow[],
  embed: SubscriptionEmbeds,
): Promise<EmbeddedSubscription[]> {
  const ids = (wanted: boolean, idOf: (row: SubscriptionRow) => string): string[] =>
    wanted ? [...new Set(rows.map(idOf))] : [];
  const [lineItems, customers, plans, associations, grants, phases, pauses] = await Promise.all([
    embed.line_items === true
      ? lineItemAnswers(
          db,
          scope,
          await lineItemsOf(
            db,
            scope,
            ids(true, ({ id }) => id),
          ),
          embed,
        )
      : null,
    findCustomers(
      db,
      scope,
      ids(embed.customer === true, (row) => row.customer_id),
    ),
    plansOf(
      db,
      scope,
      ids(embed.plan !== undefined, (row) => row.plan_id),
      embed.plan?.at ?? '',
    ),
    findCouponAssociationsOf(
      db,
      scope,
      ids(true, ({ id }) => id),
    ),
    findCreditGrantsOf(
      db,
      scope,
      'subscription_id',
      ids(true, ({ id }) => id),
    ),
    findPhasesOf(
      db,
      scope,
      ids(true, ({ id }) => id),
    ),
    findPausesOf(
      db,
      scope,
      ids(true, ({ id }) => id),
    ),
  ]);
  const pausesBySubscription = groupBy(pauses, ({ subscription_id }) => subscription_id);
  const phasesBySubscription = groupBy(phases, ({ subscription_id }) => subscription_id);
  const grantsBySubscription = groupBy(grants, ({ subscription_id }) => subscription_id!);
  const couponsBySubscription = groupBy(associations, ({ subscription_id }) => subscription_id);
  const linesBySubscription = groupBy(lineItems ?? [], (line) => line.subscription_id);
  return rows.map((row) => ({
    ...shown(row),
    coupon_associations: (couponsBySubscription.get(row.id) ?? []).map(couponAssociationAnswer),
    credit_grants: grantsBySubscription.get(row.id) ?? [],
    phases: phasesBySubscription.get(row.id) ?? [],
    pauses: pausesBySubscription.get(row.id) ?? [],
    line_items: lineItems === null ? null : (linesBySubscription.get(row.id) ?? []),
    customer: customers.find(({ id }) => id === row.customer_id) ?? null,
    plan: plans.find(({ id }) => id === row.plan_id) ?? null,
  }));
}

/** Fields of every answer, with or without embedded records. */
const shown = (row: SubscriptionRow) => ({
  ...picked(subscriptionFields, row),
  timezone: row.customer_timezone,
  synced_price_sequence: Number(row.synced_price_sequence),
  include_price_ids: row.include_price_ids,
  entitlements: null,
  auto_invoice_threshold: null,
  checkout_session: null,
  latest_invoice: null,
});

async function plansOf(db: Db, scope: Scope, ids: readonly string[], at: string) {
  const rows = await findPlanRows(db, scope, ids);
  return await planAnswers(db, scope, rows, { prices: { notEndedAt: at }, meters: true });
}

/** Line items as answered, in the same order. */
export async function lineItemAnswers(
  db: Db,
  scope: Scope,
  rows: readonly LineItemRow[],
  embed: Pick<SubscriptionEmbeds, 'prices'>,
): Promise<SubscriptionLineItem[]> {
  const priceIds = embed.prices === true ? [...new Set(rows.map((row) => row.price_id))] : [];
  const prices = await priceAnswers(db, scope, await findPrices(db, scope, priceIds), {});
  const byId = new Map(prices.map((price) => [price.id, price]));
  return rows.map((row) => ({
    ...picked(lineItemFields, row),
    trial_period_days: row.trial_period,
    price: byId.get(row.price_id) ?? null,
    meter: null,
  }));
}
