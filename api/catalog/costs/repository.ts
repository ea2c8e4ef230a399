import type { z } from 'zod';
import { alreadyExists, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Costsheet, costsheetFields } from '../../../schemas/costsheet.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { findPricesOfEntities, priceAnswers } from '../prices/repository.ts';

/** A costsheet as stored, without its prices. */
export type CostsheetRow = z.infer<z.ZodObject<typeof costsheetFields>>;

const columns = (db: Db) => db`
  id, tenant_id, environment_id, name, lookup_key, description, metadata, status,
  created_at, updated_at, created_by, updated_by`;

/** The costsheet, deleted ones included. 404 for a missing and for another scope's. */
export async function findCostsheet(db: Db, scope: Scope, id: string): Promise<CostsheetRow> {
  const [row] = await db<CostsheetRow[]>`
    select ${columns(db)} from costsheets where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Costsheet', id);
  return row;
}

/** The newest published costsheet (money-semantics 13.1). 404 when there is none. */
export async function findActiveCostsheet(db: Db, scope: Scope): Promise<CostsheetRow> {
  const [row] = await db<CostsheetRow[]>`
    select ${columns(db)} from costsheets
     where ${inScope(db, scope)} and status = 'published'
     order by created_at desc, id desc
     limit 1`;
  if (row === undefined) throw notFound('Costsheet', 'active');
  return row;
}

export async function lockCostsheet(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<CostsheetRow> {
  const [row] = await tx<CostsheetRow[]>`
    select ${columns(tx)} from costsheets
     where ${inScope(tx, scope)} and id = ${id}
       for update`;
  if (row === undefined) throw notFound('Costsheet', id);
  return row;
}

export interface CostsheetFilter {
  readonly costsheet_ids?: string[] | null;
  readonly name?: string | null;
  readonly lookup_key?: string | null;
  /** The same two by their older names. */
  readonly costsheetIDs?: string[] | null;
  readonly lookupKey?: string | null;
  readonly search: Search;
}

/** Deleted costsheets are found too unless a status is asked for. */
export async function searchCostsheets(
  db: Db,
  scope: Scope,
  filter: CostsheetFilter,
): Promise<Page<Costsheet>> {
  const { search } = filter;
  const ids = filter.costsheet_ids?.length ? filter.costsheet_ids : filter.costsheetIDs;
  const lookupKey = filter.lookup_key || filter.lookupKey;
  const page = await findPage<CostsheetRow>(db, {
    columns: columns(db),
    from: db`costsheets`,
    where: db`${inScope(db, scope)}
      ${search.status === null ? db`` : db`and status = ${search.status}`}
      ${ids?.length ? db`and id = any(${ids})` : db``}
      ${filter.name ? db`and name = ${filter.name}` : db``}
      ${lookupKey ? db`and lookup_key = ${lookupKey}` : db``}`,
    search,
  });
  const items = search.expand.has('prices')
    ? await withPrices(db, scope, page.items)
    : page.items.map((row) => ({ ...row, prices: null }));
  return { ...page, items };
}

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

export async function insertCostsheet(tx: Transaction, row: CostsheetRow): Promise<void> {
  try {
    await tx`insert into costsheets ${tx({ ...row, metadata: tx.json(row.metadata) })}`;
  } catch (error) {
    throw taken(error, row);
  }
}

export async function updateCostsheetRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<CostsheetRow>,
): Promise<CostsheetRow> {
  const { metadata, ...rest } = changes;
  try {
    const [row] = await tx<CostsheetRow[]>`
      update costsheets
         set ${tx({ ...rest, ...(metadata ? { metadata: tx.json(metadata) } : {}) } as never)}
       where ${inScope(tx, scope)} and id = ${id}
      returning ${columns(tx)}`;
    if (row === undefined) throw notFound('Costsheet', id);
    return row;
  } catch (error) {
    throw taken(error, changes);
  }
}

function taken(error: unknown, row: Partial<CostsheetRow>): unknown {
  const constraint = violatedConstraint(error);
  if (constraint === 'costsheets_name_key')
    return alreadyExists('costsheet', 'name', row.name ?? '');
  if (constraint === 'costsheets_lookup_key_key')
    return alreadyExists('costsheet', 'lookup_key', row.lookup_key ?? '');
  return error;
}
