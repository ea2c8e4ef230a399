import { alreadyExists, notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { filterConditions, findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Connection } from '../../../schemas/connection.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** Column of the encrypted credentials: part of their binding. */
export const SECRET_COLUMN = 'connections.secret_data';

/** A connection as stored. The encrypted credentials are written here and never read for answers. */
export type ConnectionRow = Connection & {
  readonly secret_data: string | null;
  readonly takes_payments: boolean;
};

const connections = tableOf<Connection, ConnectionRow>({
  name: 'connections',
  noun: 'Connection',
  columns: (db) => db`
  id, tenant_id, environment_id, name, provider_type, gateway_account_id, sync_config, metadata,
  status, created_at, updated_at, created_by, updated_by`,
  json: ['sync_config', 'metadata'],
  only: 'published',
  taken: {
    connections_gateway_key: (connection) =>
      alreadyExists('connection', 'provider_type', connection.provider_type!),
  },
});

export const getConnection = connections.get;
export const lockConnection = connections.lock;

/** 409 if the provider is a payment gateway and the environment already has a connection to it. */
export const insertConnection = connections.insert;
export const updateConnectionRow = connections.change;

/** The newest published connection to the provider, or null. */
export async function connectionTo(
  db: Db,
  scope: Scope,
  provider: string,
): Promise<Connection | null> {
  const [row] = await db<Connection[]>`
    select ${connections.columns(db)} from connections
     where ${inScope(db, scope)} and provider_type = ${provider} and status = 'published'
     order by created_at desc, id desc limit 1`;
  return row ?? null;
}

/** Every published connection of the environment, by provider, oldest first. */
export async function publishedConnections(db: Db, scope: Scope): Promise<Connection[]> {
  return await db<Connection[]>`
    select ${connections.columns(db)} from connections
     where ${inScope(db, scope)} and status = 'published'
     order by provider_type, created_at, id`;
}

/** Leaves out deleted connections unless a status is requested. */
export function searchConnections(
  db: Db,
  scope: Scope,
  filter: {
    readonly connection_ids?: string[] | null;
    readonly provider_type?: string | null;
    readonly search: Search;
  },
): Promise<Page<Connection>> {
  const { connection_ids, provider_type, search } = filter;
  return findPage<Connection>(db, {
    columns: connections.columns(db),
    from: db`connections`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${filterConditions(db, { id: connection_ids, provider_type }, ['id', 'provider_type'])}`,
    search,
  });
}

/**
 * Archives the exports through the connection, so that none runs again. They belong to `operations/`, which this room
 * cannot import.
 */
export async function archiveExportsOf(
  tx: Transaction,
  scope: Scope,
  connectionId: string,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  await tx`
    update scheduled_tasks set ${tx({ status: 'archived', enabled: false, ...change })}
     where ${inScope(tx, scope)} and connection_id = ${connectionId} and status = 'published'`;
}

/** The encrypted credentials of a published connection; null if it has none. 404 if it is unknown. */
export async function getSealedSecret(db: Db, scope: Scope, id: string): Promise<string | null> {
  const [row] = await db<{ secret_data: string | null }[]>`
    select secret_data from connections
     where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
  if (row === undefined) throw notFound('Connection', id);
  return row.secret_data;
}

/** The encrypted credentials of all tenants, by id of the connection. */
export async function findSealedSecrets(
  db: Db,
): Promise<readonly { readonly id: string; readonly secret_data: string }[]> {
  return await db<{ id: string; secret_data: string }[]>`
    select id, secret_data from connections where secret_data is not null order by id`;
}

/** The encrypted credentials of one connection of any tenant, locked; null if it is unknown or has none. */
export async function lockSealedSecret(
  tx: Transaction,
  id: string,
): Promise<{ readonly tenant_id: string; readonly secret_data: string } | null> {
  const [row] = await tx<{ tenant_id: string; secret_data: string | null }[]>`
    select tenant_id, secret_data from connections where id = ${id} for update`;
  if (row === undefined || row.secret_data === null) return null;
  return { tenant_id: row.tenant_id, secret_data: row.secret_data };
}

/** Stores credentials that are encrypted again. */
export async function updateSealedSecret(
  tx: Transaction,
  id: string,
  secret_data: string,
): Promise<void> {
  await tx`update connections set secret_data = ${secret_data} where id = ${id}`;
}
