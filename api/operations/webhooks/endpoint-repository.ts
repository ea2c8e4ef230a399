import { notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnsOf } from '../../../postgres/parameters.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { WebhookEndpoint } from '../../../schemas/webhooks/endpoint.ts';

/** An endpoint as stored. The secrets are written here and read by the delivery job. */
type EndpointRow = WebhookEndpoint & {
  readonly secret: string;
  readonly previous_secret: string | null;
};

const columns = (db: Db) => db`
  id, tenant_id, environment_id, url, description, event_types, enabled, disabled_reason, failing_since,
  previous_secret_ends_at, status, created_at, updated_at, created_by, updated_by`;

const endpoints = tableOf<WebhookEndpoint, EndpointRow>({
  name: 'webhook_endpoints',
  noun: 'Webhook endpoint',
  columns,
  json: [],
});

/** Inserts the endpoint. The answer contains no secret. */
export const insertEndpoint = endpoints.insert;

/** Changes the endpoint, whatever its status. 404 if it is unknown or belongs to another scope. */
export const changeEndpoint = endpoints.change;

/** 404 if the endpoint is deleted, unknown or in another scope. */
export async function getEndpoint(db: Db, scope: Scope, id: string): Promise<WebhookEndpoint> {
  const endpoint = await endpoints.get(db, scope, id);
  if (endpoint.status !== 'published') throw notFound('Webhook endpoint', id);
  return endpoint;
}

/** Endpoints that are not deleted. */
export function searchEndpoints(
  db: Db,
  scope: Scope,
  filter: { readonly enabled?: boolean | null; readonly search: Search },
): Promise<Page<WebhookEndpoint>> {
  return findPage<WebhookEndpoint>(db, {
    columns: columns(db),
    from: db`webhook_endpoints`,
    where: db`${inScope(db, scope)} and status = 'published'
      ${filter.enabled == null ? db`` : db`and enabled = ${filter.enabled}`}`,
    search: filter.search,
  });
}

/** Gives up the endpoint's pending deliveries. */
export async function dropPendingDeliveries(
  tx: Transaction,
  scope: Scope,
  endpointId: string,
  at: string,
): Promise<void> {
  await tx`
    update webhook_deliveries
       set delivery_status = 'exhausted', due_at = null, updated_at = ${at}
     where ${inScope(tx, scope)} and endpoint_id = ${endpointId} and delivery_status = 'pending'`;
}

/** Gives the endpoint a new secret. The present one becomes the previous one, until the given time. */
export async function replaceSecret(
  tx: Transaction,
  scope: Scope,
  id: string,
  change: {
    /** Encrypted. */
    readonly secret: string;
    readonly previous_secret_ends_at: string;
    readonly updated_at: string;
    readonly updated_by: string;
  },
): Promise<WebhookEndpoint> {
  const [row] = await tx<WebhookEndpoint[]>`
    update webhook_endpoints
       set previous_secret = secret, ${columnsOf(tx, change)}
     where ${inScope(tx, scope)} and id = ${id}
    returning ${columns(tx)}`;
  return row!;
}

/** Encrypted secrets of an endpoint. */
export interface SealedSecrets {
  readonly tenant_id: string;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_secret_ends_at: string | null;
}

/** The encrypted secrets of an endpoint that exists. */
export async function getSealedSecrets(db: Db, scope: Scope, id: string): Promise<SealedSecrets> {
  const [row] = await db<SealedSecrets[]>`
    select tenant_id, secret, previous_secret, previous_secret_ends_at from webhook_endpoints
     where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Webhook endpoint', id);
  return row;
}

/** An endpoint that is disabled, with the name of its environment. */
export interface DisabledEndpoint {
  readonly url: string;
  readonly disabled_reason: string | null;
  readonly environment_id: string;
  readonly environment: string;
}

/** The endpoint of the tenant; null if it is unknown, enabled or deleted. */
export async function findDisabledEndpoint(
  db: Db,
  tenantId: string,
  id: string,
): Promise<DisabledEndpoint | null> {
  const [row] = await db<DisabledEndpoint[]>`
    select w.url, w.disabled_reason, w.environment_id, e.name as environment
      from webhook_endpoints w join environments e on e.id = w.environment_id
     where w.tenant_id = ${tenantId} and w.id = ${id}
       and w.status = 'published' and not w.enabled`;
  return row ?? null;
}
