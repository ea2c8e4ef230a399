import type postgres from 'postgres';
import type { Db, Fragment } from './client.ts';

/**
 * A value as a parameter of type jsonb. The driver's own type of JSON refuses interfaces, because they
 * have no index signature.
 */
export const jsonOf = (db: Db, value: unknown): postgres.Parameter => db.json(value as never);

/** The columns and values of a row, for `insert into t ${…}` and `update t set ${…}`. */
export const columnsOf = (db: Db, row: object): postgres.Helper<object> =>
  db(row as Record<string, string>);

/** The columns for `select …` and `returning …`, with the alias of a joined table if given. */
export const columnList = (db: Db, names: readonly string[], alias?: string): Fragment =>
  db`${db(names.map((name) => (alias === undefined ? name : `${alias}.${name}`)))}`;
