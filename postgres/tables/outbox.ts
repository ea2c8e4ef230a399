import assert from 'node:assert/strict';
import type { WebhookEventType } from '../../schemas/webhooks/event-types.ts';
import type { Db, Fragment, Scope, Transaction } from '../client.ts';
import { insertOf } from '../insert-rows.ts';

/** One notification. `payload` is `{<section>: <snapshot>}`, sections as money 17.3 names them. */
export interface OutboxEvent {
  readonly event_type: WebhookEventType;
  readonly payload: OutboxPayload;
  /** The entity of the event; by default the first section of the payload and its `id`. */
  readonly entity?: { readonly entity_type: string; readonly entity_id: string };
}
export type OutboxPayload = Readonly<Record<string, unknown>>;

/**
 * Writes one notification in the transaction that makes it true. The caller holds the entity's row lock (or
 * has just inserted the row), so that events of one entity keep the order of its changes.
 */
export async function writeOutbox(
  tx: Transaction,
  scope: Scope,
  event_type: WebhookEventType,
  payload: OutboxPayload,
): Promise<void> {
  await writeOutboxEvents(tx, [{ scope, event_type, payload }]);
}

/** Several notifications in one statement, in order; scopes may differ (billing runs span tenants). */
export async function writeOutboxEvents(
  tx: Transaction,
  events: readonly (OutboxEvent & { readonly scope: Scope })[],
): Promise<void> {
  if (events.length === 0) return;
  await insertIntoOutbox(tx, events);
}

/** The statement that writes them, to run alone or as a part of the statement that makes them true. */
export function insertIntoOutbox(
  db: Db,
  events: readonly (OutboxEvent & { readonly scope: Scope })[],
): Fragment {
  assert(events.length > 0);
  const rows = events.map((event) => ({
    tenant_id: event.scope.tenant_id,
    environment_id: event.scope.environment_id,
    event_type: event.event_type,
    ...(event.entity ?? entityOf(event.payload)),
    payload: event.payload,
  }));
  return insertOf(db, 'outbox', rows);
}

function entityOf(payload: OutboxPayload): { entity_type: string; entity_id: string } {
  const [entity_type, snapshot] = Object.entries(payload)[0] ?? [];
  const entity_id = (snapshot as { id?: unknown } | undefined)?.id;
  assert(
    entity_type !== undefined && typeof entity_id === 'string',
    'a payload begins with its entity',
  );
  return { entity_type, entity_id };
}

/** A notification that the log of notifications does not have yet. */
export interface UnloggedNotification {
  readonly event_id: string;
  readonly sequence: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly event_type: string;
  readonly entity_type: string;
  readonly entity_id: string;
  readonly payload: OutboxPayload;
  readonly occurred_at: string;
  readonly clock_time: string | null;
}

/**
 * The first notifications that are not logged. A notification is written under the lock of its entity, so an
 * earlier one of the same entity is visible before it, and has a smaller sequence.
 */
export async function unloggedNotifications(
  db: Db,
  limit: number,
): Promise<UnloggedNotification[]> {
  return await db<UnloggedNotification[]>`
    select id as event_id, sequence::text as sequence, tenant_id, environment_id, event_type, entity_type,
           entity_id, payload, occurred_at, clock_time
      from outbox where logged_at is null and payload is not null
     order by outbox.sequence limit ${limit}`;
}

export async function noteLogged(
  tx: Transaction,
  sequences: readonly string[],
  at: string,
): Promise<void> {
  await tx`
    update outbox set logged_at = ${at} where sequence = any(${[...sequences]}::bigint[])`;
}
