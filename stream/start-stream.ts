import { Gauge, type Registry } from 'prom-client';
import { headsToRead, type LogHead } from '../domain/metering/log-heads.ts';
import { streamHealth } from '../domain/metering/stream-health.ts';
import type { Clock } from '../platform/clock.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import { readEnds } from '../postgres/tables/stream-epoch-ends.ts';
import { readStops } from '../postgres/tables/stream-stops.ts';
import { readProgress } from '../postgres/tables/stream-progress.ts';
import type { UsageStore } from '../clickhouse/writing/usage-store.ts';
import { BatchRows } from './batch-rows.ts';
import { STREAM_GROUP, StreamConsumer } from './consumer.ts';
import { createStreamMetrics } from './metrics.ts';
import { OutagePatience } from './outage.ts';
import { RejectionNotices } from './rejection-notices.ts';
import { Sealer, type SealerOptions } from './sealer.ts';
import { StuckWatch } from './stuck-watch.ts';
import { createTableWriters } from './table-writers.ts';

export interface StreamDeps {
  readonly pool: Pool;
  readonly eventLog: EventLog;
  readonly store: UsageStore;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly log: Logger;
}

export interface StreamOptions {
  readonly batchEvents: number;
  readonly batchWaitMs: number;
  readonly sealer?: Partial<SealerOptions>;
}

export interface RunningStream {
  /** Partitions that this process reads now. */
  assigned(): number[];
  /** Whether every partition recognizes new ids without querying ClickHouse. */
  filtersCover(): boolean;
  /** False while a batch waits for a store. */
  isFlowing(): boolean;
  health(): Promise<'up' | 'degraded' | 'down'>;
  /** Finishes work in flight as far as the stores answer; unfinished work is not lost. */
  close(): Promise<void>;
}

/** The stream role: one consumer of the log, and a sealer that competes for the turn. */
export async function startStream(
  deps: StreamDeps,
  options: StreamOptions,
): Promise<RunningStream> {
  const { pool, eventLog, store, registry, clock, log } = deps;
  const metrics = createStreamMetrics(registry);
  const patience = new OutagePatience(log);
  const consumer = new StreamConsumer({
    pool,
    eventLog,
    store,
    clock,
    log,
    metrics,
    patience,
    rows: new BatchRows(),
    writers: createTableWriters(store, patience, metrics),
    notices: new RejectionNotices({ pool, clock, log }),
  });
  const sealer = new Sealer({ pool, store, eventLog, metrics, log }, options.sealer);
  const watch = new StuckWatch();
  registerGauges(deps, consumer);
  await consumer.open(options);
  sealer.start();
  return {
    assigned: () => consumer.assigned(),
    filtersCover: () => consumer.filtersCover,
    isFlowing: () => !patience.isWaiting,
    health: async () =>
      streamHealth({
        stopped: (await readStops(pool)).length,
        refused: consumer.troubles().length,
        waitsForStore: patience.isWaiting,
        waitingMs: watch.look(await readHeads(deps), await readProgress(pool), clock.now()),
      }),
    async close() {
      await Promise.all([consumer.close(), sealer.stop()]);
    },
  };
}

async function readHeads({
  pool,
  eventLog,
}: Pick<StreamDeps, 'pool' | 'eventLog'>): Promise<LogHead[]> {
  const [heads, noted] = await Promise.all([eventLog.positions(STREAM_GROUP), readEnds(pool)]);
  return headsToRead(heads, noted);
}

/** Computed on each scrape, so that they cost nothing in between. */
function registerGauges({ pool, eventLog, registry }: StreamDeps, consumer: StreamConsumer): void {
  new Gauge({
    name: 'meterline_stream_lag_records',
    help: 'Records in the log that the stream has not passed yet.',
    labelNames: ['partition'],
    registers: [registry],
    async collect() {
      const [heads, progress] = await Promise.all([
        readHeads({ pool, eventLog }),
        readProgress(pool),
      ]);
      this.reset();
      for (const head of heads) {
        const passed = progress.find(
          (at) => at.epoch === head.epoch && at.partition === head.partition,
        );
        const lag = head.next - (passed?.nextOffset ?? 0n);
        this.labels(String(head.partition)).inc(Number(lag));
      }
    },
  });
  new Gauge({
    name: 'meterline_stream_stopped_partitions',
    help: 'Partitions that are not read because the log is not the one that was read, by fault.',
    labelNames: ['fault'],
    registers: [registry],
    async collect() {
      this.reset();
      for (const { fault } of await readStops(pool)) this.labels(fault).inc();
    },
  });
  new Gauge({
    name: 'meterline_stream_refused_partitions',
    help: 'Partitions that this process was given and cannot read now.',
    registers: [registry],
    collect() {
      this.set(consumer.troubles().length);
    },
  });
  new Gauge({
    name: 'meterline_stream_filter_bytes',
    help: 'Memory of the filters that tell new event ids apart.',
    registers: [registry],
    collect() {
      this.set(consumer.filterBytes);
    },
  });
}
