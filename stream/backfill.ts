import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../platform/failpoint.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import {
  backfillBounds,
  beginBackfills,
  endReplay,
  noteBackfillProgress,
  noteBackfillTotal,
  versionsInBackfill,
  type VersionInBackfill,
} from '../postgres/meter-backfills.ts';
import type { UsageStore } from '../clickhouse/usage-store.ts';
import { compileActiveMeter } from './meter-catalog.ts';
import { BatchRows } from './batch-rows.ts';
import { meterEvent } from './meter-events.ts';

export interface BackfillDeps {
  readonly pool: Pool;
  readonly store: UsageStore;
  readonly eventLog: EventLog;
  readonly log: Logger;
  /** Of the sealer's turn: progress is noted by the newest one only. */
  readonly generation: bigint;
}

const POLL_MS = 250;

/**
 * Gives new meter versions their past (metering 4 and 6): once every partition has said from where it
 * evaluates a version live, the canonical raw events below are evaluated too. Rows carry the events'
 * own positions, so a chunk that is repeated after a crash, or one that a paused process writes late,
 * collapses. When all rows are there the sealer computes the version's buckets from scratch, and with
 * that seal the version is complete.
 */
export class Backfill {
  readonly #deps: BackfillDeps;

  constructor(deps: BackfillDeps) {
    this.#deps = deps;
  }

  async run(over: AbortSignal): Promise<void> {
    const { pool, eventLog, generation } = this.#deps;
    while (!over.aborted) {
      await beginBackfills(pool, generation, eventLog);
      const replaying = (await versionsInBackfill(pool)).filter(
        (version) => version.backfill_state === 'replaying',
      );
      for (const version of replaying) await this.#replay(version, over);
      await sleep(POLL_MS, undefined, { signal: over }).catch(() => {});
    }
  }

  async #replay(version: VersionInBackfill, over: AbortSignal): Promise<void> {
    const { pool, store, eventLog, generation, log } = this.#deps;
    const meter = compileActiveMeter(version, log);
    const query = {
      tenant_id: version.tenant_id,
      environment_id: version.environment_id,
      event_name: version.spec.event_name,
      below: await backfillBounds(pool, version.id, eventLog.epoch),
    };
    if (version.backfill_total === null)
      await noteBackfillTotal(pool, version.id, await store.countCanonicalEvents(query));

    const cursor = version.backfill_cursor;
    const after = cursor === null ? undefined : { ...cursor, position: BigInt(cursor.position) };
    const rows = new BatchRows();
    for await (const events of store.canonicalEvents({ ...query, after })) {
      if (over.aborted) return;
      for (const event of events) meterEvent(event, event, [meter], rows);
      const { usage, rejected, rejections } = rows.take();
      if (usage !== null) await store.appendEncoded([usage]);
      if (rejected !== null) await store.appendEncoded([rejected]);
      failpoint('backfill.after_chunk');
      const last = events.at(-1)!;
      const noted = await noteBackfillProgress(pool, generation, version.id, {
        events: events.length,
        rejected: rejections.length,
        cursor: {
          external_customer_id: last.external_customer_id,
          timestamp: last.timestamp,
          position: String(last.position),
          partition: last.partition,
        },
      });
      if (!noted) return;
    }
    await endReplay(pool, generation, version.id);
    failpoint('backfill.after_replay');
    log.info({ meter_version_id: version.id }, 'backfill: replayed');
  }
}
