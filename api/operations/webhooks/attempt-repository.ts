import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { columnsOf, jsonOf } from '../../../postgres/parameters.ts';
import { findPage } from '../../../postgres/search.ts';
import type { AttemptRow } from '../../../postgres/tables/webhook-deliveries.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import type { WebhookAttempt } from '../../../schemas/webhooks/endpoint.ts';
import { getEndpoint } from './endpoint-repository.ts';

const columns = (db: Db) => db`
  id, endpoint_id, event_id as system_event_id, event_type, attempt, created_at, duration_ms, status_code,
  error, request_headers, request_body, response_headers, response_body`;

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

/** Payload of the newest notification of the type that still has one; null if there is none. */
export async function findNewestPayload(
  db: Db,
  scope: Scope,
  eventType: string,
): Promise<Record<string, unknown> | null> {
  const [latest] = await db<{ payload: Record<string, unknown> }[]>`
    select payload from outbox
     where ${inScope(db, scope)} and event_type = ${eventType} and payload is not null
     order by sequence desc limit 1`;
  return latest?.payload ?? null;
}

/** An attempt that belongs to no delivery, as written. */
type NewAttempt = AttemptRow &
  Scope & {
    readonly endpoint_id: string;
    readonly event_id: string;
    readonly event_type: string;
    readonly attempt: number;
  };

/** Inserts the attempt and returns it as read. */
export async function insertAttempt(db: Db, row: NewAttempt): Promise<WebhookAttempt> {
  const { request_headers, response_headers } = row;
  const [stored] = await db<WebhookAttempt[]>`
    insert into webhook_attempts ${columnsOf(db, {
      ...row,
      request_headers: jsonOf(db, request_headers),
      response_headers: response_headers === null ? null : jsonOf(db, response_headers),
    })}
    returning ${columns(db)}`;
  return stored!;
}
