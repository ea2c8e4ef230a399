import type { z } from 'zod';
import { alreadyExists, notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { addonFields, AddonStatus, EmbeddedAddon } from '../../../schemas/addon-record.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** An addon as stored, without its children. */
export type AddonRow = z.infer<z.ZodObject<typeof addonFields>>;

const addons = tableOf<AddonRow>({
  name: 'addons',
  noun: 'Addon',
  columns: (db) => db`
  id, tenant_id, environment_id, name, description, lookup_key, type, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
  taken: {
    addons_lookup_key_key: ({ lookup_key }) =>
      alreadyExists('addon', 'lookup_key', lookup_key ?? ''),
  },
});

/** The addon, including archived ones. 404 if it is unknown or belongs to another scope. */
export const getAddonRow = addons.get;

/** Addons of the scope with these ids, unordered. */
export const findAddonRows = addons.find;
export const insertAddon = addons.insert;
export const updateAddonRow = addons.change;

/** The published addon with the key. 404 if not found. */
export async function getAddonByLookupKey(db: Db, scope: Scope, key: string): Promise<AddonRow> {
  const [row] = await db<AddonRow[]>`
    select ${addons.columns(db)} from addons
     where ${inScope(db, scope)} and lookup_key = ${key} and status = 'published'`;
  if (row === undefined) throw notFound('Addon', key);
  return row;
}

/** Addons as embedded in other records. */
export async function findEmbeddedAddons(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<EmbeddedAddon[]> {
  const rows = await findAddonRows(db, scope, ids);
  return rows.map((row) => ({ ...row, prices: null, entitlements: null, credit_grants: null }));
}

/** The addon, locked until the transaction ends. 404 as for `getAddonRow`. */
export async function lockAddon(tx: Transaction, scope: Scope, id: string): Promise<AddonRow> {
  const [row] = await tx<AddonRow[]>`
    select ${addons.columns(tx)} from addons where ${inScope(tx, scope)} and id = ${id} for update`;
  if (row === undefined) throw notFound('Addon', id);
  return row;
}

export interface AddonFilter {
  readonly addon_ids?: string[] | null;
  readonly lookup_keys?: string[] | null;
  readonly addon_statuses?: AddonStatus[] | null;
  readonly active_at?: string | null;
  readonly search: Search;
}

/** Addon status to record status. A status that only an addon on a subscription has maps to neither. */
const RECORD_STATUS: Readonly<Record<AddonStatus, Search['status']>> = {
  active: 'published',
  cancelled: 'archived',
  pending: null,
  paused: null,
};

/** Leaves out archived addons unless a status is requested. */
export function searchAddonRows(
  db: Db,
  scope: Scope,
  filter: AddonFilter,
): Promise<Page<AddonRow>> {
  const { addon_ids, lookup_keys, active_at, search } = filter;
  const statuses = filter.addon_statuses?.flatMap((each) => RECORD_STATUS[each] ?? []);
  const status = search.status ?? (statuses?.length ? null : 'published');
  return findPage<AddonRow>(db, {
    columns: addons.columns(db),
    from: db`addons`,
    where: db`${inScope(db, scope)}
      ${status === null ? db`` : db`and status = ${status}`}
      ${filter.addon_statuses?.length ? db`and status = any(${statuses ?? []})` : db``}
      ${active_at ? db`and created_at <= ${active_at}` : db``}
      ${addon_ids?.length ? db`and id = any(${addon_ids})` : db``}
      ${lookup_keys?.length ? db`and lookup_key = any(${lookup_keys})` : db``}`,
    search,
  });
}
