import { alreadyExists, notFound } from '../../../domain/errors.ts';
import { violatedConstraint, type Db, type Transaction } from '../../../postgres/client.ts';
import { columnsOf } from '../../../postgres/parameters.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { User } from '../../../schemas/tenancy.ts';
import { getTenant } from '../tenants/repository.ts';

/** An account as stored, without its tenant. */
export type UserRow = Omit<User, 'tenant'>;

const columns = (db: Db) => db`id, email, name, type, roles, metadata, environment_ids`;

/** A user as answered, with the tenant. */
export async function withTenant(db: Db, tenantId: string, row: UserRow): Promise<User> {
  return { ...row, tenant: await getTenant(db, tenantId) };
}

/** An account of the tenant. 404 if it does not exist, is removed, or belongs to another tenant. */
export async function getUser(db: Db, tenantId: string, id: string): Promise<UserRow> {
  const [row] = await db<UserRow[]>`
    select ${columns(db)} from users
     where tenant_id = ${tenantId} and id = ${id} and status = 'published'`;
  if (row === undefined) throw notFound('User', id);
  return row;
}

/** Accounts of the tenant with these ids, removed ones too, unordered. */
export async function findUsersOfTenant(
  db: Db,
  tenantId: string,
  ids: readonly string[],
): Promise<User[]> {
  if (ids.length === 0) return [];
  const rows = await db<UserRow[]>`
    select ${columns(db)} from users where tenant_id = ${tenantId} and id = any(${ids as string[]})`;
  const tenant = await getTenant(db, tenantId);
  return rows.map((row) => ({ ...row, tenant }));
}

/** The account, locked: its roles do not change while a key is created, and vice versa. */
export async function lockUser(tx: Transaction, tenantId: string, id: string): Promise<UserRow> {
  const [row] = await tx<UserRow[]>`
    select ${columns(tx)} from users
     where tenant_id = ${tenantId} and id = ${id} and status = 'published'
       for update`;
  if (row === undefined) throw notFound('User', id);
  return row;
}

export interface UserFilter {
  readonly user_ids?: string[] | null;
  readonly type?: string | null;
  readonly roles?: string[] | null;
  readonly search: Search;
}

/** Service accounts, unless a type or ids are requested. */
export async function searchUsers(
  db: Db,
  tenantId: string,
  filter: UserFilter,
): Promise<Page<User>> {
  const { search } = filter;
  const type = filter.type ?? (filter.user_ids?.length ? null : 'service_account');
  const page = await findPage<UserRow>(db, {
    columns: columns(db),
    from: db`users`,
    where: db`tenant_id = ${tenantId} and status = ${search.status ?? 'published'}
      ${filter.user_ids?.length ? db`and id = any(${filter.user_ids})` : db``}
      ${type === null ? db`` : db`and type = ${type}`}
      ${filter.roles?.length ? db`and roles && ${filter.roles}` : db``}`,
    search,
  });
  const tenant = await getTenant(db, tenantId);
  return { ...page, items: page.items.map((row) => ({ ...row, tenant })) };
}

/**
 * Number of people of the tenant. Holds the tenant's lock, so that two concurrent calls cannot both remove
 * the last.
 */
export async function countPeople(tx: Transaction, tenantId: string): Promise<number> {
  await tx`select 1 from tenants where id = ${tenantId} for update`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from users
     where tenant_id = ${tenantId} and type = 'user' and status = 'published'`;
  return row!.count;
}

/** Whether the tenant has another super admin of all environments. */
export async function hasOtherSuperAdmin(
  tx: Transaction,
  tenantId: string,
  id: string,
): Promise<boolean> {
  const [row] = await tx`
    select 1 from users
     where tenant_id = ${tenantId} and id <> ${id} and type = 'user' and status = 'published'
       and 'super_admin' = any(roles) and environment_ids is null
     limit 1`;
  return row !== undefined;
}

/** 409 if the e-mail address is taken. */
export async function insertUser(
  tx: Transaction,
  row: UserRow & {
    readonly tenant_id: string;
    readonly password_hash: string | null;
    readonly created_at: string;
    readonly updated_at: string;
    readonly created_by: string;
    readonly updated_by: string;
  },
): Promise<void> {
  try {
    await tx`insert into users ${tx({ ...row, metadata: tx.json(row.metadata) })}`;
  } catch (error) {
    throw violatedConstraint(error) === 'users_email_key'
      ? alreadyExists('user', 'email', row.email ?? '')
      : error;
  }
}

/** Changes the given columns; without metadata it stays. 404 if the user is unknown or of another tenant. */
export async function updateUserRow(
  tx: Transaction,
  tenantId: string,
  id: string,
  changes: Partial<UserRow> & {
    readonly status?: 'archived';
    readonly updated_at: string;
    readonly updated_by: string;
  },
): Promise<UserRow> {
  const { metadata, ...rest } = changes;
  const [row] = await tx<UserRow[]>`
    update users
       set ${columnsOf(tx, { ...rest, ...(metadata ? { metadata: tx.json(metadata) } : {}) })}
     where tenant_id = ${tenantId} and id = ${id}
    returning ${columns(tx)}`;
  if (row === undefined) throw notFound('User', id);
  return row;
}

/** Ids of the account's valid keys, in every environment. */
export async function liveKeyIds(
  db: Db,
  tenantId: string,
  userId: string,
  now: string,
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from api_keys
     where tenant_id = ${tenantId} and user_id = ${userId} and status = 'published'
       and (expires_at is null or expires_at > ${now})
     order by id`;
  return rows.map((row) => row.id);
}

/** Ids of the account's keys that are not deleted, expired ones too, in every environment. */
export async function findKeyIds(db: Db, tenantId: string, userId: string): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from api_keys
     where tenant_id = ${tenantId} and user_id = ${userId} and status = 'published'`;
  return rows.map((row) => row.id);
}

/** Ends every open session of the account at `at` (ISO 8601). */
export async function endSessionsOfUser(
  tx: Transaction,
  userId: string,
  at: string,
): Promise<void> {
  await tx`update sessions set ended_at = ${at} where user_id = ${userId} and ended_at is null`;
}
