import { alreadyExists } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { PriceUnit } from '../../../schemas/price-unit.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const priceUnits = tableOf<PriceUnit>({
  name: 'price_units',
  noun: 'Price unit',
  columns: (db) => db`
  id, tenant_id, environment_id, name, code, symbol, base_currency, conversion_rate, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
  taken: { price_units_code_key: ({ code }) => alreadyExists('price unit', 'code', code ?? '') },
});

/** The price unit, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getPriceUnit = priceUnits.get;

/** Price units of the scope with these ids, unordered. */
export const findPriceUnits = priceUnits.find;
export const insertPriceUnit = priceUnits.insert;
export const updatePriceUnitRow = priceUnits.change;

/** The published unit with the code, or null. */
export async function publishedUnitByCode(
  db: Db,
  scope: Scope,
  code: string,
): Promise<PriceUnit | null> {
  const [row] = await db<PriceUnit[]>`
    select ${priceUnits.columns(db)} from price_units
     where ${inScope(db, scope)} and code = ${code.toLowerCase()} and status = 'published'`;
  return row ?? null;
}

/** Leaves out archived units unless a status is requested. */
export function searchPriceUnits(
  db: Db,
  scope: Scope,
  filter: { price_unit_ids?: string[] | null; code?: string | null; search: Search },
): Promise<Page<PriceUnit>> {
  const { price_unit_ids, code, search } = filter;
  return findPage<PriceUnit>(db, {
    columns: priceUnits.columns(db),
    from: db`price_units`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${price_unit_ids?.length ? db`and id = any(${price_unit_ids})` : db``}
      ${code ? db`and code = ${code.toLowerCase()}` : db``}`,
    search,
  });
}
