import type { FieldFilter, Page, Search } from '../schemas/search.ts';
import type { Db, Fragment } from './client.ts';

/**
 * One page of a search and the number of all its rows. `from` names the table (with an alias where
 * joined tables share column names), `where` carries the scope and the resource's own conditions; the
 * conditions of the search itself are added here. Newest first unless sorted otherwise, and always with
 * the id last, so that pages never overlap.
 *
 * Column names come from the resource's allow-list, never from the request.
 */
export async function findPage<Row extends object>(
  db: Db,
  query: {
    readonly columns: Fragment;
    readonly from: Fragment;
    readonly where: Fragment;
    readonly search: Search;
    /** Alias of the table that the searched fields belong to. */
    readonly alias?: string;
  },
): Promise<Page<Row>> {
  const { columns, from, search, alias } = query;
  const where = db`${query.where} ${searchConditions(db, search, alias)}`;
  const [items, [count]] = await Promise.all([
    db<Row[]>`
      select ${columns}
        from ${from}
       where ${where}
       order by ${searchOrder(db, search, alias)}
       limit ${search.limit} offset ${search.offset}`,
    db<{ total: string }[]>`select count(*) as total from ${from} where ${where}`,
  ]);
  return {
    items: [...items] as Row[],
    pagination: {
      total: Number(count!.total),
      limit: search.limit,
      offset: search.offset + search.limit,
    },
  };
}

/** ` and …` for `filters`, `start_time` and `end_time`. `status` is the resource's: its default differs. */
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

const columnOf =
  (db: Db, alias: string | undefined) =>
  (field: string): Fragment =>
    db`${db(alias === undefined ? field : `${alias}.${field}`)}`;

function compare(db: Db, column: Fragment, filter: FieldFilter): Fragment {
  const { operator, values } = filter;
  const [first] = values as [string];
  const value = filter.kind === 'number' ? db`${first}::numeric` : db`${first}`;
  switch (operator) {
    case 'eq':
      return db`${column} = ${value}`;
    case 'contains':
      return db`${column} ilike ${likePattern(first)}`;
    case 'not_contains':
      return db`(${column} is null or ${column} not ilike ${likePattern(first)})`;
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
      return db`${column}::text = any(${values as string[]})`;
    case 'not_in':
      return db`(${column} is null or ${column}::text <> all(${values as string[]}))`;
  }
}

/** Text anywhere in the value, with `%`, `_` and `\` standing for themselves. */
function likePattern(text: string): string {
  return `%${text.replace(/[\\%_]/g, '\\$&')}%`;
}

export function searchOrder(db: Db, search: Search, alias?: string): Fragment {
  const column = columnOf(db, alias);
  let order = db``;
  for (const { field, direction } of search.sort)
    order =
      direction === 'asc'
        ? db`${order} ${column(field)} asc nulls last,`
        : db`${order} ${column(field)} desc nulls last,`;
  const [first] = search.sort;
  return first?.field === 'created_at' && first.direction === 'asc'
    ? db`${order} ${column('id')} asc`
    : db`${order} ${column('created_at')} desc, ${column('id')} desc`;
}
