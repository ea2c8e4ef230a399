import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Registry } from 'prom-client';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import type { MeterVersion } from '../../domain/metering/usage.ts';
import { createLogger } from '../../platform/log.ts';
import { createMeterVersion } from '../../postgres/tables/meter-versions.ts';
import { requestRebuild } from '../../postgres/tables/seals.ts';
import { createStreamMetrics } from '../../stream/metrics.ts';
import { Sealer } from '../../stream/sealer.ts';
import { BENCH_SCOPE, startBenchInstance, type BenchInstance } from '../stream/instance.ts';
import { EVENT_NAME, generateEvents, nextOffsetBeyond, type Generated } from './generate.ts';
import { timeOf } from './measure.ts';

/** Engines with generated events; the product's sealer has sealed every bucket. */
export interface ScaleWorld {
  readonly instance: BenchInstance;
  readonly made: Generated;
  readonly version: MeterVersion;
  /** Null means the data exist from an earlier run. */
  readonly generatedMs: number | null;
  readonly sealedMs: number | null;
  /** Writes late events of one past day (1/90 of all events) and waits until the day is sealed. */
  sealLateDay(): Promise<void>;
  close(): Promise<void>;
}

const PARTITIONS = 4;
const DAY_MS = 86_400_000;
const DAYS = 90;
const LATE_DAY = 45;
const VERSION_ID = 'meterv_scale';

export async function loadScaleWorld(
  events: number,
  kept: string | null,
  note: (text: string) => void,
): Promise<ScaleWorld> {
  const instance = await startBenchInstance(PARTITIONS, kept);
  try {
    const made: Generated = {
      scope: BENCH_SCOPE,
      meterVersionId: VERSION_ID,
      partitions: PARTITIONS,
      start: Date.UTC(2026, 7, 1),
      span: DAYS * DAY_MS,
      events,
    };
    const done = join(instance.directory, 'generated');
    const isThere = existsSync(done);
    if (!isThere) await createMeter(instance);
    const version = await readVersion(instance);
    const generatedMs = isThere
      ? null
      : await timeOf(async () => {
          await generateEvents(instance.clickhouse, made, 0, events, (n) => {
            if (n % 5_000_000 === 0) note(`${n / 1_000_000}M events written`);
          });
          await moveWatermarks(instance, events);
        });
    const sealedMs = isThere ? null : await timeOf(() => sealAll(instance));
    if (!isThere) writeFileSync(done, String(events));
    let written = events;
    return {
      instance,
      made,
      version,
      generatedMs,
      sealedMs,
      async sealLateDay() {
        const late = Math.ceil(events / DAYS);
        written = await beyondWatermarks(instance, written);
        await generateEvents(
          instance.clickhouse,
          {
            ...made,
            start: made.start + LATE_DAY * DAY_MS,
            span: DAY_MS,
            events: late,
            idsFrom: written,
          },
          written,
          written + late,
        );
        await moveWatermarks(instance, written + late);
        await untilSealed(instance);
      },
      close: () => instance.close(),
    };
  } catch (error) {
    await instance.close();
    throw error;
  }
}

async function createMeter({ pool }: BenchInstance): Promise<void> {
  await pool.begin((tx) =>
    createMeterVersion(tx, BENCH_SCOPE, {
      id: VERSION_ID,
      meter_id: 'meter_scale',
      spec: {
        event_name: EVENT_NAME,
        aggregation: {
          type: 'SUM',
          field: 'tokens',
          expression: null,
          multiplier: null,
          group_by: 'region',
          bucket_size: null,
        },
        filters: [],
        reset_usage: 'BILLING_PERIOD',
      },
      dimensions: ['region'],
      created_by: 'bench',
    }),
  );
  // Its rows are written directly, so it needs no backfill.
  await pool`update meter_versions set backfill_state = 'complete' where id = ${VERSION_ID}`;
}

async function readVersion({ pool }: BenchInstance): Promise<MeterVersion> {
  const [row] = await pool<MeterVersion[]>`select * from meter_versions where id = ${VERSION_ID}`;
  return row!;
}

async function moveWatermarks({ pool }: BenchInstance, to: number): Promise<void> {
  await pool`
    insert into stream_progress (epoch, partition, generation, next_offset, catalog_version)
    select 0, p, 1, ${nextOffsetBeyond(to)}, 1 from generate_series(0, ${PARTITIONS - 1}) p
    on conflict (epoch, partition) do update set next_offset = excluded.next_offset`;
}

/** First event number with a position above all watermarks: an earlier run may have added late events. */
async function beyondWatermarks({ pool }: BenchInstance, written: number): Promise<number> {
  const [row] = await pool<
    { next: string }[]
  >`select max(next_offset)::text as next from stream_progress`;
  return Math.max(written, Number(row!.next) * 1_000);
}

async function sealAll(instance: BenchInstance): Promise<void> {
  await requestRebuild(instance.pool);
  await withSealer(instance, async () => {
    for (;;) {
      const [row] = await instance.pool<{ pending: boolean }[]>`
        select rebuild_requested_at is not null as pending from sealer`;
      if (!row!.pending) return;
      await sleep(100);
    }
  });
}

/** The sealer takes its usual time: it waits until a bucket is no longer touched. */
async function untilSealed(instance: BenchInstance): Promise<void> {
  await withSealer(instance, async (sealer) => {
    for (let seen = false; ;) {
      const pending = sealer.pendingBuckets;
      seen ||= pending !== null && pending > 0;
      if (seen && pending === 0) return;
      await sleep(100);
    }
  });
}

async function withSealer(
  { pool, clickhouse, eventLog }: BenchInstance,
  work: (sealer: Sealer) => Promise<void>,
): Promise<void> {
  const sealer = new Sealer({
    pool,
    store: createUsageStore(clickhouse),
    eventLog,
    metrics: createStreamMetrics(new Registry()),
    log: createLogger('warn', 'sealer'),
  });
  sealer.start();
  try {
    await work(sealer);
  } finally {
    await sealer.stop();
  }
}
