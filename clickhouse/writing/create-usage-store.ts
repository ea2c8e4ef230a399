import assert from 'node:assert/strict';
import type { Position } from '../../domain/metering/position.ts';
import type { ClickHouse } from '../client.ts';
import {
  EVENT_INDEX_LINES,
  METER_USAGE_LINES,
  RAW_EVENT_LINES,
  REJECTED_LINES,
  USAGE_VOID_LINES,
  encodeRows,
  type RowLines,
  type Written,
} from './encode-rows.ts';
import {
  canonicalEvents,
  countCanonicalEvents,
  rawEventAt,
  rawEventRow,
  type RawEventCells,
} from '../queries/raw-events.ts';
import { differencesOf, type BucketCells } from './compare-buckets.ts';
import {
  bucketsUnderSeal,
  computedBuckets,
  countSealedBuckets,
  recomputeBuckets,
  recomputeUniques,
} from '../queries/recompute-buckets.ts';
import { newestRows, rawRowsFrom, removeRowsFrom } from '../queries/newest-rows.ts';
import { indexedSlots, smallestPositions } from '../queries/smallest-positions.ts';
import { touchedBucket, touchedBuckets, type TouchedCells } from '../queries/touched-buckets.ts';
import { meterUsageRow, usageOfEvent, type MeterUsageCells } from '../queries/usage-of-event.ts';
import type { BucketKey, Hash128, StoredBucketSize, TouchedBucket } from '../rows.ts';
import {
  slotGroup,
  type BucketDifference,
  type SealedBucket,
  type UsageStore,
} from './usage-store.ts';

const SLOTS_PER_PAGE = 1_000_000;
const SLOT_BYTES = 16;
const EVENTS_PER_PAGE = 20_000;
const BUCKETS_PER_PAGE = 20_000;
/** Bounds the size, and so the memory, of one recompute statement. */
const BUCKETS_PER_RECOMPUTE = 5_000;

export function createUsageStore(clickhouse: ClickHouse): UsageStore {
  const append =
    <Row>(lines: RowLines<Row>) =>
    async (rows: readonly Row[]): Promise<void> => {
      const encoded = encodeRows(lines, rows as readonly Written<Row>[]);
      if (encoded !== null)
        await clickhouse.insert(encoded.table, encoded.columns, [encoded.bytes]);
    };
  return {
    async appendEncoded(parts) {
      const [first] = parts;
      if (first === undefined) return;
      assert(parts.every((part) => part.table === first.table));
      const lines = parts.map((part) => part.bytes);
      await clickhouse.insert(first.table, first.columns, lines);
    },
    appendRawEvents: append(RAW_EVENT_LINES),
    appendIndex: append(EVENT_INDEX_LINES),
    appendUsage: append(METER_USAGE_LINES),
    appendRejected: append(REJECTED_LINES),
    appendVoids: append(USAGE_VOID_LINES),
    smallestPositions: (slots) => readSmallestPositions(clickhouse, slots),
    indexedSlots: (groups) => readIndexedSlots(clickhouse, groups),
    async newestCopies(partition, from, limit) {
      const rows = await clickhouse.rows<[string, string, string, string]>(
        newestRows({ partition, from }, limit),
      );
      return rows.map(([position, tenant_id, environment_id, event_id]) => ({
        position: BigInt(position),
        tenant_id,
        environment_id,
        event_id,
      }));
    },
    async *copiesFrom(partition, first) {
      for (let from = first; ;) {
        const page = rawRowsFrom({ partition, from }, EVENTS_PER_PAGE);
        const rows = (await clickhouse.rows<RawEventCells>(page)).map(rawEventRow);
        if (rows.length > 0) yield rows;
        if (rows.length < EVENTS_PER_PAGE) return;
        from = rows.at(-1)!.position + 1n;
      }
    },
    async removeFrom(at) {
      for (const mutation of removeRowsFrom(at)) await clickhouse.command(mutation);
    },
    async *canonicalEvents(query) {
      let after = query.after;
      for (;;) {
        const page = canonicalEvents({ ...query, after, limit: EVENTS_PER_PAGE });
        const rows = (await clickhouse.rows<RawEventCells>(page)).map(rawEventRow);
        if (rows.length > 0) yield rows;
        if (rows.length < EVENTS_PER_PAGE) return;
        after = rows.at(-1);
      }
    },
    async countCanonicalEvents(query) {
      const [row] = await clickhouse.rows<[string]>(countCanonicalEvents(query));
      return Number(row![0]);
    },
    async usageOfEvent(place) {
      const rows = await clickhouse.rows<MeterUsageCells>(usageOfEvent(place));
      return rows.map((cells) => meterUsageRow(place, cells));
    },
    async rawEvent(query) {
      const [cells] = await clickhouse.rows<RawEventCells>(rawEventAt(query));
      return cells === undefined ? null : rawEventRow(cells);
    },
    async *touchedBuckets({ since, meter_version_ids = null }) {
      yield* readTouchedBuckets(clickhouse, '15MIN', since ?? 0, meter_version_ids);
      yield* readTouchedBuckets(clickhouse, 'DAY', since ?? 0, meter_version_ids);
    },
    async now() {
      const sql = 'select toUnixTimestamp64Milli(now64(3))';
      const [row] = await clickhouse.rows<[string]>({ sql, params: {} });
      return Number(row![0]);
    },
    async compareBuckets(buckets, below, seal) {
      const differences: BucketDifference[] = [];
      for (const size of ['15MIN', 'DAY'] as const) {
        for (const part of partsOf(buckets, size)) {
          const [stored, computed] = await Promise.all([
            clickhouse.rows<BucketCells>(bucketsUnderSeal(size, part, seal)),
            clickhouse.rows<BucketCells>(computedBuckets(size, part, below)),
          ]);
          differences.push(...differencesOf(size, stored, computed));
        }
      }
      return differences;
    },
    async sealedBuckets(buckets, seal) {
      const found: SealedBucket[] = [];
      for (const size of ['15MIN', 'DAY'] as const) {
        for (const part of partsOf(buckets, size)) {
          const rows = await clickhouse.rows<BucketCells>(bucketsUnderSeal(size, part, seal));
          found.push(...rows.map((cells) => sealedBucket(size, cells)));
        }
      }
      return found.filter((bucket) => bucket.event_count > 0);
    },
    async countSealedBuckets(version, seal, exceptCustomers) {
      const query = countSealedBuckets(version, seal, exceptCustomers);
      const [row] = await clickhouse.rows<[string]>(query);
      return Number(row![0]);
    },
    async recomputeBuckets(buckets, below, seal) {
      for (const part of partsOf(buckets, '15MIN')) {
        await clickhouse.command(recomputeBuckets('15MIN', part, below, seal));
      }
      for (const part of partsOf(buckets, 'DAY')) {
        await clickhouse.command(recomputeUniques(part, below, seal));
        await clickhouse.command(recomputeBuckets('DAY', part, below, seal));
      }
    },
  };
}

