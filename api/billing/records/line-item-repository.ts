import { notFound } from '../../../domain/errors.ts';
import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { LineItemRow } from '../../../schemas/subscription.ts';

/** The line item, including ended ones. 404 if it is unknown or belongs to another scope. */
export async function getLineItem(db: Db, scope: Scope, id: string): Promise<LineItemRow> {
  const [row] = await db<LineItemRow[]>`
    select * from subscription_line_items
     where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
  if (row === undefined) throw notFound('Subscription line item', id);
  return row;
}

/** Columns of a line item that a change may write. */
export type LineItemChange = Partial<
  Pick<
    LineItemRow,
    | 'end_date' | 'metadata' | 'price_id' | 'entity_id' | 'plan_display_name'
    | 'updated_at' | 'updated_by'
  >
>; // prettier-ignore

/** Changes a line item. The caller holds the lock of its subscription. */
export async function changeLineItem(
  tx: Transaction,
  scope: Scope,
  id: string,
  { metadata, ...columns }: LineItemChange,
): Promise<LineItemRow> {
  const values = metadata === undefined ? columns : { ...columns, metadata: tx.json(metadata) };
  const [row] = await tx<LineItemRow[]>`
    update subscription_line_items set ${tx(values)}
     where ${inScope(tx, scope)} and id = ${id}
    returning *`;
  return row!;
}

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
