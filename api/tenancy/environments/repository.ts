import { reaches, type Reach } from '../../../domain/access/reach.ts';
import { notFound } from '../../../domain/errors.ts';
import type { Db, Fragment, Scope, Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Environment } from '../../../schemas/environment.ts';
import type { Search } from '../../../schemas/search.ts';

const columns = (db: Db) => db`id, name, type, created_at, updated_at`;

/** The caller's tenant and the environments that the caller has access to. */
export interface EnvironmentCaller {
  readonly scope: { readonly tenant_id: string };
  readonly identity: Reach;
}

/**
 * An environment of the tenant. 404 if it does not exist, belongs to another tenant, or the caller has no
 * access.
 */
export async function getEnvironment(
  db: Db,
  { scope, identity }: EnvironmentCaller,
  id: string,
): Promise<Environment> {
  const [row] = await db<Environment[]>`
    select ${columns(db)} from environments
     where tenant_id = ${scope.tenant_id} and id = ${id} and status = 'published'`;
  if (row === undefined || !reaches(identity, row)) throw notFound('Environment', id);
  return row;
}

/** Type of the environment of the scope, whatever its status; null if it does not exist. */
export async function findEnvironmentType(
  db: Db,
  { tenant_id, environment_id }: Scope,
): Promise<Environment['type'] | null> {
  const [row] = await db<Pick<Environment, 'type'>[]>`
    select type from environments where tenant_id = ${tenant_id} and id = ${environment_id}`;
  return row?.type ?? null;
}

/** The tenant's environments that the caller has access to, oldest first, and their number. */
export async function listEnvironments(
  db: Db,
  { scope, identity }: EnvironmentCaller,
  search: Search,
): Promise<{ environments: Environment[]; total: number }> {
  const { items, pagination } = await findPage<Environment>(db, {
    columns: columns(db),
    from: db`environments`,
    where: db`
      tenant_id = ${scope.tenant_id} and status = ${search.status ?? 'published'} ${inReach(db, identity)}`,
    search: search.sort.length > 0 ? search : { ...search, sort: [OLDEST_FIRST] },
  });
  return { environments: items, total: pagination.total };
}

/** `reaches` as an SQL condition. */
const inReach = (db: Db, { environment_ids, environment_type }: Reach): Fragment => db`
  ${environment_ids === null ? db`` : db`and id = any(${[...environment_ids]})`}
  ${environment_type === 'development' ? db`and type = 'development'` : db``}`;

const OLDEST_FIRST = { field: 'created_at', kind: 'time', direction: 'asc' } as const;

/**
 * Number of the tenant's environments of the type. Holds the tenant's lock, so that two concurrent calls
 * cannot exceed the limit.
 */
export async function countEnvironments(
  tx: Transaction,
  tenantId: string,
  type: Environment['type'],
): Promise<number> {
  await tx`select 1 from tenants where id = ${tenantId} for update`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count from environments
     where tenant_id = ${tenantId} and type = ${type} and status = 'published'`;
  return row!.count;
}

/** Inserts the environment with its tenant. */
export async function insertEnvironment(
  tx: Transaction,
  row: Environment & { tenant_id: string; created_by: string; updated_by: string },
): Promise<void> {
  await tx`insert into environments ${tx(row)}`;
}

/** Changes the name. 404 if the tenant has no such environment. */
export async function renameEnvironment(
  tx: Transaction,
  tenantId: string,
  id: string,
  changes: { name: string; updated_at: string; updated_by: string },
): Promise<Environment> {
  const [row] = await tx<Environment[]>`
    update environments set ${tx(changes)} where tenant_id = ${tenantId} and id = ${id}
    returning ${columns(tx)}`;
  if (row === undefined) throw notFound('Environment', id);
  return row;
}

/** The scope of a published environment of any tenant, for a page that has no session yet; null if it is unknown. */
export async function findScopeOfEnvironment(db: Db, id: string): Promise<Scope | null> {
  const [scope] = await db<Scope[]>`
    select tenant_id, id as environment_id from environments
     where id = ${id} and status = 'published'`;
  return scope ?? null;
}
