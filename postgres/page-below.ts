import { LIMIT_DEFAULT, type Page, type PageQuery } from '../schemas/search.ts';
import type { Db, Fragment } from './client.ts';

/** The rows below one record. */
export interface RowsBelow {
  readonly columns: Fragment;
  readonly table: string;
  /** The scope, the record, and the list's own conditions. */
  readonly where: Fragment;
  /** The columns of `order by`, the id last, so that pages never overlap. */
  readonly order: Fragment;
}

/**
 * One page of the rows below one record, and their exact total. Without a limit it contains all of them: clients
 * read these lists without paging (api 4).
 */
export async function pageBelow<Row extends object>(
  db: Db,
  { columns, table, where, order }: RowsBelow,
  { limit, offset = 0 }: PageQuery,
): Promise<Page<Row>> {
  const items = await db<Row[]>`
    select ${columns} from ${db(table)} where ${where}
     order by ${order} ${limit === undefined ? db`` : db`limit ${limit}`} offset ${offset}`;
  const isLast =
    (limit === undefined || items.length < limit) && (items.length > 0 || offset === 0);
  const total = isLast ? offset + items.length : await count(db, table, where);
  const size = limit ?? Math.max(LIMIT_DEFAULT, total);
  return {
    items: [...items] as Row[],
    pagination: { total, limit: size, offset: offset + size },
  };
}

async function count(db: Db, table: string, where: Fragment): Promise<number> {
  const [row] = await db<{ total: string }[]>`
    select count(*) as total from ${db(table)} where ${where}`;
  return Number(row!.total);
}
