import type { Db, Fragment, Transaction } from './client.ts';
import { jsonOf } from './parameters.ts';

/**
 * Inserts any number of rows as one parameter. A `values` list has a parameter for each value, and a
 * statement takes 65,534 of them: 1,500 line items of 43 columns. Every row has the keys of the first; other
 * columns take their defaults. Values of JSON columns are passed unconverted.
 */
export async function insertRows<Row extends object>(
  tx: Transaction,
  table: string,
  rows: readonly Row[],
): Promise<void> {
  if (rows.length > 0) await insertOf(tx, table, rows);
}

/** The statement of `insertRows`, for use as a part of another statement. */
export function insertOf<Row extends object>(
  db: Db,
  table: string,
  rows: readonly Row[],
): Fragment {
  const columns = Object.keys(rows[0]!);
  return db`
    insert into ${db(table)} (${db(columns)})
    select ${db(columns)}
      from jsonb_populate_recordset(null::${db(table)}, ${jsonOf(db, rows)})`;
}
