import { isoTime, type Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool, Scope, Transaction } from '../postgres/client.ts';
import { writeOutboxEvents } from '../postgres/tables/outbox.ts';
import type { Rejection } from './batch-rows.ts';
import type { MeteredEvent } from './meter-events.ts';

const PAUSE_MS = 60_000;
const KEYS_MAX = 10_000;

/**
 * Sends `event.rejected` for events that were set aside: the first of each environment, meter version and
 * reason at once, then at most one a minute with the number since the last one. A notification may be lost
 * with the process; the authoritative record is events_rejected.
 */
export class RejectionNotices {
  readonly #deps: { readonly pool: Pool; readonly clock: Clock; readonly log: Logger };
  readonly #sent = new Map<string, { at: number; since: number }>();

  constructor(deps: { readonly pool: Pool; readonly clock: Clock; readonly log: Logger }) {
    this.#deps = deps;
  }

  note(rejected: readonly Rejection[]): void {
    const due: { row: Rejection; count: number }[] = [];
    const now = this.#deps.clock.now();
    for (const row of rejected) {
      // The tenant of an undecodable record is unknown, so there is no one to notify.
      if (row.tenant_id === '') continue;
      const key = `${row.tenant_id} ${row.environment_id} ${row.meter_version_id} ${row.reason}`;
      const last = this.#sent.get(key);
      if (last !== undefined && now - last.at < PAUSE_MS) {
        last.since++;
        continue;
      }
      if (this.#sent.size >= KEYS_MAX) this.#sent.clear();
      this.#sent.set(key, { at: now, since: 0 });
      due.push({ row, count: (last?.since ?? 0) + 1 });
    }
    if (due.length > 0) void this.#send(due);
  }

  async #send(due: readonly { row: Rejection; count: number }[]): Promise<void> {
    const { pool, log } = this.#deps;
    try {
      await pool.begin(async (tx) => {
        const customerOf = await findCustomerIds(
          tx,
          due.map(({ row }) => row),
        );
        const events = due.map(({ row, count }) => ({
          scope: { tenant_id: row.tenant_id, environment_id: row.environment_id },
          event_type: 'event.rejected' as const,
          payload: { event: noticeOf(row, customerOf(row), count) },
        }));
        await writeOutboxEvents(tx, events);
      });
    } catch (error) {
      log.warn({ err: error }, 'event.rejected was not sent');
    }
  }
}

const noticeOf = (row: Rejection, customer_id: string | null, count: number) => ({
  id: storable(row.event_id),
  event_name: storable(row.event_name),
  customer_id,
  external_customer_id: storable(row.external_customer_id),
  source: storable(row.event?.source ?? ''),
  properties: row.event === null ? null : propertiesOf(row.event),
  timestamp: row.event === null ? null : isoTime(row.event.timestamp),
  meter_version_id: row.meter_version_id === '' ? null : row.meter_version_id,
  reason: row.reason,
  message: row.message,
  count,
});

/** Notifications are small. */
const PROPERTIES_LENGTH_MAX = 8_192;
/** Escapes of characters that Postgres has in no text: the zero byte and halves of a pair. */
const UNSTORABLE = /\\u(?:0000|d[89a-f])/i;

/** Null if they are no JSON object, are too long, or cannot be stored. */
function propertiesOf({ properties }: MeteredEvent): Record<string, unknown> | null {
  if (properties === '') return {};
  if (properties.length > PROPERTIES_LENGTH_MAX) return null;
  try {
    const value: unknown = JSON.parse(properties);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (!isObject || UNSTORABLE.test(JSON.stringify(value))) return null;
    return value as Record<string, unknown>;
  } catch {
    return null;
  }
}

const storable = (text: string): string => text.replaceAll('\0', '\uFFFD');

/** Returns a function that gives the id of the published customer of a rejected event, or null. */
async function findCustomerIds(
  tx: Transaction,
  rows: readonly Rejection[],
): Promise<(row: Rejection) => string | null> {
  const key = (row: Scope & { readonly external_id: string }): string =>
    JSON.stringify([row.tenant_id, row.environment_id, row.external_id]);
  const named = rows.map(({ tenant_id, environment_id, external_customer_id }) => ({
    tenant_id,
    environment_id,
    external_id: storable(external_customer_id),
  }));
  const found = await tx<(Scope & { external_id: string; id: string })[]>`
    select c.tenant_id, c.environment_id, c.external_id, c.id
      from unnest(${named.map(({ tenant_id }) => tenant_id)}::text[],
                  ${named.map(({ environment_id }) => environment_id)}::text[],
                  ${named.map(({ external_id }) => external_id)}::text[])
             as n (tenant_id, environment_id, external_id)
      join customers c on c.tenant_id = n.tenant_id and c.environment_id = n.environment_id
       and c.external_id = n.external_id and c.status = 'published'`;
  const ids = new Map(found.map((customer) => [key(customer), customer.id]));
  return ({ tenant_id, environment_id, external_customer_id }) =>
    ids.get(key({ tenant_id, environment_id, external_id: storable(external_customer_id) })) ??
    null;
}
