import type { EarlierApplication } from '../../../domain/invoicing/coupon-association.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { LineItemRow, SubscriptionRow } from '../../../schemas/subscription.ts';
import { priceTerms, type PriceTerms } from '../../../domain/pricing/price.ts';
import { payerOf, type PooledCustomer } from '../../../domain/subscription/hierarchy.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import {
  meterVersionsOf,
  type MeterVersionRecord,
} from '../../../postgres/tables/meter-versions.ts';
import {
  findCouponAssociationsOf,
  type StoredCouponAssociation,
} from '../../catalog/coupons/repository.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import { datedSources, type DatedSource } from '../../catalog/entitlements/entitlement-sources.ts';
import { findFeatures } from '../../catalog/features/repository.ts';
import { findOwnedTaxes, type OwnedTaxAssociation } from '../../catalog/taxes/repository.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { findPrices, type PriceRow } from '../../catalog/prices/repository.ts';
import { pausedTimes } from '../records/pause-repository.ts';
import { pooledCustomers } from '../records/child-repository.ts';
import { lineItemsOf } from '../records/subscription-repository.ts';
import { billedServices, type BilledService } from '../records/invoice-line-repository.ts';
import { committedUsage, couponUses } from '../records/subscription-invoice-repository.ts';
import type { CommittedUsage } from '../../../schemas/invoice.ts';
import { findPlanRows } from '../../catalog/offers/plan-repository.ts';

/** A line item with the price that rates it. */
export interface BilledLine extends LineItemRow {
  readonly price: PriceRow;
  readonly terms: PriceTerms;
}

/** An entitlement with the meter of its feature. */
export interface MeterEntitlement extends DatedSource {
  readonly meter_id: string;
}

/** An entry of the ledger of commitments, with the invoice that stores it. */
export type StoredCommittedUsage = CommittedUsage & { readonly invoice_id: string };

/** Everything that a page of subscriptions is billed from, read once for all of them. */
export interface BillingSources {
  /** In invoice order. */
  readonly lines: ReadonlyMap<string, readonly BilledLine[]>;
  readonly customers: ReadonlyMap<string, Customer>;
  /** Newest first. */
  readonly meterVersions: ReadonlyMap<string, readonly MeterVersionRecord[]>;
  /** Of metered features, by subscription, with their earlier states. */
  readonly entitlements: ReadonlyMap<string, readonly MeterEntitlement[]>;
  /** By subscription, in the order in which discounts apply. */
  readonly coupons: ReadonlyMap<string, readonly StoredCouponAssociation[]>;
  /** Invoices that used the coupons, by subscription. Read only if one of the coupons counts once. */
  readonly couponUses: ReadonlyMap<string, readonly EarlierApplication[]>;
  /** Taxes of the subscriptions, their customers and the tenant. */
  readonly taxes: readonly OwnedTaxAssociation[];
  /** Usage of earlier periods, by subscription. Read only for commitments of several billing periods. */
  readonly committedUsage: ReadonlyMap<string, readonly StoredCommittedUsage[]>;
  /** Names of the plans. Read only for subscriptions with a commitment of their own. */
  readonly planNames: ReadonlyMap<string, string>;
  /** When the subscriptions were or are paused, in order of time. */
  readonly pauses: ReadonlyMap<string, readonly PausedTime[]>;
  /** Customers whose usage counts for a subscription in addition to that of its customer. */
  readonly pools: ReadonlyMap<string, readonly PooledCustomer[]>;
  /** Services that a living invoice already charges, by line item. */
  readonly billed: ReadonlyMap<string, readonly BilledService[]>;
}

/**
 * Reads the billing sources of the subscriptions: about fifteen statements, however many subscriptions there
 * are, each sent as soon as what it asks about is known. `from` is the earliest service that may be charged;
 * null: only usage is rated, so that `taxes` and `billed` stay empty. A subscription may be given once for each of
 * its invoices; its sources are there once.
 */
