import { alreadyExists, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  oneOf,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { PriceUnit } from '../../../schemas/price-unit.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const columns = (db: Db) => db`
  id, tenant_id, environment_id, name, code, symbol, base_currency, conversion_rate, metadata, status,
  created_at, updated_at, created_by, updated_by`;

/** The unit, archived ones included. 404 for a missing and for another scope's. */
export async function findPriceUnit(db: Db, scope: Scope, id: string): Promise<PriceUnit> {
  const [row] = await findPriceUnits(db, scope, [id]);
  if (row === undefined) throw notFound('Price unit', id);
  return row;
}

/** Those of the units that exist in the scope, in no order. */
export async function findPriceUnits(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<PriceUnit[]> {
  if (ids.length === 0) return [];
  return await db<PriceUnit[]>`
    select ${columns(db)} from price_units
     where ${inScope(db, scope)} and id ${oneOf(db, ids)}`;
}

/** The published unit with the code, or null. */
export async function publishedUnitByCode(
  db: Db,
  scope: Scope,
  code: string,
): Promise<PriceUnit | null> {
  const [row] = await db<PriceUnit[]>`
    select ${columns(db)} from price_units
     where ${inScope(db, scope)} and code = ${code.toLowerCase()} and status = 'published'`;
  return row ?? null;
}

/** Archived units are left out unless a status is asked for. */
export function searchPriceUnits(
  db: Db,
  scope: Scope,
  filter: { price_unit_ids?: string[] | null; code?: string | null; search: Search },
): Promise<Page<PriceUnit>> {
  const { price_unit_ids, code, search } = filter;
  return findPage<PriceUnit>(db, {
    columns: columns(db),
    from: db`price_units`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${price_unit_ids?.length ? db`and id = any(${price_unit_ids})` : db``}
      ${code ? db`and code = ${code.toLowerCase()}` : db``}`,
    search,
  });
}

export async function insertPriceUnit(tx: Transaction, unit: PriceUnit): Promise<PriceUnit> {
  try {
    await tx`insert into price_units ${tx({ ...unit, metadata: tx.json(unit.metadata) })}`;
    return unit;
  } catch (error) {
    throw violatedConstraint(error) === 'price_units_code_key'
      ? alreadyExists('price unit', 'code', unit.code)
      : error;
  }
}

export async function updatePriceUnitRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<PriceUnit>,
): Promise<PriceUnit> {
  const { metadata, ...rest } = changes;
  const [row] = await tx<PriceUnit[]>`
    update price_units set ${tx({ ...rest, ...(metadata ? { metadata: tx.json(metadata) } : {}) } as never)}
     where ${inScope(tx, scope)} and id = ${id}
    returning ${columns(tx)}`;
  if (row === undefined) throw notFound('Price unit', id);
  return row;
}
