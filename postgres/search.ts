import type { FieldFilter, Page, Search } from '../schemas/search.ts';
import { inScope, type Db, type Fragment, type Scope } from './client.ts';

export interface PageQuery {
  readonly columns: Fragment;
  /** The table, with an alias if joined tables share column names. */
  readonly from: Fragment;
  /** The scope and the resource's own conditions; the search's own conditions are added here. */
  readonly where: Fragment;
  readonly search: Search;
  /** Alias of the table that the searched fields belong to. */
  readonly alias?: string;
  /** Fields that are never null: an index on them serves both sort directions. */
  readonly neverNull?: readonly string[];
  /** Set if `where` is only the scope and the search's status, on a table with counters. */
  readonly counted?: { readonly table: CountedTable; readonly scope: Scope } | null;
}

/** Tables whose records triggers count on every write (`record_counts`). */
export type CountedTable = 'customers';

/** From this offset on, the ids of a page are found in the index before its rows are fetched. */
const DEEP_OFFSET = 1_000;

/**
 * One page of a search and the exact total of its rows. Newest first unless sorted otherwise, and always with
 * the id last, so that pages never overlap. A page that is not full gives the total; a list of a whole scope
 * takes it from counters; any other search counts.
 * Column names come from the resource's allow-list, never from the request.
 */
export async function findPage<Row extends object>(db: Db, query: PageQuery): Promise<Page<Row>> {
  const { columns, from, search, alias } = query;
  const where = db`${query.where} ${searchConditions(db, search, alias)}`;
  const order = searchOrder(db, search, alias, query.neverNull);
  const id = columnOf(db, alias)('id');
  const part = db`order by ${order} limit ${search.limit} offset ${search.offset}`;
  const items =
    search.offset < DEEP_OFFSET
      ? await db<Row[]>`select ${columns} from ${from} where ${where} ${part}`
      : await db<Row[]>`
          select ${columns} from ${from}
           where ${query.where} and ${id} in (select ${id} from ${from} where ${where} ${part})
           order by ${order}`;
  const isLast = items.length < search.limit && (items.length > 0 || search.offset === 0);
  const total = isLast ? search.offset + items.length : await countMatches(db, query, where);
  return {
    items: [...items] as Row[],
    pagination: { total, limit: search.limit, offset: search.offset + search.limit },
  };
}

async function countMatches(db: Db, query: PageQuery, where: Fragment): Promise<number> {
  const { search, from, counted } = query;
  const hasConditions =
    search.filters.length > 0 || search.start_time !== null || search.end_time !== null;
  const [row] =
    counted == null || hasConditions
      ? await db<{ total: string }[]>`select count(*) as total from ${from} where ${where}`
      : await db<{ total: string }[]>`
          select coalesce(sum(${countedStatus(db, search.status)}), 0)::bigint as total
            from record_counts
           where table_name = ${counted.table} and ${inScope(db, counted.scope)}`;
  return Number(row!.total);
}

function countedStatus(db: Db, status: Search['status']): Fragment {
  return status === null ? db`published + archived + deleted` : db`${db(status)}`;
}

/**
 * ` and …` for `filters`, `start_time` and `end_time`. `status` is left to the resource: its default differs.
 */
export function searchConditions(db: Db, search: Search, alias?: string): Fragment {
  const column = columnOf(db, alias);
  let conditions = db``;
  if (search.start_time !== null)
    conditions = db`${conditions} and ${column('created_at')} >= ${search.start_time}`;
  if (search.end_time !== null)
    conditions = db`${conditions} and ${column('created_at')} < ${search.end_time}`;
  for (const filter of search.filters)
    conditions = db`${conditions} and ${compare(db, column(filter.field), filter)}`;
  return conditions;
}

/** ` and …` for records whose metadata has all of these keys with these values; empty without keys. */
export function metadataCondition(
  db: Db,
  metadata: Readonly<Record<string, string>> | null | undefined,
): Fragment {
  return hasKeys(metadata) ? db`and metadata @> ${db.json(metadata)}` : db``;
}

