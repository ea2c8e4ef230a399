import assert from 'node:assert/strict';
import { epochToRead, type LogEpoch } from '../domain/metering/epochs.ts';
import type { Clock } from '../platform/clock.ts';
import type {
  EventLog,
  LogAssignment,
  LogBatch,
  LogConsumer,
  LogReader,
} from '../platform/event-log/event-log.ts';
import { failpoint } from '../platform/failpoint.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import { moveProgress, takePartition } from '../postgres/tables/stream-progress.ts';
import {
  moveReplay,
  readReaderProgress,
  readReplay,
  readReplayVersions,
} from '../postgres/tables/stream-replays.ts';
import type { UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { BatchRows } from './batch-rows.ts';
import { PartitionIndex } from './event-index.ts';
import { MeterCatalog, MeterCatalogCache } from './meter-catalog.ts';
import type { StreamMetrics } from './metrics.ts';
import type { OutagePatience } from './outage.ts';
import { OwnedPartition, PartitionLost } from './owned-partition.ts';
import { processBatch, type BatchOutcome } from './process-batch.ts';
import type { RejectionNotices } from './rejection-notices.ts';
import type { TableWriters } from './table-writers.ts';

/** The stream's name among the readers of the log. */
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
 * Reads the log and moves the watermarks (metering 4). The truth about progress is our own row per
 * partition: an assignment takes the next generation, which refuses whatever an earlier owner still
 * tries to move, and begins where that row stands.
 */
export class StreamConsumer implements LogReader {
  readonly #deps: ConsumerDeps;
  readonly #catalog: MeterCatalogCache;
  readonly #owned = new Map<number, OwnedPartition>();
  #consumer: LogConsumer | undefined;

  constructor(deps: ConsumerDeps) {
    this.#deps = deps;
    const { pool, log } = deps;
    this.#catalog = new MeterCatalogCache({ pool, log }, () => this.#noteCatalogEverywhere());
  }

  async open({ batchEvents, batchWaitMs }: ConsumerOptions): Promise<void> {
    await this.#catalog.open();
    this.#consumer = await this.#deps.eventLog.consume(STREAM_GROUP, this, {
      maxBatchEvents: batchEvents,
      maxBatchWaitMs: batchWaitMs,
    });
  }

  /** Finishes the batches in flight as far as the stores answer, and gives the partitions up. */
  async close(): Promise<void> {
    this.#deps.patience.drain();
    await this.#consumer?.close();
    await this.#catalog.close();
  }

  /** Partitions held now. */
  assigned(): number[] {
    return this.#consumer?.assigned() ?? [];
  }

  /** Whether every held partition tells new ids apart without asking ClickHouse. */
  get filtersCover(): boolean {
    return [...this.#owned.values()].every((owned) => owned.index.covers);
  }

  get filterBytes(): number {
    return [...this.#owned.values()].reduce((sum, owned) => sum + owned.index.filterBytes, 0);
  }

  /** Decided from our own progress and replays, in one look at both. */
  async epochToRead(epochs: readonly LogEpoch[]): Promise<number> {
    if (epochs.length === 1) return epochs[0]!.epoch;
    return epochToRead(epochs, await readReaderProgress(this.#deps.pool));
  }

  async start({ epoch, partition, partitions }: LogAssignment): Promise<bigint> {
    const { pool, store, log } = this.#deps;
    const assignment = await takePartition(pool, { epoch, partition });
    await this.#catalog.atLeast(assignment.catalogFloor);
    const replay = await readReplay(pool, { epoch, partition });
    const from = replay?.nextOffset ?? assignment.nextOffset;
    await this.#refuseGap(partition, epoch, from);

    this.#forget(partition);
    const index = new PartitionIndex(store, { partition, partitions });
    index
      .load()
      .catch((error: unknown) =>
        log.warn({ err: error, partition }, 'ids are looked up one by one'),
      );
    const owned = new OwnedPartition(assignment, index, from);
    this.#owned.set(partition, owned);
    log.info(
      { partition, epoch, generation: assignment.generation, from: String(from) },
      'assigned',
    );
    void this.#noteCatalog(owned);
    return from;
  }

  async handle(batch: LogBatch): Promise<void> {
    const owned = this.#owned.get(batch.partition);
    if (owned === undefined || owned.epoch !== batch.epoch || owned.isLost)
      throw new PartitionLost(batch.partition);
    const first = batch.records[0];
    assert(first !== undefined && first.offset === owned.readFrom, 'a gap in the log');
    await owned.exclusive(async () => {
      const { again, anew } = owned.split(batch);
      if (again !== null) await this.#replay(owned, again);
      if (anew !== null) await this.#process(owned, anew);
      owned.readFrom = batch.nextOffset;
    });
    await this.#noteCatalog(owned);
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
    const catalog = this.#catalog.current();
    const outcome = await processBatch(this.#deps, owned.index, batch, catalog);
    await this.#move(owned, batch.nextOffset, catalog.catalogVersion);
    failpoint('stream.after_progress');
    this.#observe(batch.partition, outcome);
  }

  /** Writes rows of the past again, without moving the watermark, which is beyond them already. */
  async #replay(owned: OwnedPartition, batch: LogBatch): Promise<void> {
    const { pool, patience, log } = this.#deps;
    const versions = await patience.outlast('read meter versions', () =>
      readReplayVersions(pool, owned, batch.records[0]!.offset),
    );
    const catalog = new MeterCatalog(0, this.#catalog.compile(versions));
    await processBatch(this.#deps, owned.index, batch, catalog);
    const moved = await patience.outlast('move replay', () =>
      moveReplay(pool, owned, batch.nextOffset),
    );
    if (!moved) throw owned.lose();
    log.info({ partition: owned.partition, next: String(batch.nextOffset) }, 'replayed');
  }

  /** Step 5: one fenced statement. When it is refused, another process owns the partition. */
  async #move(owned: OwnedPartition, to: bigint, catalogVersion: number): Promise<void> {
    const { epoch, partition, generation, offset } = owned;
    const move = { epoch, partition, generation, from: offset, to, catalogVersion };
    const moved = await this.#deps.patience.outlast('move progress', () =>
      moveProgress(this.#deps.pool, [move]),
    );
    if (moved.length === 0) throw owned.lose();
    owned.moved(to, catalogVersion);
  }

  /** An idle partition says at once from where it evaluates a new meter version (metering 6). */
  async #noteCatalog(owned: OwnedPartition): Promise<void> {
    try {
      await owned.exclusive(async () => {
        const { catalogVersion } = this.#catalog.current();
        if (owned.isLost || owned.evaluatedWith >= catalogVersion) return;
        await this.#move(owned, owned.offset, catalogVersion);
      });
    } catch (error) {
      // Whoever lost the partition hears of it from the next batch.
      this.#deps.log.info({ err: error, partition: owned.partition }, 'catalog not noted');
    }
  }

  #noteCatalogEverywhere(): void {
    for (const owned of this.#owned.values()) void this.#noteCatalog(owned);
  }

  async #refuseGap(partition: number, epoch: number, from: bigint): Promise<void> {
    const positions = await this.#deps.eventLog.positions(STREAM_GROUP);
    const head = positions.find((at) => at.partition === partition && at.epoch === epoch);
    if (head !== undefined && head.first > from)
      throw new Error(
        `Records ${from} to ${head.first} of partition ${partition} left the log unprocessed.`,
      );
  }

  #observe(partition: number, outcome: BatchOutcome): void {
    const { metrics, clock, notices } = this.#deps;
    const { copies, duplicates, oldestIngestedAt, rejections } = outcome;
    const ageMs = oldestIngestedAt === null ? 0 : Math.max(0, clock.now() - oldestIngestedAt);
    metrics.processed(partition, copies, duplicates, ageMs / 1000);
    for (const { reason } of rejections) metrics.rejected(reason);
    notices.note(rejections);
  }
}