async function readSmallestPositions(
  clickhouse: ClickHouse,
  slots: readonly Hash128[],
): Promise<Map<Hash128, Position>> {
  const found = new Map<Hash128, Position>();
  if (slots.length === 0) return found;
  const groups = [...new Set(slots.map(slotGroup))];
  const bytes = await clickhouse.bytes(smallestPositions(slots, groups), 'RowBinary');
  for (let at = 0; at < bytes.length; at += SLOT_BYTES + 8) {
    const slot = bytes.toString('hex', at, at + SLOT_BYTES);
    found.set(slot, bytes.readBigUInt64LE(at + SLOT_BYTES));
  }
  return found;
}

async function* readIndexedSlots(
  clickhouse: ClickHouse,
  groups: readonly number[],
): AsyncGenerator<Buffer> {
  for (const group of groups) {
    let after = '0'.repeat(32);
    for (;;) {
      const page = await clickhouse.bytes(indexedSlots(group, after, SLOTS_PER_PAGE), 'RowBinary');
      if (page.length > 0) yield page;
      if (page.length < SLOTS_PER_PAGE * SLOT_BYTES) break;
      after = page.toString('hex', page.length - SLOT_BYTES);
    }
  }
}

async function* readTouchedBuckets(
  clickhouse: ClickHouse,
  size: StoredBucketSize,
  since: number,
  meterVersionIds: readonly string[] | null,
): AsyncGenerator<TouchedBucket[]> {
  let after: BucketKey | null = null;
  for (;;) {
    const page = touchedBuckets({
      size,
      since_ms: since,
      meter_version_ids: meterVersionIds,
      after,
      limit: BUCKETS_PER_PAGE,
    });
    const buckets = (await clickhouse.rows<TouchedCells>(page)).map(touchedBucket);
    if (buckets.length > 0) yield buckets;
    if (buckets.length < BUCKETS_PER_PAGE) return;
    after = buckets.at(-1)!;
  }
}

/**
 * Splits buckets of one size into parts of bounded size: by month, so that a part writes few partitions, then
 * by customer, so that a long backlog reads each row of the usage table about once.
 */
function* partsOf(
  buckets: readonly BucketKey[],
  size: StoredBucketSize,
): Generator<readonly BucketKey[]> {
  const sorted = buckets
    .filter((bucket) => bucket.bucket_size === size)
    .map((bucket) => ({ bucket, order: `${monthOf(bucket)} ${bucket.external_customer_id}` }))
    .sort((a, b) => (a.order < b.order ? -1 : a.order > b.order ? 1 : 0))
    .map(({ bucket }) => bucket);
  for (let at = 0; at < sorted.length; at += BUCKETS_PER_RECOMPUTE) {
    yield sorted.slice(at, at + BUCKETS_PER_RECOMPUTE);
  }
}

/** Cells in the order of the table's columns, as the recompute writes them. */
function sealedBucket(size: StoredBucketSize, cells: BucketCells): SealedBucket {
  const [, , external_customer_id, , bucketStart, dimensions, source, ...figures] = cells;
  const [eventCount, total, , min, max, latest] = figures as string[];
  return {
    external_customer_id,
    bucket_size: size,
    bucket_start: Date.parse(`${bucketStart.replace(' ', 'T')}Z`),
    dimensions,
    source,
    event_count: Number(eventCount),
    sum: total!,
    min: min!,
    max: max!,
    latest: latest!,
    unique_count: size === 'DAY' ? Number(figures.at(-1)) : null,
  };
}

function monthOf(bucket: BucketKey): string {
  return new Date(bucket.bucket_start).toISOString().slice(0, 7);
}