export async function readBillingSources(
  db: Db,
  scope: Scope,
  given: readonly SubscriptionRow[],
  from: string | null,
): Promise<BillingSources> {
  const subscriptions = [...new Map(given.map((row) => [row.id, row])).values()];
  const ids = subscriptions.map(({ id }) => id);
  const customerIds = [...new Set(subscriptions.flatMap((row) => [row.customer_id, payerOf(row)]))];
  const [lines, customers, billed, entitlements, coupons, taxes, pauses, pools] = await Promise.all(
    [
      linesOf(db, scope, ids),
      findCustomers(db, scope, customerIds),
      from === null ? [] : billedServices(db, scope, ids, from),
      meterEntitlements(db, scope, subscriptions),
      couponsOf(db, scope, ids),
      from === null
        ? []
        : findOwnedTaxes(db, scope, { subscription_ids: ids, customer_ids: customerIds }),
      pausedTimes(db, scope, ids),
      pooledCustomers(db, scope, ids),
    ],
  );
  const { priced, versions } = lines;
  return {
    lines: groupBy(priced, ({ subscription_id }) => subscription_id),
    customers: new Map(customers.map((customer) => [customer.id, customer])),
    meterVersions: groupBy(versions, ({ meter_id }) => meter_id),
    entitlements: groupBy(entitlements, ({ subscription_id }) => subscription_id),
    coupons: groupBy(coupons.associations, ({ subscription_id }) => subscription_id),
    ...(await commitmentSources(db, scope, subscriptions, priced)),
    couponUses: groupBy(coupons.uses, ({ subscription_id }) => subscription_id),
    taxes,
    pauses,
    pools: groupBy(pools, ({ parent_subscription_id }) => parent_subscription_id),
    billed: groupBy(billed, ({ subscription_line_item_id: line }) => line),
  };
}

/** The line items with their prices, and the versions of their meters. */
async function linesOf(db: Db, scope: Scope, ids: readonly string[]) {
  const lineItems = await lineItemsOf(db, scope, ids);
  const meterIds = [...new Set(lineItems.flatMap(({ meter_id }) => meter_id ?? []))];
  const [priced, versions] = await Promise.all([
    withPrices(db, scope, lineItems),
    meterVersionsOf(db, scope, meterIds),
  ]);
  return { priced, versions };
}

async function couponsOf(db: Db, scope: Scope, ids: readonly string[]) {
  const associations = await findCouponAssociationsOf(db, scope, ids);
  const once = associations.filter(({ coupon }) => coupon?.cadence === 'once');
  const uses = await couponUses(
    db,
    scope,
    once.map(({ subscription_id }) => subscription_id),
  );
  return { associations, uses };
}

/** What only commitments need: two statements, none without commitments. */
async function commitmentSources(
  db: Db,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
  lines: readonly BilledLine[],
): Promise<Pick<BillingSources, 'committedUsage' | 'planNames'>> {
  const committed = subscriptions.filter(({ commitment_amount }) => commitment_amount !== null);
  const withTerm = [
    ...committed.filter(({ commitment_duration }) => commitment_duration !== null),
    ...lines
      .filter(({ commitment_duration }) => commitment_duration !== null)
      .map(({ subscription_id }) => ({ id: subscription_id })),
  ];
  const ids = [...new Set(withTerm.map(({ id }) => id))];
  const [usage, plans] = await Promise.all([
    ids.length === 0 ? [] : committedUsage(db, scope, ids),
    findPlanRows(db, scope, [...new Set(committed.map(({ plan_id }) => plan_id))]),
  ]);
  return {
    committedUsage: groupBy(usage, ({ subscription_id }) => subscription_id),
    planNames: new Map(plans.map(({ id, name }) => [id, name])),
  };
}

async function meterEntitlements(
  db: Db,
  scope: Scope,
  subscriptions: readonly SubscriptionRow[],
): Promise<MeterEntitlement[]> {
  const all = await datedSources(db, scope, subscriptions);
  const metered = all.filter(({ entitlement }) => entitlement.feature_type === 'metered');
  const features = await findFeatures(db, scope, [
    ...new Set(metered.map(({ entitlement }) => entitlement.feature_id)),
  ]);
  const meterOf = new Map(features.map(({ id, meter_id }) => [id, meter_id]));
  return metered.flatMap((source) => {
    const meter_id = meterOf.get(source.entitlement.feature_id) ?? null;
    return meter_id === null ? [] : [{ ...source, meter_id }];
  });
}

/** Line items with their prices, each price read and parsed once. */
export async function withPrices(
  db: Db,
  scope: Scope,
  lineItems: readonly LineItemRow[],
): Promise<BilledLine[]> {
  const priceIds = [...new Set(lineItems.map(({ price_id }) => price_id))];
  const prices = await findPrices(db, scope, priceIds);
  const byId = new Map(prices.map((price) => [price.id, { price, terms: priceTerms(price) }]));
  return lineItems.map((line) => ({ ...line, ...byId.get(line.price_id)! }));
}
