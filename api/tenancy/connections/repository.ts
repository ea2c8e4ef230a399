import { alreadyExists } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { filterConditions, findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Connection } from '../../../schemas/connection.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** Column of the encrypted credentials: part of their binding. */
export const SECRET_COLUMN = 'connections.secret_data';

/** A connection as stored. The encrypted credentials are written here and never read for answers. */
export type ConnectionRow = Connection & { readonly secret_data: string | null };

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
