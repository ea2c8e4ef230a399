import assert from 'node:assert/strict';
import { recordCrc } from '../platform/event-log/record-crc.ts';
import { epochToRead, withNotedEnds, type LogEpoch } from '../domain/metering/epochs.ts';
import type { LogFault } from '../domain/metering/log-identity.ts';
import { packPosition } from '../domain/metering/position.ts';
import type { Clock } from '../platform/clock.ts';
import type {
  EventLog,
  LogAssignment,
  LogBatch,
  LogConsumer,
  LogReader,
  LogStart,
} from '../platform/event-log/event-log.ts';
import { failpoint } from '../platform/failpoint.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import {
  moveProgress,
  takePartition,
  type Assignment,
  type LogPartition,
} from '../postgres/tables/stream-progress.ts';
import { noteEnd, noteForwarded, readEnds } from '../postgres/tables/stream-epoch-ends.ts';
import { noteStop } from '../postgres/tables/stream-stops.ts';
import {
  moveReplay,
  readReaderProgress,
  readReplay,
  readReplayVersions,
} from '../postgres/tables/stream-replays.ts';
import type { StoredCopy, UsageStore } from '../clickhouse/writing/usage-store.ts';
import { isOfNewerSchema } from '../schemas/events/usage-event.ts';
import type { BatchRows } from './batch-rows.ts';
import { forwardRecords, lateRecords, type LateRecords } from './forward-records.ts';
import { PartitionIndex } from './event-index.ts';
import { MeterCatalog, MeterCatalogCache, MetersFailed } from './meter-catalog.ts';
import type { StreamMetrics } from './metrics.ts';
import { Draining, type OutagePatience } from './outage.ts';
import { PartitionStopped, RecordOfNewerSchema } from './refusals.ts';
import { StoredCopies } from './stored-copies.ts';
import { OwnedPartition, PartitionLost } from './owned-partition.ts';
import { processBatch, type BatchOutcome } from './process-batch.ts';
import type { RejectionNotices } from './rejection-notices.ts';
import { Troubles } from './troubles.ts';
import type { TableWriters } from './table-writers.ts';

/** Number of stored copies beyond the progress that are compared with the log. */
const STORED_COMPARED = 100;

/** The stream's consumer group. */
export const STREAM_GROUP = 'stream';

export interface ConsumerDeps {
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly store: UsageStore;
  readonly rows: BatchRows;
  readonly writers: TableWriters;
  readonly patience: OutagePatience;
  readonly metrics: StreamMetrics;
  readonly notices: RejectionNotices;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface ConsumerOptions {
  readonly batchEvents: number;
  readonly batchWaitMs: number;
}

/**
 * Reads the log and moves the watermarks (metering 4). The authoritative progress is our own row per
 * partition. An assignment takes the next generation, which makes every progress of an earlier owner refused,
 * and begins at that row.
 */
export class StreamConsumer implements LogReader {
  readonly #deps: ConsumerDeps;
  readonly #catalog: MeterCatalogCache;
  readonly #owned = new Map<number, OwnedPartition>();
  readonly #troubles: Troubles;
  #forwarding: Promise<void> | null = null;
  #consumer: LogConsumer | undefined;

  constructor(deps: ConsumerDeps) {
    this.#deps = deps;
    const { pool, log, clock } = deps;
    this.#troubles = new Troubles(() => clock.now());
    this.#catalog = new MeterCatalogCache({ pool, log }, () => this.#noteCatalogEverywhere());
  }

