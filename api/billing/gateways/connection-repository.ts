import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { ADAPTED_PROVIDERS } from './adapted-providers.ts';

/**
 * The published connection to a provider; null if there is none. 400 if there are several: the request must name
 * one.
 */
export async function findGatewayConnection(
  db: Db,
  scope: Scope,
  provider: string | null,
): Promise<{ readonly id: string; readonly provider_type: string } | null> {
  const rows = await db<{ id: string; provider_type: string }[]>`
    select id, provider_type from connections
     where ${inScope(db, scope)} and status = 'published'
       -- Without its key a connection to Stripe only links records.
       and (provider_type <> 'stripe' or secret_data is not null)
       and provider_type = any(${provider === null ? [...ADAPTED_PROVIDERS] : [provider]}::text[])
     order by created_at, id limit 2`;
  if (rows.length > 1 && provider === null) return null;
  return rows[0] ?? null;
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

/** The adapted providers to which the environment has a published connection. */
export async function connectedProviders(db: Db, scope: Scope): Promise<string[]> {
  const rows = await db<{ provider_type: string }[]>`
    select distinct provider_type from connections
     where ${inScope(db, scope)} and status = 'published'
       and provider_type = any(${[...ADAPTED_PROVIDERS]}::text[])
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

/** When a connection was deleted; null if it was not. */
export async function deletionOfConnection(
  db: Db,
  scope: Scope,
  id: string,
): Promise<string | null> {
  const [row] = await db<{ updated_at: string }[]>`
    select updated_at from connections
     where ${inScope(db, scope)} and id = ${id} and status = 'deleted'`;
  return row?.updated_at ?? null;
}
