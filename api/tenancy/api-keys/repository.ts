import { notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { ApiKey } from '../../../schemas/tenancy.ts';

/** `provider` of the service's own keys. */
export const PROVIDER = 'meterline';

const columns = (db: Db) => db`
  k.id, k.tenant_id, k.environment_id, k.name, k.type, ${PROVIDER}::text as provider, k.display_id,
  k.roles, k.permissions, k.allowed_event_names, k.external_customer_id, k.minted_by, k.user_id, coalesce(u.type, 'service_account') as user_type,
  case when u.type = 'service_account' then u.name end as service_account_name,
  k.expires_at, k.last_used_at, k.status, k.created_at, k.updated_at, k.created_by, k.updated_by`;
const from = (db: Db) => db`api_keys k left join users u on u.id = k.user_id`;

/** The key, including deleted ones. 404 if it is unknown or belongs to another scope. */
export async function getApiKey(db: Db, scope: Scope, id: string): Promise<ApiKey> {
  const [row] = await db<ApiKey[]>`
    select ${columns(db)} from ${from(db)} where ${inScope(db, scope, 'k')} and k.id = ${id}`;
  if (row === undefined) throw notFound('API key', id);
  return row;
}

/** Keys that are not deleted, private ones unless a type is requested; of all owners or of one. */
export function searchApiKeys(
  db: Db,
  scope: Scope,
  ownerId: string | null,
  filter: { readonly type?: string | null; readonly search: Search },
): Promise<Page<ApiKey>> {
  return findPage<ApiKey>(db, {
    columns: columns(db),
    from: from(db),
    where: db`${inScope(db, scope, 'k')} and k.status = 'published'
      and k.type = ${filter.type ?? 'private_key'}
      ${ownerId === null ? db`` : db`and k.user_id = ${ownerId}`}`,
    search: filter.search,
    alias: 'k',
  });
}

/** Inserts the key and returns it as read. */
export async function insertApiKey(
  tx: Transaction,
  row: Omit<ApiKey, 'provider' | 'user_type' | 'service_account_name' | 'last_used_at'> & {
    readonly key_hash: Buffer;
  },
): Promise<ApiKey> {
  await tx`insert into api_keys ${tx(row)}`;
  return await getApiKey(tx, row, row.id);
}

/**
 * End of the key that creates another; null means never. Updates the creator's row, so that a transaction
 * that ends it at the same time waits for the new key. Undefined for a key that has ended.
 */
export async function lockMaker(
  tx: Transaction,
  scope: Scope,
  id: string,
  now: string,
): Promise<{ readonly expires_at: string | null } | undefined> {
  const [maker] = await tx<{ expires_at: string | null }[]>`
    update api_keys set last_used_at = now()
     where ${inScope(tx, scope)} and id = ${id} and status = 'published'
       and (expires_at is null or expires_at > ${now})
    returning expires_at`;
  return maker;
}

/** Locks the key until the transaction ends, if it exists. */
export async function lockApiKey(tx: Transaction, scope: Scope, id: string): Promise<void> {
  await tx`select 1 from api_keys where ${inScope(tx, scope)} and id = ${id} for update`;
}
