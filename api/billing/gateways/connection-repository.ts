import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';

/**
 * The published connection that takes payments: of the provider, or the only one if `provider` is null. Null if there
 * is none, or if `provider` is null and there are several.
 */
export async function findGatewayConnection(
  db: Db,
  scope: Scope,
  provider: string | null,
): Promise<{ readonly id: string; readonly provider_type: string } | null> {
  const rows = await db<{ id: string; provider_type: string }[]>`
    select id, provider_type from connections
     where ${inScope(db, scope)} and status = 'published' and takes_payments
       and ${provider === null ? db`true` : db`provider_type = ${provider}`}
     order by created_at, id limit 2`;
  if (rows.length > 1 && provider === null) return null;
  return rows[0] ?? null;
}

/**
 * Whether the connection takes payments, and keeps it from being deleted until the transaction ends: a payment that is
 * stored with it is then seen by the deletion.
 */
export async function holdConnection(tx: Transaction, scope: Scope, id: string): Promise<boolean> {
  const rows = await tx`
    select id from connections
     where ${inScope(tx, scope)} and id = ${id} and status = 'published' and takes_payments
       for key share`;
  return rows.length > 0;
}

/** The published connections to a provider, at most two: enough to tell whether there is exactly one. */
export function connectionsTo(
  db: Db,
  scope: Scope,
  provider: string,
): Promise<{ readonly id: string }[]> {
  return db<{ id: string }[]>`
    select id from connections
     where ${inScope(db, scope)} and provider_type = ${provider} and status = 'published'
     limit 2`;
}

/** The providers over which the environment takes payments. */
export async function connectedProviders(db: Db, scope: Scope): Promise<string[]> {
  const rows = await db<{ provider_type: string }[]>`
    select distinct provider_type from connections
     where ${inScope(db, scope)} and status = 'published' and takes_payments
     order by provider_type`;
  return rows.map(({ provider_type }) => provider_type);
}

/** A connection with its encrypted credentials; null if it has none. */
export interface SealedConnection {
  readonly id: string;
  readonly provider_type: string;
  readonly gateway_account_id: string | null;
  readonly secret_data: string | null;
}

/** The published connection of any provider; null if it is unknown. */
export async function findSealedConnection(
  db: Db,
  scope: Scope,
  id: string,
): Promise<SealedConnection | null> {
  const [row] = await db<SealedConnection[]>`
    select id, provider_type, gateway_account_id, secret_data from connections
     where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
  return row ?? null;
}

/** Whether a connection was deleted. */
export async function isConnectionDeleted(db: Db, scope: Scope, id: string): Promise<boolean> {
  return (await deletedConnections(db, scope, [id])).has(id);
}

/** Which of the connections were deleted. */
export async function deletedConnections(
  db: Db,
  scope: Scope,
  ids: readonly string[],
): Promise<ReadonlySet<string>> {
  if (ids.length === 0) return new Set();
  const rows = await db<{ id: string }[]>`
    select id from connections
     where ${inScope(db, scope)} and id = any (${ids as string[]}) and status = 'deleted'`;
  return new Set(rows.map(({ id }) => id));
}