export const hasKeys = (
  metadata: Readonly<Record<string, string>> | null | undefined,
): metadata is Record<string, string> => metadata != null && Object.keys(metadata).length > 0;

/** ` and …` for each of these columns that the filter sets. Null, an empty text and an empty list set nothing. */
export function filterConditions<Filter extends object>(
  db: Db,
  filter: Filter,
  columns: readonly (keyof Filter)[],
): Fragment {
  let conditions = db``;
  for (const column of columns) {
    const value = filter[column] as string | readonly string[] | null | undefined;
    const name = column as string;
    if (value == null || value.length === 0) continue;
    conditions =
      typeof value === 'string'
        ? db`${conditions} and ${db(name)} = ${value}`
        : db`${conditions} and ${db(name)} = any(${value as string[]})`;
  }
  return conditions;
}

const columnOf =
  (db: Db, alias: string | undefined) =>
  (field: string): Fragment =>
    db`${db(alias === undefined ? field : `${alias}.${field}`)}`;

/**
 * Answers show an unset text as "" (api 37): a filter with the empty text compares it as one. Other filters name
 * the bare column, so that an index can be used.
 */
function compare(db: Db, plain: Fragment, filter: FieldFilter): Fragment {
  const { operator, values } = filter;
  const hasEmptyText = filter.kind === 'text' && values.includes('');
  const column = hasEmptyText ? db`coalesce(${plain}, '')` : plain;
  const [first] = values as [string];
  const value = filter.kind === 'number' ? db`${first}::numeric` : db`${first}`;
  switch (operator) {
    case 'eq':
      return db`${column} = ${value}`;
    case 'contains':
      return db`${contains(db, column, first)}`;
    case 'not_contains':
      return db`(${column} is null or not ${contains(db, column, first)})`;
    case 'gt':
    case 'after':
      return db`${column} > ${value}`;
    case 'gte':
      return db`${column} >= ${value}`;
    case 'lt':
    case 'before':
      return db`${column} < ${value}`;
    case 'lte':
      return db`${column} <= ${value}`;
    case 'in':
      return db`${column} = any(${many(db, filter)})`;
    case 'not_in':
      return db`(${column} is null or ${column} <> all(${many(db, filter)}))`;
  }
}

/** Compared as the column's type, so that `10` matches 10.00. */
function many(db: Db, { kind, values }: FieldFilter): Fragment {
  const list = values as string[];
  return kind === 'number' ? db`${list}::numeric[]` : db`${list}::text[]`;
}

/**
 * Case-insensitive. The database compares by code points, so a collation provides the case of letters beyond
 * ASCII; indexes of the column do not apply.
 */
const contains = (db: Db, column: Fragment, text: string): Fragment =>
  /^[\0-\x7f]*$/.test(text)
    ? db`${column} ilike ${likePattern(text)}`
    : db`${column} collate "pg_c_utf8" ilike ${likePattern(text)}`;

/** Text anywhere in the value; `%`, `_` and `\` are escaped. */
function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

/** Columns that are never null in any table. */
const NEVER_NULL: readonly string[] = ['id', 'status', 'created_at', 'updated_at'];

/**
 * Nulls come last in both directions. Columns without nulls omit the clause, so that an index can be used.
 */
export function searchOrder(
  db: Db,
  search: Search,
  alias?: string,
  neverNull: readonly string[] = [],
): Fragment {
  const column = columnOf(db, alias);
  let order = db``;
  for (const { field, direction } of search.sort) {
    const way = direction === 'asc' ? db`asc` : db`desc`;
    const nulls = NEVER_NULL.includes(field) || neverNull.includes(field) ? db`` : db`nulls last`;
    order = db`${order} ${column(field)} ${way} ${nulls},`;
  }
  const [first] = search.sort;
  return first?.field === 'created_at' && first.direction === 'asc'
    ? db`${order} ${column('id')} asc`
    : db`${order} ${column('created_at')} desc, ${column('id')} desc`;
}