  async open({ batchEvents, batchWaitMs }: ConsumerOptions): Promise<void> {
    await this.#catalog.open();
    this.#consumer = await this.#deps.eventLog.consume(STREAM_GROUP, this, {
      maxBatchEvents: batchEvents,
      maxBatchWaitMs: batchWaitMs,
    });
  }

  /** Finishes the batches in flight as far as the stores answer, and gives up the partitions. */
  async close(): Promise<void> {
    this.#deps.patience.drain();
    await this.#consumer?.close();
    await this.#forwarding;
    await this.#catalog.close();
  }

  /** Partitions held now. */
  assigned(): number[] {
    return this.#consumer?.assigned() ?? [];
  }

  /** Whether every held partition recognizes new ids without querying ClickHouse. */
  get filtersCover(): boolean {
    return [...this.#owned.values()].every((owned) => owned.index.covers);
  }

  get filterBytes(): number {
    return [...this.#owned.values()].reduce((sum, owned) => sum + owned.index.filterBytes, 0);
  }

  /** Decided from our own progress and replays, and from the recorded ends of closed epochs. */
  async epochToRead(epochs: readonly LogEpoch[]): Promise<number> {
    if (epochs.length === 1) return epochs[0]!.epoch;
    const { pool } = this.#deps;
    const noted = await readEnds(pool);
    const late = lateRecords(epochs, noted);
    if (late.length > 0) this.#forwardLate(late);
    return epochToRead(withNotedEnds(epochs, noted), await readReaderProgress(pool));
  }

  /** One run at a time; the next check finds records that failed. */
  #forwardLate(late: readonly LateRecords[]): void {
    const { pool, eventLog, log } = this.#deps;
    this.#forwarding ??= (async () => {
      for (const records of late) {
        const events = await forwardRecords(eventLog, records);
        await noteForwarded(pool, records, records.to);
        const { epoch, partition } = records;
        log.warn({ epoch, partition, events }, 'late records of a closed epoch were forwarded');
      }
    })()
      .catch((error: unknown) => log.error({ err: error }, 'late records wait'))
      .finally(() => (this.#forwarding = null));
  }

  /** Partitions that this process cannot read now, with the reason. */
  troubles(): { readonly partition: number; readonly reason: string }[] {
    return this.#troubles.current();
  }

  async start(at: LogAssignment): Promise<LogStart | null> {
    try {
      return await this.#start(at);
    } catch (error) {
      throw this.#troubled(at.partition, error);
    }
  }

  async #start(at: LogAssignment): Promise<LogStart | null> {
    const { pool, store, log } = this.#deps;
    const { epoch, partition } = at;
    const assignment = await takePartition(pool, at);
    if (assignment.stop !== null) throw new PartitionStopped(at, assignment.stop);
    await this.#catalog.atLeast(assignment.catalogFloor);
    const from = (await this.#replayFrom(assignment)) ?? assignment.nextOffset;
    const isDrained = assignment.end !== null && assignment.nextOffset >= assignment.end;
    if (isDrained && from >= assignment.nextOffset) return null;
    const stored = isDrained ? [] : await this.#storedBeyond(assignment);
    const greatest = StoredCopies.greatest(stored);
    if (!isDrained && (assignment.laterEpochRead || (greatest !== null && greatest.epoch > epoch)))
      await this.#stop(at, 'epoch_behind');

    this.#forget(partition);
    const index = new PartitionIndex(store, at);
    index
      .load()
      .catch((error: unknown) =>
        log.warn({ err: error, partition }, 'ids are looked up one by one'),
      );
    const owned = new OwnedPartition(assignment, index, from, new StoredCopies(stored));
    this.#owned.set(partition, owned);
    log.info(
      { partition, epoch, generation: assignment.generation, from: String(from) },
      'assigned',
    );
    void this.#noteCatalog(owned);
    const handled = {
      nextOffset: assignment.nextOffset,
      lastCrc: assignment.lastCrc,
      storedUpTo: greatest?.offset ?? null,
      recordedEnd: assignment.end,
    };
    return { offset: from, handled };
  }

  /** From now on, a closed partition is drained when the progress has reached its end. */
  async agrees(at: LogAssignment, next: bigint): Promise<void> {
    if (at.closed) await noteEnd(this.#deps.pool, at, next);
  }

  /** The log is not the one that this process has read. */
  async differs(at: LogAssignment, fault: LogFault): Promise<void> {
    this.#forget(at.partition);
    await this.#noteStop(at, fault);
  }

  async handle(batch: LogBatch): Promise<void> {
    try {
      await this.#handle(batch);
      this.#troubles.solved(batch.partition);
    } catch (error) {
      throw this.#troubled(batch.partition, error);
    }
  }

  /** Not a trouble: another process has the partition, or this process ends. */
  #troubled(partition: number, error: unknown): unknown {
    const isUsual = error instanceof PartitionLost || error instanceof Draining;
    if (!isUsual && error instanceof Error) this.#troubles.note(partition, error);
    return error;
  }

  async #handle(batch: LogBatch): Promise<void> {
    const owned = this.#owned.get(batch.partition);
    if (owned === undefined || owned.epoch !== batch.epoch || owned.isLost)
      throw new PartitionLost(batch.partition);
    const first = batch.records[0];
    assert(first !== undefined && first.offset === owned.readFrom, 'a gap in the log');
    if (!owned.stored.agreeWith(batch.records)) await this.#stop(owned, 'positions_used');
    const newer = batch.records.findIndex(({ value }) => isOfNewerSchema(value));
    const readable = newer < 0 ? batch : firstRecords(batch, newer);
    if (readable.records.length > 0)
      await owned.exclusive(async () => {
        const { again, anew } = owned.split(readable);
        if (again !== null) await this.#replay(owned, again);
        if (anew !== null) await this.#process(owned, anew);
        owned.readFrom = readable.nextOffset;
      });
    await this.#noteCatalog(owned);
    // Not set aside: after a rollback of the product the partition waits for the version that wrote the
    // record.
    if (newer >= 0) throw new RecordOfNewerSchema(batch, newer);
  }

  async revoked(partition: number, epoch: number): Promise<void> {
    if (this.#owned.get(partition)?.epoch !== epoch) return;
    this.#forget(partition);
    this.#deps.log.info({ partition, epoch }, 'given up');
  }

  #forget(partition: number): void {
    this.#owned.get(partition)?.index.abandon();
    this.#owned.delete(partition);
  }

  async #process(owned: OwnedPartition, batch: LogBatch): Promise<void> {
    const { catalog, outcome } = await this.#evaluate(owned, batch, () => this.#catalog.current());
    const lastCrc = recordCrc(batch.records.at(-1)!.value);
    await this.#move(owned, batch.nextOffset, catalog.catalogVersion, lastCrc);
    owned.stored.passed(batch.nextOffset);
    failpoint('stream.after_progress');
    this.#observe(batch.partition, outcome);
  }

  /**
   * A version that fails is set aside, durably, and the batch is processed again without it: the other
   * versions count, and nothing of the batch counts for the failed version.
   */
  async #evaluate(
    owned: OwnedPartition,
    batch: LogBatch,
    catalogWithout: (failed: ReadonlySet<string>) => MeterCatalog,
  ) {
    const failed = new Set<string>();
    for (;;) {
      const catalog = catalogWithout(failed);
      try {
        const outcome = await processBatch(this.#deps, owned.index, batch, catalog);
        return { catalog, outcome };
      } catch (error) {
        if (!(error instanceof MetersFailed)) throw error;
        for (const { id } of error.failed) failed.add(id);
        await this.#deps.patience.outlast('set meters aside', () =>
          this.#catalog.setAside(error.failed),
        );
        failpoint('stream.after_set_aside');
      }
    }
  }

  /** Writes past rows again without moving the watermark, which is already beyond them. */
  async #replay(owned: OwnedPartition, batch: LogBatch): Promise<void> {
    const { pool, patience, log } = this.#deps;
    const versions = await patience.outlast('read meter versions', () =>
      readReplayVersions(pool, owned, batch.records[0]!.offset),
    );
    const replayed = this.#catalog.compile(versions);
    const without = (failed: ReadonlySet<string>) =>
      replayed.filter(({ version }) => !failed.has(version.id));
    await this.#evaluate(owned, batch, (failed) => new MeterCatalog(0, without(failed)));
    const moved = await patience.outlast('move replay', () =>
      moveReplay(pool, owned, batch.nextOffset),
    );
    if (!moved) throw owned.lose();
    log.info({ partition: owned.partition, next: String(batch.nextOffset) }, 'replayed');
  }

  /** Step 5: one fenced statement. If it is refused, another process owns the partition. */
  async #move(
    owned: OwnedPartition,
    to: bigint,
    catalogVersion: number,
    lastCrc?: number,
  ): Promise<void> {
    const { epoch, partition, generation, offset } = owned;
    const move = { epoch, partition, generation, from: offset, to, catalogVersion, lastCrc };
    const moved = await this.#deps.patience.outlast('move progress', () =>
      moveProgress(this.#deps.pool, [move]),
    );
    if (moved.length === 0) throw owned.lose();
    owned.moved(to, catalogVersion);
  }

  /** An idle partition records at once from where it evaluates a new meter version (metering 6). */
  async #noteCatalog(owned: OwnedPartition): Promise<void> {
    try {
      await owned.exclusive(async () => {
        const { catalogVersion } = this.#catalog.current();
        if (owned.isLost || owned.evaluatedWith >= catalogVersion) return;
        await this.#move(owned, owned.offset, catalogVersion);
      });
    } catch (error) {
      // If the partition is lost, the next batch reports it.
      this.#deps.log.info({ err: error, partition: owned.partition }, 'catalog not noted');
    }
  }

  #noteCatalogEverywhere(): void {
    for (const owned of this.#owned.values()) void this.#noteCatalog(owned);
  }

  /**
   * Start of a replay that is due; records that the log has deleted cannot be replayed. Null: none is due.
   */
  async #replayFrom(assignment: Assignment): Promise<bigint | null> {
    const { pool, eventLog, log } = this.#deps;
    const { epoch, partition } = assignment;
    const replay = await readReplay(pool, assignment);
    if (replay === null) return null;
    const positions = await eventLog.positions(STREAM_GROUP);
    const head = positions.find((at) => at.partition === partition && at.epoch === epoch);
    const first = head?.first ?? 0n;
    if (first <= replay.nextOffset) return replay.nextOffset;
    log.warn(
      { partition, epoch, first: String(first) },
      'the log has only a part of the records to replay',
    );
    await moveReplay(pool, assignment, first);
    return first >= replay.untilOffset ? null : first;
  }

  #storedBeyond({ epoch, partition, nextOffset }: Assignment): Promise<StoredCopy[]> {
    const from = packPosition(epoch, nextOffset, 0);
    return this.#deps.patience.outlast('read stored positions', () =>
      this.#deps.store.newestCopies(partition, from, STORED_COMPARED),
    );
  }

  async #stop(at: LogPartition, fault: LogFault): Promise<never> {
    await this.#noteStop(at, fault);
    throw new PartitionStopped(at, fault);
  }

  async #noteStop({ epoch, partition }: LogPartition, fault: LogFault): Promise<void> {
    const { pool, log, patience } = this.#deps;
    await patience.outlast('store a stop', () => noteStop(pool, { epoch, partition }, fault));
    log.fatal(
      { epoch, partition, fault },
      'the partition is stopped: `maintain log` lists the ways to continue',
    );
  }

  #observe(partition: number, outcome: BatchOutcome): void {
    const { metrics, clock, notices } = this.#deps;
    const { copies, duplicates, oldestIngestedAt, rejections } = outcome;
    const ageMs = oldestIngestedAt === null ? 0 : Math.max(0, clock.now() - oldestIngestedAt);
    metrics.processed(partition, copies, duplicates, ageMs / 1000);
    for (const { reason } of rejections) metrics.rejected(reason);
    for (const { tenant_id, event_id, position, reason, message } of rejections) {
      if (reason !== 'undecodable_record' && reason !== 'malformed_event') continue;
      metrics.setAside(tenant_id, reason);
      const where = { partition, position: String(position), tenant_id, event_id };
      this.#deps.log.error({ ...where, reason, detail: message }, 'set aside');
    }
    notices.note(rejections);
  }
}

function firstRecords(batch: LogBatch, count: number): LogBatch {
  const nextOffset = batch.records[count]!.offset;
  return { ...batch, records: batch.records.slice(0, count), nextOffset };
}
