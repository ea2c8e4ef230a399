import { notFound } from '../domain/errors.ts';
import {
  inScope,
  oneOf,
  violatedConstraint,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from './client.ts';
import { columnsOf, jsonOf } from './parameters.ts';

/** What a repository declares about its table. */
export interface TableDefinition<Row> {
  readonly name: string;
  /** Name of one row in a refusal, for example `Coupon`. */
  readonly noun: string;
  /** The columns of a row as read. */
  columns(db: Db): Fragment;
  /** Columns of type jsonb. Their values are passed unconverted. */
  readonly json: readonly (keyof Row & string)[];
  /** `published`: rows with another status count as unknown. Absent means rows of every status. */
  readonly only?: 'published';
  /** The refusal for a violated unique constraint, by the constraint's name. */
  readonly taken?: Readonly<Record<string, (row: Partial<Row>) => Error>>;
}

/** The statements that every table of tenant data needs. Each is limited to the given scope. */
export interface Table<Row, New = Row> {
  readonly columns: TableDefinition<Row>['columns'];
  /** The rows with these ids, unordered. Leaves out unknown ids and those of other scopes. */
  find(db: Db, scope: Scope, ids: readonly string[]): Promise<Row[]>;
  /** The rows whose column has one of these values. `order` lists columns for `order by`. */
  findBy(
    db: Db,
    scope: Scope,
    column: keyof Row & string,
    values: readonly string[],
    order: Fragment,
  ): Promise<Row[]>;
  /** The row. 404 if the id is unknown or belongs to another scope. */
  get(db: Db, scope: Scope, id: string): Promise<Row>;
  /** The row, locked until the transaction ends. 404 as for `get`. */
  lock(tx: Transaction, scope: Scope, id: string): Promise<Row>;
  /** Inserts the row and returns it as read. 409 as defined in `taken`. */
  insert(tx: Transaction, row: New): Promise<Row>;
  /**
   * Changes the given columns; undefined ones, and null metadata, stay unchanged. `also` is a further
   * assignment, including its comma. 404 as for `get`, 409 as for `insert`.
   */
  change(
    tx: Transaction,
    scope: Scope,
    id: string,
    changes: Partial<Row> & Partial<New>,
    also?: Fragment,
  ): Promise<Row>;
}

export function tableOf<Row extends object, New extends Partial<Row> = Row>(
  definition: TableDefinition<Row>,
): Table<Row, New> {
  const { name, noun, columns, json, taken = {} } = definition;

  const within = (db: Db, scope: Scope): Fragment =>
    definition.only === undefined
      ? db`${inScope(db, scope)}`
      : db`${inScope(db, scope)} and status = 'published'`;

  const refused = (error: unknown, row: Partial<Row>): unknown =>
    taken[violatedConstraint(error) ?? '']?.(row) ?? error;

  const find = async (db: Db, scope: Scope, ids: readonly string[]): Promise<Row[]> =>
    ids.length === 0
      ? []
      : await db<Row[]>`
          select ${columns(db)} from ${db(name)}
           where ${within(db, scope)} and id ${oneOf(db, ids)}`;

  const one = (rows: readonly Row[], id: string): Row => {
    const [row] = rows;
    if (row === undefined) throw notFound(noun, id);
    return row;
  };

  return {
    columns,
    find,
    findBy: async (db, scope, column, values, order) =>
      values.length === 0
        ? []
        : await db<Row[]>`
            select ${columns(db)} from ${db(name)}
             where ${within(db, scope)} and ${db(column as string)} ${oneOf(db, values)}
             order by ${order}`,
    get: async (db, scope, id) => one(await find(db, scope, [id]), id),
    async lock(tx, scope, id) {
      const rows = await tx<Row[]>`
        select ${columns(tx)} from ${tx(name)}
         where ${within(tx, scope)} and id = ${id}
           for update`;
      return one(rows, id);
    },
    async insert(tx, row) {
      try {
        const [inserted] = await tx<Row[]>`
          insert into ${tx(name)} ${columnsOf(tx, asWritten(tx, row, json))}
          returning ${columns(tx)}`;
        return inserted!;
      } catch (error) {
        throw refused(error, row);
      }
    },
    async change(tx, scope, id, changes, also = tx``) {
      try {
        const rows = await tx<Row[]>`
          update ${tx(name)} set ${columnsOf(tx, asWritten(tx, changes, json))} ${also}
           where ${within(tx, scope)} and id = ${id}
          returning ${columns(tx)}`;
        return one(rows, id);
      } catch (error) {
        throw refused(error, changes);
      }
    },
  };
}

/** Values of jsonb columns as parameters of that type; null becomes the SQL null. */
function asWritten<Row extends object>(
  tx: Transaction,
  row: Partial<Row>,
  json: readonly (keyof Row & string)[],
): Record<string, unknown> {
  const written: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(row)) {
    if (value === undefined || (column === 'metadata' && value === null)) continue;
    const isJson = value !== null && json.includes(column as keyof Row & string);
    written[column] = isJson ? jsonOf(tx, value) : value;
  }
  return written;
}

/** Rows by their id. */
export const byId = <Row extends { readonly id: string }>(
  rows: readonly Row[],
): ReadonlyMap<string, Row> => new Map(rows.map((row) => [row.id, row]));
