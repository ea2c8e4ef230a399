import { decide } from '../domain/metering/decide.ts';
import type { Position } from '../domain/metering/position.ts';
import { failpoint } from '../platform/failpoint.ts';
import type { LogBatch } from '../platform/event-log/event-log.ts';
import {
  encodeRows,
  USAGE_VOID_LINES,
  type EncodedRows,
} from '../clickhouse/writing/encode-rows.ts';
import type { UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { Slot } from '../schemas/events/slot.ts';
import { BatchRows, type EncodedBatch, type Rejection } from './batch-rows.ts';
import { decodeBatch, type DecodedBatch } from './decode-batch.ts';
import type { PartitionIndex } from './event-index.ts';
import { meterEvent } from './meter-events.ts';
import type { MeterCatalog } from './meter-catalog.ts';
import type { OutagePatience } from './outage.ts';
import type { TableWriters } from './table-writers.ts';
import { resolveVoids } from './void-events.ts';

export interface BatchDeps {
  readonly store: UsageStore;
  readonly rows: BatchRows;
  readonly writers: TableWriters;
  readonly patience: OutagePatience;
}

/** Outcome of a batch, for metrics and notices. */
export interface BatchOutcome {
  readonly copies: number;
  readonly duplicates: number;
  /** `ingested_at` of the oldest event; null if there was none. */
  readonly oldestIngestedAt: number | null;
  readonly rejections: readonly Rejection[];
}

/**
 * Steps 1 to 4 of metering 4 for one batch of one partition: decide which copies are canonical, then write
 * all copies, the index, and the usage of the canonical ones. The decision needs only smaller positions, so
 * the three writes run in parallel. The caller moves the progress after all have succeeded, and decides the
 * next batch after that. After a crash at any point the events are replayed, possibly in other batches. Every
 * row written twice collapses, because its identity is the event's position and not the batch.
 */
export async function processBatch(
  deps: BatchDeps,
  index: PartitionIndex,
  batch: LogBatch,
  catalog: MeterCatalog,
): Promise<BatchOutcome> {
  const { encoded, voids, outcome } = await decideAndEncode(deps, index, batch, catalog);
  failpoint('stream.after_decide');
  const { writers } = deps;
  await Promise.all([
    writers.raw.append(encoded.raw).then(() => failpoint('stream.after_raw')),
    writers.index.append(encoded.index).then(() => failpoint('stream.after_index')),
    writers.usage.append(encoded.usage).then(() => failpoint('stream.after_usage')),
    writers.rejected.append(encoded.rejected),
    writers.voids.append(voids),
  ]);
  return outcome;
}

interface EncodedStep {
  readonly encoded: EncodedBatch;
  readonly voids: EncodedRows | null;
  readonly outcome: BatchOutcome;
}

/** The decision and its rows as bytes. The events are released before anything is written. */
async function decideAndEncode(
  deps: BatchDeps,
  index: PartitionIndex,
  batch: LogBatch,
  catalog: MeterCatalog,
): Promise<EncodedStep> {
  const decoded = decodeBatch(batch);
  const { copies, voids } = decoded;
  const slots = copies.map((copy) => copy.slot);
  const asked = voids.length === 0 ? slots : [...slots, ...voids.map((copy) => copy.slot)];
  const indexed = await deps.patience.outlast('look up event_index', () =>
    index.smallestPositions(asked),
  );
  const verdicts = decide(slots, (copy) => copies[copy]!.position, indexed);
  index.note(slots);
  const resolved = await resolveVoids(deps, decoded, verdicts, indexed, catalog);

  for (const row of [...decoded.rejected, ...resolved.rejected]) deps.rows.rejected(row, null);
  addRows(deps.rows, decoded, verdicts, indexed, catalog);
  const encoded = deps.rows.take();
  return {
    encoded,
    voids: encodeRows(USAGE_VOID_LINES, resolved.rows),
    outcome: {
      copies: copies.length,
      duplicates: verdicts.reduce((sum, canonical) => (canonical ? sum : sum + 1), 0),
      oldestIngestedAt: copies.reduce<number | null>(
        (oldest, { event }) =>
          oldest === null || event.ingested_at < oldest ? event.ingested_at : oldest,
        null,
      ),
      rejections: encoded.rejections,
    },
  };
}

function addRows(
  rows: BatchRows,
  { copies, partition }: DecodedBatch,
  verdicts: readonly boolean[],
  indexed: ReadonlyMap<Slot, Position>,
  catalog: MeterCatalog,
): void {
  for (let copy = 0; copy < copies.length; copy++) {
    const { event, slot, positionText: position } = copies[copy]!;
    const is_canonical = verdicts[copy]!;
    rows.raw({
      tenant_id: event.tenant_id,
      environment_id: event.environment_id,
      event_name: event.event_name,
      external_customer_id: event.external_customer_id,
      customer_id: event.customer_id,
      timestamp: event.timestamp,
      event_id: event.event_id,
      source: event.source,
      properties: event.properties,
      ingested_at: event.ingested_at,
      partition,
      position,
      is_canonical,
    });
    if (!is_canonical) continue;
    // A replay finds its own row in the index, with its own position as the smallest.
    if (indexed.size === 0 || indexed.get(slot) !== copies[copy]!.position)
      rows.index({ slot, position });
    const meters = catalog.metersOf(event.tenant_id, event.environment_id, event.event_name);
    if (meters.length > 0) meterEvent(event, { partition, position }, meters, rows);
  }
}
