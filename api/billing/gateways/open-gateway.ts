import { BillingError, notFound } from '../../../domain/errors.ts';
import type { PaymentGateway } from '../../../platform/gateways/gateway.ts';
import { createTestGateway, type TestGateway } from '../../../platform/gateways/test-gateway.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import { SECRET_COLUMN } from '../../tenancy/connections/repository.ts';

/** The gateway of a connection. */
export interface OpenGateway {
  readonly connection_id: string;
  readonly scope: Scope;
  /** The account that payments must be in; null if the connection names none. */
  readonly account: string | null;
  readonly gateway: PaymentGateway | TestGateway;
}

/** Providers that have an adapter. */
export const ADAPTED_PROVIDERS = ['test'] as const;
export const isAdapted = (provider: string): boolean =>
  (ADAPTED_PROVIDERS as readonly string[]).includes(provider);

interface ConnectionRow {
  readonly id: string;
  readonly provider_type: string;
  readonly gateway_account_id: string | null;
  readonly secret_data: string | null;
}

/**
 * The published connection to a provider; null if there is none. 400 if there are several: the caller chooses
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
       and provider_type = any(${provider === null ? [...ADAPTED_PROVIDERS] : [provider]}::text[])
     order by created_at, id limit 2`;
  if (rows.length > 1 && provider === null) return null;
  return rows[0] ?? null;
}

/** The gateway of a connection with its secrets. 404 if the connection is gone or has no adapter. */
export async function openGateway(
  deps: Pick<BillingDeps, 'pool' | 'ids' | 'secretBox'>,
  scope: Scope,
  connectionId: string,
): Promise<OpenGateway> {
  const [row] = await deps.pool<ConnectionRow[]>`
    select id, provider_type, gateway_account_id, secret_data from connections
     where ${inScope(deps.pool, scope)} and id = ${connectionId} and status = 'published'`;
  if (row === undefined || !isAdapted(row.provider_type)) throw notFound('Gateway', connectionId);
  const secrets = secretsOf(deps, scope, row);
  const webhook = secrets['webhook_secret'];
  return {
    connection_id: row.id,
    scope,
    account: row.gateway_account_id,
    gateway: createTestGateway(deps, {
      id: row.id,
      scope,
      webhook_secret: typeof webhook === 'string' ? webhook : null,
    }),
  };
}

function secretsOf(
  { secretBox }: Pick<BillingDeps, 'secretBox'>,
  scope: Scope,
  row: ConnectionRow,
): Readonly<Record<string, unknown>> {
  if (row.secret_data === null) return {};
  const place = { tenant_id: scope.tenant_id, column: SECRET_COLUMN };
  return JSON.parse(secretBox.open(row.secret_data, place)) as Record<string, unknown>;
}

/** 503: the gateway does not answer; the sender repeats the event. */
export const gatewayUnavailable = (): BillingError =>
  new BillingError(
    'unavailable',
    'gateway_unavailable',
    'The payment gateway does not answer. Repeat the request later.',
  );
