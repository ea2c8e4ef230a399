import type { z } from 'zod';
import { alreadyExists, notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Costsheet, costsheetFields } from '../../../schemas/costsheet.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { findPricesOfEntities, priceAnswers } from '../prices/repository.ts';

/** A costsheet as stored, without its prices. */
export type CostsheetRow = z.infer<z.ZodObject<typeof costsheetFields>>;

const costsheets = tableOf<CostsheetRow>({
  name: 'costsheets',
  noun: 'Costsheet',
  columns: (db) => db`
  id, tenant_id, environment_id, name, lookup_key, description, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
  taken: {
    costsheets_name_key: ({ name }) => alreadyExists('costsheet', 'name', name ?? ''),
    costsheets_lookup_key_key: ({ lookup_key }) =>
      alreadyExists('costsheet', 'lookup_key', lookup_key ?? ''),
  },
});

/** The costsheet, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getCostsheet = costsheets.get;
export const lockCostsheet = costsheets.lock;
export const insertCostsheet = costsheets.insert;
export const updateCostsheetRow = costsheets.change;

/** The newest published costsheet (money 13.1). 404 if not found. */
export async function getActiveCostsheet(db: Db, scope: Scope): Promise<CostsheetRow> {
  const [row] = await db<CostsheetRow[]>`
    select ${costsheets.columns(db)} from costsheets
     where ${inScope(db, scope)} and status = 'published'
     order by created_at desc, id desc
     limit 1`;
  if (row === undefined) throw notFound('Costsheet', 'active');
  return row;
}

export interface CostsheetFilter {
  readonly costsheet_ids?: string[] | null;
  readonly name?: string | null;
  readonly lookup_key?: string | null;
  readonly lookup_keys?: string[] | null;
  /** Older names of the two fields above. */
  readonly costsheetIDs?: string[] | null;
  readonly lookupKey?: string | null;
  readonly search: Search;
}

/** Includes deleted costsheets unless a status is requested. */
export async function searchCostsheets(
  db: Db,
  scope: Scope,
  filter: CostsheetFilter,
): Promise<Page<Costsheet>> {
  const { search } = filter;
  const ids = filter.costsheet_ids?.length ? filter.costsheet_ids : filter.costsheetIDs;
  const lookupKey = filter.lookup_key || filter.lookupKey;
  const page = await findPage<CostsheetRow>(db, {
    columns: costsheets.columns(db),
    from: db`costsheets`,
    where: db`${inScope(db, scope)}
      ${search.status === null ? db`` : db`and status = ${search.status}`}
      ${ids?.length ? db`and id = any(${ids})` : db``}
      ${filter.name ? db`and name = ${filter.name}` : db``}
      ${lookupKey ? db`and lookup_key = ${lookupKey}` : db``}
      ${filter.lookup_keys?.length ? db`and lookup_key = any(${filter.lookup_keys})` : db``}`,
    search,
  });
  const items = search.expand.has('prices')
    ? await withPrices(db, scope, page.items)
    : page.items.map((row) => ({ ...row, prices: null }));
  return { ...page, items };
}

/** Costsheets as answered, in the same order, with every version of their published prices, newest first. */
export async function withPrices(
  db: Db,
  scope: Scope,
  rows: readonly CostsheetRow[],
): Promise<Costsheet[]> {
  const ids = rows.map((row) => row.id);
  const priceRows = await findPricesOfEntities(db, scope, 'COSTSHEET', ids, null);
  const prices = await priceAnswers(db, scope, priceRows, { meter: true });
  return rows.map((row) => ({
    ...row,
    prices: prices.filter((price) => price.entity_id === row.id),
  }));
}
