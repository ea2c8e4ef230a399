import type { Position } from '../domain/metering/position.ts';
import type { MeterUsageRow, RejectedRow, UsageVoidRow } from '../clickhouse/rows.ts';
import type { UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { Slot } from '../schemas/events/slot.ts';
import type { Copy, DecodedBatch } from './decode-batch.ts';
import type { MeterCatalog } from './meter-catalog.ts';
import { meterEvent, type MeteredEvent } from './meter-events.ts';
import type { OutagePatience } from './outage.ts';
import { rejectedRow } from './rejected-row.ts';

/** Rows of a batch's corrections, and the corrections without a target. */
export interface ResolvedVoids {
  readonly rows: readonly UsageVoidRow[];
  readonly rejected: readonly RejectedRow[];
}

/**
 * Targets of a batch's corrections (metering 6): one row for each meter version that had counted the event,
 * so that its buckets are marked, or one without a version if none had. A void without an earlier event of
 * its id is set aside: a later event with that id counts.
 */
export async function resolveVoids(
  deps: { readonly store: UsageStore; readonly patience: OutagePatience },
  batch: DecodedBatch,
  verdicts: readonly boolean[],
  indexed: ReadonlyMap<Slot, Position>,
  catalog: MeterCatalog,
): Promise<ResolvedVoids> {
  if (batch.voids.length === 0) return { rows: [], rejected: [] };
  const inBatch = new Map<Slot, Copy>();
  batch.copies.forEach((copy, place) => {
    if (verdicts[place]) inBatch.set(copy.slot, copy);
  });

  const rows: UsageVoidRow[] = [];
  const rejected: RejectedRow[] = [];
  for (const voiding of batch.voids) {
    const target = inBatch.get(voiding.slot);
    const position = target?.position ?? indexed.get(voiding.slot);
    if (position === undefined || position >= voiding.position) {
      rejected.push(unknownTarget(batch.partition, voiding));
      continue;
    }
    const counted =
      target !== undefined
        ? { partition: batch.partition, rows: meteredNow(batch.partition, target, catalog) }
        : await deps.patience.outlast('read the usage of a voided event', () =>
            storedUsage(deps.store, voiding, position, catalog),
          );
    rows.push(...voidRows(batch.partition, voiding, position, counted));
  }
  return { rows, rejected };
}

/** The counted usage of the target, and its partition, which may have another number in another epoch. */
interface Counted {
  readonly partition: number;
  readonly rows: readonly CountedRow[];
}
type CountedRow = Pick<MeterUsageRow, 'meter_version_id' | 'external_customer_id' | 'timestamp'>;
const NOT_COUNTED: CountedRow = { meter_version_id: '', external_customer_id: '', timestamp: 0 };

/** A target in the same batch: its usage rows are not written yet. */
function meteredNow(
  partition: number,
  { event, position }: { readonly event: MeteredEvent; readonly position: Position },
  catalog: MeterCatalog,
) {
  const rows: CountedRow[] = [];
  const meters = catalog.metersOf(event.tenant_id, event.environment_id, event.event_name);
  meterEvent(event, { partition, position }, meters, {
    usage: (row) => rows.push(row),
    rejected: () => {},
    failed: () => {},
  });
  return rows;
}

/**
 * An older target: its stored usage rows, and the rows that a backfill may be about to write for a version of
 * this catalog. Without marks for the latter, the sealer could seal such a row below a vector that does not
 * include the void, and would never check the bucket again. A version that is not in this catalog yet is
 * backfilled after this batch, and therefore below the void.
 */
async function storedUsage(
  store: UsageStore,
  { event }: Copy,
  target: Position,
  catalog: MeterCatalog,
): Promise<Counted> {
  const { tenant_id, environment_id, event_id } = event;
  const raw = await store.rawEvent({ tenant_id, environment_id, event_id, position: target });
  if (raw === null) throw new Error(`The raw copy of event ${event_id} at ${target} is missing.`);
  const { partition, external_customer_id, timestamp } = raw;
  const key = { tenant_id, environment_id, external_customer_id, timestamp };
  const stored = await store.usageOfEvent({ ...key, partition, position: target });
  const known = new Set(stored.map((row) => row.meter_version_id));
  const expected = meteredNow(partition, { event: raw, position: target }, catalog);
  return {
    partition,
    rows: [...stored, ...expected.filter((row) => !known.has(row.meter_version_id))],
  };
}

function voidRows(
  partition: number,
  { event, position }: Copy,
  target: Position,
  counted: Counted,
): UsageVoidRow[] {
  const usage = counted.rows.length > 0 ? counted.rows : [NOT_COUNTED];
  return usage.map((row) => ({
    tenant_id: event.tenant_id,
    environment_id: event.environment_id,
    target_partition: counted.partition,
    target_position: target,
    partition,
    position,
    meter_version_id: row.meter_version_id,
    external_customer_id: row.external_customer_id,
    timestamp: row.timestamp,
    event_id: event.event_id,
  }));
}

const unknownTarget = (partition: number, { event, position }: Copy): RejectedRow =>
  rejectedRow(
    event,
    { partition, position },
    {
      reason: 'void_target_unknown',
      message: 'No event with this id was accepted before the correction.',
    },
  );
