import type postgres from 'postgres';
import type { Db } from './client.ts';

/**
 * A value as a parameter of type jsonb. The driver's own type of JSON refuses interfaces, because they
 * have no index signature.
 */
export const jsonOf = (db: Db, value: unknown): postgres.Parameter => db.json(value as never);

/** The columns and values of a row, for `insert into t ${…}` and `update t set ${…}`. */
export const columnsOf = (db: Db, row: object): postgres.Helper<object> =>
  db(row as Record<string, string>);
