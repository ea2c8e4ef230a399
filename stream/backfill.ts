import { setImmediate as breathe, setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../platform/failpoint.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import {
  backfillBounds,
  beginBackfills,
  completeEmptyBackfill,
  endReplay,
  noteBackfillProgress,
  noteBackfillTotal,
  noteVerification,
  versionsInBackfill,
  type VersionInBackfill,
} from '../postgres/tables/meter-backfills.ts';
import { setVersionsAside } from '../postgres/tables/meter-versions.ts';
import type { CanonicalEventsQuery, UsageStore } from '../clickhouse/writing/usage-store.ts';
import { compileOrFail, MetersFailed } from './meter-catalog.ts';
import { BatchRows } from './batch-rows.ts';
import { meterEvent } from './meter-events.ts';
import { verifyVersion } from './verify-version.ts';

export interface BackfillDeps {
  readonly pool: Pool;
  readonly store: UsageStore;
  readonly eventLog: EventLog;
  readonly log: Logger;
  /** Generation of the sealer's turn: only the newest one records progress. */
  readonly generation: bigint;
}

const POLL_MS = 100;
/** Long backfills that run at a time. A version without earlier events never waits for them. */
const RUNNING_MAX = 2;

/**
 * The process and ClickHouse must handle live events too. A backfill therefore pauses for as long as it has
 * worked, and yields to other work after this many events.
 */
const REST_PER_WORK = 1;
const EVENTS_AT_ONCE = 1_000;

/**
 * Computes the past usage of new meter versions (metering 4 and 6). Once every partition has recorded from
 * where it evaluates a version live, the canonical raw events below are evaluated too. Rows carry the events'
 * own positions, so duplicates collapse if a chunk is repeated after a crash, or if a paused process writes
 * one late. When all rows are written the sealer computes the version's buckets from scratch. They are then
 * verified against the raw events; if both agree, the version is complete.
 */
export class Backfill {
  readonly #deps: BackfillDeps;
  readonly #running = new Map<string, Promise<void>>();
  #failure: { readonly error: unknown } | null = null;

  constructor(deps: BackfillDeps) {
    this.#deps = deps;
  }

  /** Runs until the turn is over. Throws the errors of replays and verifications when all have ended. */
  async run(over: AbortSignal): Promise<void> {
    const { pool, eventLog, generation } = this.#deps;
    const failed = new AbortController();
    const ended = AbortSignal.any([over, failed.signal]);
    try {
      while (!ended.aborted) {
        const versions = await versionsInBackfill(pool);
        // Read from the log each time: another process may have resized it.
        if (versions.some(({ backfill_state }) => backfill_state === 'waiting')) {
          const open = (await eventLog.epochs()).at(-1)!;
          if ((await beginBackfills(pool, generation, open)) > 0) continue;
        }
        for (const version of versions) await this.#take(version, ended, failed);
        await sleep(POLL_MS, undefined, { signal: ended }).catch(() => {});
      }
    } finally {
      failed.abort();
      await Promise.all(this.#running.values());
    }
    if (this.#failure !== null) throw this.#failure.error;
  }

  async #take(
    version: VersionInBackfill,
    ended: AbortSignal,
    failed: AbortController,
  ): Promise<void> {
    const { id, backfill_state: state } = version;
    if (this.#running.has(id)) return;
    if (state === 'replaying' && (await this.#isEmpty(version))) {
      await completeEmptyBackfill(this.#deps.pool, this.#deps.generation, id);
      return;
    }
    if (this.#running.size >= RUNNING_MAX || (state !== 'replaying' && state !== 'verifying'))
      return;
    const work =
      state === 'replaying' ? this.#replay(version, ended) : this.#verify(version, ended);
    const running = work
      .catch(async (error: unknown) => {
        if (!(error instanceof MetersFailed)) throw error;
        await setVersionsAside(this.#deps.pool, error.failed);
        this.#deps.log.error({ failed: error.failed }, 'backfill: meter is set aside');
      })
      .catch((error: unknown) => {
        this.#failure ??= { error };
        failed.abort();
      })
      .finally(() => this.#running.delete(id));
    this.#running.set(id, running);
  }

  /** Counts the events to replay, if they are not counted yet. */
  async #isEmpty(version: VersionInBackfill): Promise<boolean> {
    const { pool, store } = this.#deps;
    if (version.backfill_total !== null) return version.backfill_total === '0';
    const total = await store.countCanonicalEvents(await this.#events(version));
    await noteBackfillTotal(pool, version.id, total);
    return total === 0;
  }

  async #events(version: VersionInBackfill): Promise<CanonicalEventsQuery> {
    return {
      tenant_id: version.tenant_id,
      environment_id: version.environment_id,
      event_name: version.spec.event_name,
      below: await backfillBounds(this.#deps.pool, version.id),
    };
  }

  async #replay(version: VersionInBackfill, ended: AbortSignal): Promise<void> {
    const { pool, store, generation, log } = this.#deps;
    const meter = compileOrFail(version);
    const cursor = version.backfill_cursor;
    const after = cursor === null ? undefined : { ...cursor, position: BigInt(cursor.position) };
    const rows = new BatchRows();
    let began = performance.now();
    for await (const events of store.canonicalEvents({ ...(await this.#events(version)), after })) {
      if (ended.aborted) return;
      for (const [index, event] of events.entries()) {
        if (index > 0 && index % EVENTS_AT_ONCE === 0) await breathe();
        meterEvent(event, event, [meter], rows);
      }
      const { usage, rejected, rejections } = rows.take();
      if (usage !== null) await store.appendEncoded([usage]);
      if (rejected !== null) await store.appendEncoded([rejected]);
      failpoint('backfill.after_chunk');
      const last = events.at(-1)!;
      const noted = await noteBackfillProgress(pool, generation, version.id, {
        events: events.length,
        rejected: rejections.length,
        erased: rejections.filter(({ reason }) => reason === 'properties_erased').length,
        cursor: {
          external_customer_id: last.external_customer_id,
          timestamp: last.timestamp,
          position: String(last.position),
          partition: last.partition,
        },
      });
      if (!noted) return;
      await rest((performance.now() - began) * REST_PER_WORK, ended);
      began = performance.now();
    }
    await endReplay(pool, generation, version.id);
    failpoint('backfill.after_replay');
    log.info({ meter_version_id: version.id }, 'backfill: replayed');
  }

  async #verify(version: VersionInBackfill, ended: AbortSignal): Promise<void> {
    const { pool, generation, log } = this.#deps;
    const found = await verifyVersion(this.#deps, version, ended);
    failpoint('backfill.after_recount');
    if (found === null) return;
    await noteVerification(pool, generation, version.id, found);
    const about = { meter_version_id: version.id, ...found };
    if (found.mismatched === 0) log.info(about, 'backfill: verified');
    else log.error(about, 'backfill: buckets are not what the events come to');
  }
}

async function rest(ms: number, ended: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: ended }).catch(() => {});
}
