import type { Db, Fragment } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { LineItemRow } from '../../../schemas/subscription.ts';

const lines = tableOf<LineItemRow>({
  name: 'subscription_line_items',
  noun: 'Subscription line item',
  columns: (db) => db`*`,
  json: ['metadata'],
  only: 'published',
});

/** The line item, including ended ones. 404 if the id is unknown or belongs to another scope. */
export const getLineItem = lines.get;
/** Changes a line item. The caller holds the lock of its subscription. */
export const changeLineItem = lines.change;

export function searchLineItems(
  db: Db,
  where: Fragment,
  search: Search,
): Promise<Page<LineItemRow>> {
  return findPage<LineItemRow>(db, {
    columns: db`*`,
    from: db`subscription_line_items`,
    where,
    search,
  });
}
