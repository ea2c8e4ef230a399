import { alreadyExists, notFound } from '../../../domain/errors.ts';
import {
  inScope,
  violatedConstraint,
  type Db,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Connection } from '../../../schemas/connection.ts';
import type { Page, Search } from '../../../schemas/search.ts';

/** Column of the encrypted credentials: part of their binding. */
export const SECRET_COLUMN = 'connections.secret_data';

/** A connection as stored. The encrypted credentials are written here and never read for answers. */
export type ConnectionRow = Connection & { readonly secret_data: string | null };

const columns = (db: Db) => db`
  id, tenant_id, environment_id, name, provider_type, gateway_account_id, sync_config, metadata,
  status, created_at, updated_at, created_by, updated_by`;

/** The published connection. 404 if it does not exist, is deleted or belongs to another scope. */
export async function getConnection(db: Db, scope: Scope, id: string): Promise<Connection> {
  const [row] = await db<Connection[]>`
    select ${columns(db)} from connections
     where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
  if (row === undefined) throw notFound('Connection', id);
  return row;
}

/** The same, locked. */
export async function lockConnection(
  tx: Transaction,
  scope: Scope,
  id: string,
): Promise<Connection> {
  const [row] = await tx<Connection[]>`
    select ${columns(tx)} from connections
     where ${inScope(tx, scope)} and id = ${id} and status = 'published' for update`;
  if (row === undefined) throw notFound('Connection', id);
  return row;
}

/** The published connection to the provider, or null. */
export async function connectionTo(
  db: Db,
  scope: Scope,
  provider: string,
): Promise<Connection | null> {
  const [row] = await db<Connection[]>`
    select ${columns(db)} from connections
     where ${inScope(db, scope)} and provider_type = ${provider} and status = 'published'`;
  return row ?? null;
}

/** Every published connection of the environment, by provider. */
export async function publishedConnections(db: Db, scope: Scope): Promise<Connection[]> {
  return await db<Connection[]>`
    select ${columns(db)} from connections
     where ${inScope(db, scope)} and status = 'published' order by provider_type`;
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
    columns: columns(db),
    from: db`connections`,
    where: db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
      ${connection_ids?.length ? db`and id = any(${connection_ids})` : db``}
      ${provider_type ? db`and provider_type = ${provider_type}` : db``}`,
    search,
  });
}

/** 409 if the environment already has a connection to the provider. */
export async function insertConnection(tx: Transaction, row: ConnectionRow): Promise<Connection> {
  try {
    const [made] = await tx<Connection[]>`
      insert into connections ${tx({
        ...row,
        sync_config: tx.json(row.sync_config as never),
        metadata: tx.json(row.metadata),
      })}
      returning ${columns(tx)}`;
    return made!;
  } catch (error) {
    throw violatedConstraint(error) === 'connections_provider_type_key'
      ? alreadyExists('connection', 'provider_type', row.provider_type)
      : error;
  }
}

export async function updateConnectionRow(
  tx: Transaction,
  scope: Scope,
  id: string,
  changes: Partial<ConnectionRow>,
): Promise<Connection> {
  const { sync_config, metadata, ...rest } = changes;
  const values = {
    ...rest,
    ...(sync_config === undefined ? {} : { sync_config: tx.json(sync_config as never) }),
    ...(metadata === undefined ? {} : { metadata: tx.json(metadata) }),
  };
  const [row] = await tx<Connection[]>`
    update connections set ${tx(values as never)}
     where ${inScope(tx, scope)} and id = ${id} and status = 'published'
    returning ${columns(tx)}`;
  if (row === undefined) throw notFound('Connection', id);
  return row;
}
