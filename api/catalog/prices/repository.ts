import { z } from 'zod';
import { alreadyExists, notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { byId, tableOf } from '../../../postgres/table.ts';
import { priceFields, type Price } from '../../../schemas/price.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { findEmbeddedAddons } from '../offers/addon-repository.ts';
import { findFeaturesOfMeters, withEmbedded } from '../features/repository.ts';
import { findGroups } from '../groups/repository.ts';
import { findMeters } from '../meters/repository.ts';
import { findEmbeddedPlans } from '../offers/plan-repository.ts';
import { findPriceUnits } from '../price-units/repository.ts';

/** A price as stored, without embedded records. */
export type PriceRow = z.infer<z.ZodObject<typeof priceFields>>;

/** The inserted columns: all except those the database fills in and those that are aliases. */
export type NewPriceRow = Omit<PriceRow, 'sequence' | 'trial_period_days'>;

const prices = tableOf<PriceRow, NewPriceRow>({
  name: 'prices',
  noun: 'Price',
  columns: (db) => db`
  id, tenant_id, environment_id, type, billing_model, billing_period, billing_period_count,
  billing_cadence, invoice_cadence, currency, amount, display_amount, display_name, description,
  entity_type, entity_id, meter_id, filter_values, group_id, lookup_key, metadata, min_quantity,
  price_unit_type, price_unit, price_unit_id, price_unit_amount, price_unit_tiers,
  display_price_unit_amount, conversion_rate, tier_mode, tiers, transform_quantity, trial_period,
  trial_period as trial_period_days, bucket_size, start_date, end_date, parent_price_id,
  sequence::float8 as sequence, status, created_at, updated_at, created_by, updated_by`,
  json: ['filter_values', 'metadata', 'tiers', 'price_unit_tiers', 'transform_quantity'],
  taken: {
    prices_lookup_key_key: ({ lookup_key }) =>
      alreadyExists('price', 'lookup_key', lookup_key ?? ''),
  },
});

/** The price, including ended ones. 404 if it is unknown or belongs to another scope. */
export const getPrice = prices.get;

/** Prices of the scope with these ids, unordered. */
export const findPrices = prices.find;
export const lockPrice = prices.lock;
export const insertPrice = prices.insert;

/** Inserts a price that a transaction had inserted before it was rolled back. */
export const insertPriceAgain = (tx: Transaction, price: PriceRow): Promise<PriceRow> => {
  const stored = Object.entries(price).filter(([column]) => !READ_COLUMNS.has(column));
  return prices.insert(tx, Object.fromEntries(stored) as unknown as NewPriceRow);
};

/** Columns of a price that are read and not written. */
const READ_COLUMNS: ReadonlySet<string> = new Set(['trial_period_days', 'sequence']);

/**
 * Published prices of the entities, newest first: every version, or only those that have not ended by
 * `notEndedAt`.
 */
export async function findPricesOfEntities(
  db: Db,
  scope: Scope,
  entityType: PriceRow['entity_type'],
  entityIds: readonly string[],
  notEndedAt: string | null,
): Promise<PriceRow[]> {
  if (entityIds.length === 0) return [];
  return await db<PriceRow[]>`
    select ${prices.columns(db)} from prices
     where ${inScope(db, scope)}
       and entity_type = ${entityType}
       and entity_id = any(${entityIds as string[]})
       and status = 'published'
       ${notEndedAt === null ? db`` : db`and (end_date is null or end_date > ${notEndedAt})`}
     order by created_at desc, id desc`;
}

/** All versions of the lineages that plans and addons have, without the prices of subscriptions. */
export async function findVersionsOf(
  db: Db,
  scope: Scope,
  rootIds: readonly string[],
): Promise<PriceRow[]> {
  if (rootIds.length === 0) return [];
  return await db<PriceRow[]>`
    select ${prices.columns(db)} from prices
     where ${inScope(db, scope)}
       and parent_price_id = any(${rootIds as string[]})
       and entity_type <> 'SUBSCRIPTION'`;
}

/** The published price with the key that has no end. 404 if not found. */
export async function getPriceByLookupKey(db: Db, scope: Scope, key: string): Promise<PriceRow> {
  const [row] = await db<PriceRow[]>`
    select ${prices.columns(db)} from prices
     where ${inScope(db, scope)}
       and lookup_key = ${key} and status = 'published' and end_date is null`;
  if (row === undefined) throw notFound('Price', key);
  return row;
}

export interface PriceFilter {
  readonly price_ids?: string[] | null;
  readonly plan_ids?: string[] | null;
  readonly entity_ids?: string[] | null;
  readonly entity_type?: string | null;
  readonly subscription_id?: string | null;
  readonly meter_ids?: string[] | null;
  readonly parent_price_id?: string | null;
  readonly billing_periods?: string[] | null;
  readonly currency?: string | null;
  readonly type?: string | null;
  readonly start_date_lt?: string | null;
  readonly allow_expired_prices?: boolean | null;
  readonly search: Search;
}

/** Matching prices, without those that ended by `now` unless requested. */
export async function searchPrices(
  db: Db,
  scope: Scope,
  filter: PriceFilter,
  now: string,
): Promise<Page<Price>> {
  const { search } = filter;
  const page = await findPage<PriceRow>(db, {
    columns: prices.columns(db),
    from: db`prices`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filter.allow_expired_prices ? db`` : db`and (end_date is null or end_date > ${now})`}
      ${filter.price_ids?.length ? db`and id = any(${filter.price_ids})` : db``}
      ${filter.plan_ids?.length ? db`and entity_type = 'PLAN' and entity_id = any(${filter.plan_ids})` : db``}
      ${filter.entity_ids?.length ? db`and entity_id = any(${filter.entity_ids})` : db``}
      ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
      ${filter.subscription_id ? db`and entity_type = 'SUBSCRIPTION' and entity_id = ${filter.subscription_id}` : db``}
      ${filter.meter_ids?.length ? db`and meter_id = any(${filter.meter_ids})` : db``}
      ${filter.parent_price_id ? db`and parent_price_id = ${filter.parent_price_id}` : db``}
      ${filter.billing_periods?.length ? db`and billing_period = any(${filter.billing_periods})` : db``}
      ${filter.currency ? db`and currency = ${filter.currency.toLowerCase()}` : db``}
      ${filter.type ? db`and type = ${filter.type}` : db``}
      ${filter.start_date_lt ? db`and (start_date is null or start_date < ${filter.start_date_lt})` : db``}`,
    search,
  });
  const { expand } = search;
  const items = await priceAnswers(db, scope, page.items, {
    meter: expand.has('meters'),
    group: expand.has('groups'),
    pricing_unit: expand.has('priceunit'),
    plan: expand.has('plan'),
    addon: expand.has('addons'),
    features: expand.has('features'),
  });
  return { ...page, items };
}

export interface PriceEmbeds {
  readonly meter?: boolean;
  readonly group?: boolean;
  readonly pricing_unit?: boolean;
  readonly plan?: boolean;
  readonly addon?: boolean;
  readonly features?: boolean;
}

/** Prices as answered, in the same order, with the requested records embedded. */
export async function priceAnswers(
  db: Db,
  scope: Scope,
  rows: readonly PriceRow[],
  embed: PriceEmbeds,
): Promise<Price[]> {
  const ids = (wanted: boolean | undefined, idOf: (row: PriceRow) => string | null): string[] =>
    wanted === true ? [...new Set(rows.flatMap((row) => idOf(row) ?? []))] : [];
  const ofType = (type: PriceRow['entity_type']) => (row: PriceRow) =>
    row.entity_type === type ? row.entity_id : null;
  const meterIds = ids(embed.features, (row) => row.meter_id);
  const [meters, groups, units, plans, addons, featureRows] = await Promise.all([
    findMeters(
      db,
      scope,
      ids(embed.meter, (row) => row.meter_id),
    ).then(byId),
    findGroups(
      db,
      scope,
      ids(embed.group, (row) => row.group_id),
    ).then(byId),
    findPriceUnits(
      db,
      scope,
      ids(embed.pricing_unit, (row) => row.price_unit_id),
    ).then(byId),
    findEmbeddedPlans(db, scope, ids(embed.plan, ofType('PLAN'))).then(byId),
    findEmbeddedAddons(db, scope, ids(embed.addon, ofType('ADDON'))).then(byId),
    findFeaturesOfMeters(db, scope, meterIds),
  ]);
  const features = await withEmbedded(db, scope, featureRows, { meter: false });
  return rows.map((row) => ({
    ...row,
    meter: meters.get(row.meter_id ?? '') ?? null,
    group: groups.get(row.group_id ?? '') ?? null,
    pricing_unit: units.get(row.price_unit_id ?? '') ?? null,
    plan: plans.get(row.entity_id) ?? null,
    addon: addons.get(row.entity_id) ?? null,
    features:
      embed.features === true
        ? features.filter((feature) => feature.meter_id === row.meter_id)
        : null,
  }));
}

/**
 * Changes text, or sets the start or the end. Terms never change: a change of terms makes a version. An end takes the
 * next sequence number, so that subscriptions notice it.
 */
export async function updatePriceRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<
    Pick<
      PriceRow,
      | 'display_name'
      | 'description'
      | 'lookup_key'
      | 'metadata'
      | 'group_id'
      | 'start_date'
      | 'end_date'
      | 'updated_at'
      | 'updated_by'
    >
  >,
): Promise<PriceRow> {
  const isEnd = changes.end_date !== undefined;
  return await prices.change(tx, scope, id, changes, isEnd ? tx`, sequence = default` : tx``);
}
