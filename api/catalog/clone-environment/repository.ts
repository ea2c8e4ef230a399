import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnsOf, jsonOf } from '../../../postgres/parameters.ts';

/** Whether the table has a published row in the environment. */
export async function hasPublishedRow(db: Db, scope: Scope, table: string): Promise<boolean> {
  const [row] = await db`
    select 1 from ${db(table)} where ${inScope(db, scope)} and status = 'published' limit 1`;
  return row !== undefined;
}

/** Published rows of the table with all columns, oldest first, without prices that ended by `now`. */
export async function findRowsToCopy(
  db: Db,
  scope: Scope,
  table: string,
  now: string,
): Promise<Record<string, unknown>[]> {
  return await db<Record<string, unknown>[]>`
    select * from ${db(table)}
     where ${inScope(db, scope)} and status = 'published'
       ${table === 'prices' ? db`and (end_date is null or end_date > ${now})` : db``}
     order by created_at, id`;
}

/** Inserts the row. An object becomes jsonb. */
export async function insertCopy(
  tx: Transaction,
  table: string,
  row: Readonly<Record<string, unknown>>,
): Promise<void> {
  const written = Object.entries(row).map(([column, value]) => [
    column,
    isJson(value) ? jsonOf(tx, value) : value,
  ]);
  await tx`insert into ${tx(table)} ${columnsOf(tx, Object.fromEntries(written) as object)}`;
}

const isJson = (value: unknown): boolean => typeof value === 'object' && value !== null;
