import { invalidField, notFound } from '../../../domain/errors.ts';
import { ROTATION_MS } from '../../../domain/webhooks/retry-schedule.ts';
import { isoTime } from '../../../platform/clock.ts';
import { outboundProblem, type OutboundRules } from '../../../platform/outbound/outbound-rules.ts';
import { newWebhookSecret } from '../../../platform/outbound/standard-webhook.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type {
  CreateWebhookEndpointBody,
  UpdateWebhookEndpointBody,
  WebhookEndpoint,
} from '../../../schemas/webhooks/endpoint.ts';
import type { ApiDeps } from '../../deps.ts';
import { changed, newRecord, sent, type Caller } from '../../conventions/record.ts';

/** Column of the encrypted secrets; the encryption binds each secret to it. */
export const WEBHOOK_SECRET_COLUMN = 'webhook_endpoints.secret';

/** An endpoint as stored. The secrets are written here and read by the delivery job. */
type EndpointRow = WebhookEndpoint & {
  readonly secret: string;
  readonly previous_secret: string | null;
};

const columns = (db: Db) => db`
  id, tenant_id, environment_id, url, description, event_types, enabled, disabled_reason, failing_since,
  previous_secret_ends_at, status, created_at, updated_at, created_by, updated_by`;

const table = tableOf<WebhookEndpoint, EndpointRow>({
  name: 'webhook_endpoints',
  noun: 'Webhook endpoint',
  columns,
  json: [],
});

type Deps = Pick<ApiDeps, 'ids' | 'clock' | 'secretBox' | 'settings'>;

/** 404 if the endpoint is deleted, unknown or in another scope. */
export async function getEndpoint(db: Db, scope: Scope, id: string): Promise<WebhookEndpoint> {
  const endpoint = await table.get(db, scope, id);
  if (endpoint.status !== 'published') throw notFound('Webhook endpoint', id);
  return endpoint;
}

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

/** Creates an endpoint with a new secret, which is shown once. 400 if the URL may not be called. */
export async function createEndpoint(
  tx: Transaction,
  deps: Deps,
  caller: Caller,
  body: CreateWebhookEndpointBody,
): Promise<WebhookEndpoint & { readonly secret: string }> {
  await assertReachable(tx, deps, caller.scope, body.url);
  const secret = newWebhookSecret();
  const endpoint = await table.insert(tx, {
    ...newRecord(deps, caller, 'whe'),
    url: body.url,
    description: body.description ?? null,
    event_types: [...new Set(body.event_types ?? [])],
    enabled: body.enabled ?? true,
    disabled_reason: null,
    failing_since: null,
    secret: sealed(deps, caller.scope, secret),
    previous_secret: null,
    previous_secret_ends_at: null,
  });
  return { ...endpoint, secret };
}

export async function updateEndpoint(
  tx: Transaction,
  deps: Deps,
  caller: Caller,
  id: string,
  body: UpdateWebhookEndpointBody,
): Promise<WebhookEndpoint> {
  await getEndpoint(tx, caller.scope, id);
  if (body.url !== undefined) await assertReachable(tx, deps, caller.scope, body.url);
  const { url, enabled, description, event_types } = body;
  return await table.change(tx, caller.scope, id, {
    ...sent({ url, enabled, description }),
    ...(event_types === undefined ? {} : { event_types: [...new Set(event_types ?? [])] }),
    ...(enabled === true ? { disabled_reason: null, failing_since: null } : {}),
    ...changed(deps, caller),
  });
}

/** Deletes the endpoint and drops its pending deliveries. */
export async function deleteEndpoint(
  tx: Transaction,
  deps: Deps,
  caller: Caller,
  id: string,
): Promise<void> {
  await getEndpoint(tx, caller.scope, id);
  const change = changed(deps, caller);
  await table.change(tx, caller.scope, id, { status: 'deleted', enabled: false, ...change });
  await tx`
    update webhook_deliveries
       set delivery_status = 'exhausted', due_at = null, updated_at = ${change.updated_at}
     where ${inScope(tx, caller.scope)} and endpoint_id = ${id} and delivery_status = 'pending'`;
}

/**
 * Creates a new secret, which is shown once. The previous secret also signs for 24 hours, so that the
 * receiver can switch without losing a notification. 400 during these 24 hours of an earlier rotation (money
 * 17.2).
 */
export async function rotateSecret(
  tx: Transaction,
  deps: Deps,
  caller: Caller,
  id: string,
): Promise<WebhookEndpoint & { readonly secret: string }> {
  const endpoint = await getEndpoint(tx, caller.scope, id);
  const nowMs = deps.clock.now();
  const { previous_secret_ends_at: openUntil } = endpoint;
  if (openUntil !== null && openUntil > isoTime(nowMs))
    throw invalidField(
      'id',
      `the secret was rotated before; the next rotation is possible at ${openUntil}`,
    );
  const secret = newWebhookSecret();
  const [row] = await tx<WebhookEndpoint[]>`
    update webhook_endpoints
       set previous_secret = secret, secret = ${sealed(deps, caller.scope, secret)},
           previous_secret_ends_at = ${isoTime(nowMs + ROTATION_MS)},
           ${tx(changed(deps, caller))}
     where ${inScope(tx, caller.scope)} and id = ${id}
    returning ${columns(tx)}`;
  return { ...row!, secret };
}

const sealed = (deps: Deps, { tenant_id }: Scope, secret: string): string =>
  deps.secretBox.seal(secret, { tenant_id, column: WEBHOOK_SECRET_COLUMN });

async function assertReachable(db: Db, deps: Deps, scope: Scope, url: string): Promise<void> {
  const problem = outboundProblem(url, await rulesOf(db, deps, scope));
  if (problem !== null) throw invalidField('url', problem);
}

/** Addresses that requests of the environment may reach. */
export async function rulesOf(
  db: Db,
  { settings }: Pick<Deps, 'settings'>,
  scope: Scope,
): Promise<OutboundRules> {
  const [row] = await db<{ type: string }[]>`
    select type from environments
     where tenant_id = ${scope.tenant_id} and id = ${scope.environment_id}`;
  const isProduction = row?.type !== 'development';
  return { isProduction, allowedHosts: settings.outbound_allowed_hosts };
}

/** The signing secrets: the current one and, during a rotation, the previous one. */
export async function secretsOf(
  db: Db,
  deps: Pick<Deps, 'secretBox' | 'clock'>,
  scope: Scope,
  id: string,
): Promise<string[]> {
  const [row] = await db<SealedSecrets[]>`
    select tenant_id, secret, previous_secret, previous_secret_ends_at from webhook_endpoints
     where ${inScope(db, scope)} and id = ${id}`;
  return openSecrets(deps, row!);
}

/** Encrypted secrets of an endpoint. */
export interface SealedSecrets {
  readonly tenant_id: string;
  readonly secret: string;
  readonly previous_secret: string | null;
  readonly previous_secret_ends_at: string | null;
}

export function openSecrets(
  { secretBox, clock }: Pick<Deps, 'secretBox' | 'clock'>,
  { tenant_id, secret, previous_secret, previous_secret_ends_at }: SealedSecrets,
): string[] {
  const isRotating =
    previous_secret_ends_at !== null && previous_secret_ends_at > isoTime(clock.now());
  return [secret, ...(isRotating && previous_secret !== null ? [previous_secret] : [])].map(
    (sealed) => secretBox.open(sealed, { tenant_id, column: WEBHOOK_SECRET_COLUMN }),
  );
}
