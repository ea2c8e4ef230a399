import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import { writeOutboxEvents } from '../postgres/tables/outbox.ts';
import type { Rejection } from './batch-rows.ts';

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
    const events = due.map(({ row, count }) => ({
      scope: { tenant_id: row.tenant_id, environment_id: row.environment_id },
      event_type: 'event.rejected' as const,
      payload: {
        event: {
          id: row.event_id,
          event_name: row.event_name,
          external_customer_id: row.external_customer_id,
          meter_version_id: row.meter_version_id === '' ? null : row.meter_version_id,
          reason: row.reason,
          message: row.message,
          count,
        },
      },
    }));
    try {
      await this.#deps.pool.begin((tx) => writeOutboxEvents(tx, events));
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'event.rejected was not sent');
    }
  }
}
