import { decide } from '../domain/metering/decide.ts';
import { failpoint } from '../platform/failpoint.ts';
import type { LogBatch } from '../platform/event-log/event-log.ts';
import type { EventIndexRow, RawEventRow, RejectedRow } from '../clickhouse/rows.ts';
import type { UsageStore } from '../clickhouse/usage-store.ts';
import { decodeBatch, type DecodedBatch } from './decode-batch.ts';
import type { PartitionIndex } from './event-index.ts';
import { meterEvent, type Metered } from './meter-events.ts';
import type { MeterCatalog } from './meter-catalog.ts';
import type { OutagePatience } from './outage.ts';
import type { TableWriters } from './table-writers.ts';
import { resolveVoids } from './void-events.ts';

export interface BatchDeps {
  readonly store: UsageStore;
  readonly writers: TableWriters;
  readonly patience: OutagePatience;
}

/** What became of a batch, for metrics. */
export interface BatchOutcome {
  readonly copies: number;
  readonly duplicates: number;
  /** `ingested_at` of the oldest event; null when there was none. */
  readonly oldestIngestedAt: number | null;
  readonly rejected: readonly RejectedRow[];
}

/**
 * Steps 1 to 4 of metering 4 for one batch of one partition: decide which copies are canonical, then
 * write all copies, the index, and the usage of the canonical ones. The decision needs smaller
 * positions only, so the three writes run side by side; the caller moves the progress after all have
 * succeeded, and decides the next batch after that. A crash anywhere replays the events under any
 * other batch boundaries, and every row written twice collapses, because its identity is the event's
 * position and not the batch it came in.
 */
export async function processBatch(
  deps: BatchDeps,
  index: PartitionIndex,
  batch: LogBatch,
  catalog: MeterCatalog,
): Promise<BatchOutcome> {
  const decoded = decodeBatch(batch);
  const { copies, voids, partition } = decoded;
  const slots = copies.map((copy) => copy.slot);
  const asked = voids.length === 0 ? slots : [...slots, ...voids.map((copy) => copy.slot)];
  const indexed = await deps.patience.outlast('look up event_index', () =>
    index.smallestPositions(asked),
  );
  const verdicts = decide(slots, (copy) => copies[copy]!.position, indexed);
  index.note(slots);
  failpoint('stream.after_decide');

  const metered = meterCanonical(decoded, verdicts, catalog);
  const voidRows = await resolveVoids(deps, decoded, indexed, metered);
  const newSlots: EventIndexRow[] = [];
  const raw = copies.map(({ event, slot, position }, copy): RawEventRow => {
    if (verdicts[copy] && indexed.get(slot) !== position) newSlots.push({ slot, position });
    return {
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
      is_canonical: verdicts[copy]!,
    };
  });
  const { writers } = deps;
  await Promise.all([
    writers.raw.append(raw).then(() => failpoint('stream.after_raw')),
    writers.index.append(newSlots).then(() => failpoint('stream.after_index')),
    writers.usage.append(metered.usage).then(() => failpoint('stream.after_usage')),
    writers.rejected.append(metered.rejected),
    writers.voids.append(voidRows),
  ]);
  return outcomeOf(decoded, verdicts, metered);
}

function meterCanonical(
  { copies, partition, rejected }: DecodedBatch,
  verdicts: readonly boolean[],
  catalog: MeterCatalog,
): Metered {
  const metered: Metered = { usage: [], rejected: [...rejected] };
  copies.forEach(({ event, position }, copy) => {
    if (!verdicts[copy]) return;
    const meters = catalog.metersOf(event.tenant_id, event.environment_id, event.event_name);
    if (meters.length > 0) meterEvent(event, { partition, position }, meters, metered);
  });
  return metered;
}

function outcomeOf(
  { copies }: DecodedBatch,
  verdicts: readonly boolean[],
  metered: Metered,
): BatchOutcome {
  let oldestIngestedAt: number | null = null;
  let duplicates = 0;
  copies.forEach(({ event }, copy) => {
    if (!verdicts[copy]) duplicates++;
    if (oldestIngestedAt === null || event.ingested_at < oldestIngestedAt)
      oldestIngestedAt = event.ingested_at;
  });
  return {
    copies: copies.length,
    duplicates,
    oldestIngestedAt,
    rejected: metered.rejected,
  };
}
