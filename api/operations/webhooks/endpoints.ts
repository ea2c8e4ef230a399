import { invalidField } from '../../../domain/errors.ts';
import { ROTATION_MS } from '../../../domain/webhooks/retry-schedule.ts';
import { isoTime } from '../../../platform/clock.ts';
import { outboundProblem, type OutboundRules } from '../../../platform/outbound/outbound-rules.ts';
import { newWebhookSecret } from '../../../platform/outbound/standard-webhook.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import type {
  CreateWebhookEndpointBody,
  UpdateWebhookEndpointBody,
  WebhookEndpoint,
} from '../../../schemas/webhooks/endpoint.ts';
import type { ApiDeps } from '../../deps.ts';
import { changed, newRecord, sent, type Caller } from '../../conventions/record.ts';
import { findEnvironmentType } from '../../tenancy/environments/repository.ts';
import {
  changeEndpoint,
  dropPendingDeliveries,
  getEndpoint,
  getSealedSecrets,
  insertEndpoint,
  replaceSecret,
  type SealedSecrets,
} from './endpoint-repository.ts';

/** Column of the encrypted secrets; the encryption binds each secret to it. */
export const WEBHOOK_SECRET_COLUMN = 'webhook_endpoints.secret';

type Deps = Pick<ApiDeps, 'ids' | 'clock' | 'secretBox' | 'settings'>;

/** Creates an endpoint with a new secret, which is shown once. 400 if the URL may not be called. */
export async function createEndpoint(
  tx: Transaction,
  deps: Deps,
  caller: Caller,
  body: CreateWebhookEndpointBody,
): Promise<WebhookEndpoint & { readonly secret: string }> {
  await assertReachable(tx, deps, caller.scope, body.url);
  const secret = newWebhookSecret();
  const endpoint = await insertEndpoint(tx, {
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
  return await changeEndpoint(tx, caller.scope, id, {
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
  await changeEndpoint(tx, caller.scope, id, { status: 'deleted', enabled: false, ...change });
  await dropPendingDeliveries(tx, caller.scope, id, change.updated_at);
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
  const rotated = await replaceSecret(tx, caller.scope, id, {
    secret: sealed(deps, caller.scope, secret),
    previous_secret_ends_at: isoTime(nowMs + ROTATION_MS),
    ...changed(deps, caller),
  });
  return { ...rotated, secret };
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
  const isProduction = (await findEnvironmentType(db, scope)) !== 'development';
  return { isProduction, allowedHosts: settings.outbound_allowed_hosts };
}

/** The signing secrets: the current one and, during a rotation, the previous one. */
export async function secretsOf(
  db: Db,
  deps: Pick<Deps, 'secretBox' | 'clock'>,
  scope: Scope,
  id: string,
): Promise<string[]> {
  return openSecrets(deps, await getSealedSecrets(db, scope, id));
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
