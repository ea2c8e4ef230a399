import { isoTime } from '../../../platform/clock.ts';
import { sendNotification } from '../../../platform/outbound/send-notification.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { WebhookAttempt } from '../../../schemas/webhooks/endpoint.ts';
import type { WebhookEventType } from '../../../schemas/webhooks/event-types.ts';
import type { ApiDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { getEndpoint, rulesOf, secretsOf } from './endpoints.ts';

/** Attempts of an endpoint, newest first. 404 for an unknown endpoint. */
export async function searchAttempts(
  db: Db,
  scope: Scope,
  endpointId: string,
  filter: {
    readonly system_event_id?: string | null;
    readonly event_type?: string | null;
    readonly search: Search;
  },
): Promise<Page<WebhookAttempt>> {
  await getEndpoint(db, scope, endpointId);
  const { system_event_id, event_type, search } = filter;
  return await findPage<WebhookAttempt>(db, {
    columns: columns(db),
    from: db`webhook_attempts`,
    where: db`${inScope(db, scope)} and endpoint_id = ${endpointId}
      ${system_event_id ? db`and event_id = ${system_event_id}` : db``}
      ${event_type ? db`and event_type = ${event_type}` : db``}`,
    search,
  });
}

const columns = (db: Db) => db`
  id, endpoint_id, event_id as system_event_id, event_type, attempt, created_at, duration_ms, status_code,
  error, request_headers, request_body, response_headers, response_body`;

/**
 * Sends the newest notification of the type to the endpoint once as a test, with a new id and `test: true`.
 * If there is no notification of the type, the body has no record.
 */
export async function sendTest(
  deps: Pick<ApiDeps, 'pool' | 'ids' | 'clock' | 'secretBox' | 'settings' | 'outbound'>,
  { scope }: Caller,
  id: string,
  event_type: WebhookEventType,
): Promise<WebhookAttempt> {
  const { pool, clock } = deps;
  const endpoint = await getEndpoint(pool, scope, id);
  const [latest] = await pool<{ payload: Record<string, unknown> }[]>`
    select payload from outbox
     where ${inScope(pool, scope)} and event_type = ${event_type} and payload is not null
     order by sequence desc limit 1`;
  const event_id = deps.ids.next('outbox');
  const attempt = await sendNotification(
    deps,
    {
      event_id,
      event_type,
      occurred_at: isoTime(clock.now()),
      clock_time: null,
      environment_id: scope.environment_id,
      sequence: null,
      payload: { ...latest?.payload, test: true },
    },
    {
      url: endpoint.url,
      secrets: await secretsOf(pool, deps, scope, id),
      rules: await rulesOf(pool, deps, scope),
    },
  );
  const { request_headers, response_headers } = attempt;
  const [stored] = await pool<WebhookAttempt[]>`
    insert into webhook_attempts ${pool({
      ...attempt,
      ...scope,
      id: deps.ids.next('whatt'),
      endpoint_id: id,
      event_id,
      event_type,
      attempt: 1,
      request_headers: pool.json(request_headers),
      response_headers: response_headers === null ? null : pool.json(response_headers),
    })}
    returning ${columns(pool)}`;
  return stored!;
}
