import type * as z from 'zod';
import { alreadyExists, invalidOperation, notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { SavedView, SavedViewSearch } from '../../../schemas/saved-view.ts';
import type { Page } from '../../../schemas/search.ts';
import type { Caller } from '../../conventions/record.ts';

/** Views of one person in one environment. */
const VIEWS_MAX = 200;

const views = tableOf<SavedView>({
  name: 'saved_views',
  noun: 'Saved view',
  columns: (db) => db`
    id, tenant_id, environment_id, user_id, name, page, query, is_shared, status, created_at, updated_at,
    created_by, updated_by`,
  json: [],
  taken: {
    saved_views_name_key: ({ name }) => alreadyExists('saved view', 'name', name ?? ''),
  },
});

export const changeView = views.change;

/** Own views and shared ones, newest first. */
export function searchViews(
  db: Db,
  { scope, user_id }: Caller,
  filter: z.output<typeof SavedViewSearch.body>,
): Promise<Page<SavedView>> {
  return findPage<SavedView>(db, {
    columns: views.columns(db),
    from: db`saved_views`,
    where: db`${inScope(db, scope)} and (user_id = ${user_id} or is_shared)
      ${filter.page ? db`and page = ${filter.page}` : db``}
      ${filter.is_shared == null ? db`` : db`and is_shared = ${filter.is_shared}`}`,
    search: filter.search,
  });
}

/** An own view or a shared one. 404 for all others. */
export async function getView(db: Db, { scope, user_id }: Caller, id: string): Promise<SavedView> {
  const view = await views.get(db, scope, id);
  if (view.user_id !== user_id && !view.is_shared) throw notFound('Saved view', id);
  return view;
}

/** An own view, locked until the transaction ends. 404 for views of others, shared or not. */
export async function lockOwnView(
  tx: Transaction,
  { scope, user_id }: Caller,
  id: string,
): Promise<SavedView> {
  const view = await views.lock(tx, scope, id);
  if (view.user_id !== user_id) throw notFound('Saved view', id);
  return view;
}

/** Inserts a view. 409 if its owner has one of that name on the page; 400 if the owner has too many. */
export async function insertView(tx: Transaction, view: SavedView): Promise<SavedView> {
  const [row] = await tx<{ views: number }[]>`
    select count(*)::int as views from saved_views
     where ${inScope(tx, view)} and user_id = ${view.user_id}`;
  if (row!.views >= VIEWS_MAX)
    throw invalidOperation(`You have ${VIEWS_MAX} saved views. Delete one first.`, 'name');
  return await views.insert(tx, view);
}

/** Deletes the view, if it exists in the scope. */
export async function deleteView(tx: Transaction, { scope }: Caller, id: string): Promise<void> {
  await tx`delete from saved_views where ${inScope(tx, scope)} and id = ${id}`;
}
