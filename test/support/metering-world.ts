import { pino } from 'pino';
import { Registry } from 'prom-client';
import type { ClickHouse } from '../../clickhouse/client.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import type { UsageStore } from '../../clickhouse/writing/usage-store.ts';
import { packPosition } from '../../domain/metering/position.ts';
import type { MeterSpec, MeterVersion } from '../../domain/metering/usage.ts';
import { systemClock } from '../../platform/clock.ts';
import type { LogAppend } from '../../platform/event-log/event-log.ts';
import { openPostgresEventLog, type PostgresEventLog } from '../../platform/event-log/postgres.ts';
import { createIds } from '../../platform/ids.ts';
import type { Pool } from '../../postgres/client.ts';
import { createMeterVersion, endMeterVersion } from '../../postgres/tables/meter-versions.ts';
import { readWatermarks } from '../../postgres/tables/watermarks.ts';
import { partitionOf, slotOf, slotScope } from '../../schemas/events/slot.ts';
import { encodeEvents, type UsageEvent } from '../../schemas/events/usage-event.ts';
import { startStream, type RunningStream, type StreamOptions } from '../../stream/start-stream.ts';
import { createTestClickHouse } from './clickhouse.ts';
import { createTestDatabase } from './database.ts';
import { WAIT_MS } from './patience.ts';

export const SCOPE = { tenant_id: 'tenant_a', environment_id: 'env_a' };

/** Everything between the log and usage, on stores of its own. */
export interface MeteringWorld {
  readonly pool: Pool;
  readonly postgresUrl: string;
  readonly clickhouse: ClickHouse;
  readonly clickhouseUrl: string;
  readonly store: UsageStore;
  readonly eventLog: PostgresEventLog;
  /** A stream in this process; closed with the world unless closed before. */
  startStream(
    options?: Partial<StreamOptions>,
    store?: UsageStore,
    eventLog?: PostgresEventLog,
  ): Promise<RunningStream>;
  createMeter(spec: Partial<SpecOptions>): Promise<MeterVersion>;
  endMeter(id: string): Promise<void>;
  /** Appends as the edge does: one record for each partition that the events fall in. */
  send(events: readonly UsageEvent[], options?: { eventsPerRecord?: number }): Promise<void>;
  /** Resolves when the watermarks have reached the heads of the log. */
  untilPassed(timeoutMs?: number): Promise<void>;
  close(): Promise<void>;
}

export interface SpecOptions {
  event_name: string;
  type: MeterSpec['aggregation']['type'];
  field: string;
  expression: string;
  group_by: string;
  filters: MeterSpec['filters'];
  meter_id: string;
  dimensions: string[];
}

export interface MeteringWorldOptions {
  readonly partitions?: number;
  readonly leaseMs?: number;
  readonly clickhouseUrl?: string;
}

export const QUICK_SEALER = { cycleMs: 200, leaseSeconds: 3 };

export async function createMeteringWorld(
  options: MeteringWorldOptions = {},
): Promise<MeteringWorld> {
  const database = await createTestDatabase(20);
  const {
    clickhouse,
    url: clickhouseUrl,
    drop,
  } = await createTestClickHouse(options.clickhouseUrl);
  const { pool } = database;
  await pool`insert into tenants (id, name) values ('tenant_a', 'A')`;
  await pool`
    insert into environments (id, tenant_id, name, type)
    values ('env_a', 'tenant_a', 'Production', 'production')`;
  const logger = pino({ level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
  const eventLog = await openPostgresEventLog({
    appendDeadlineMs: WAIT_MS,
    url: database.url,
    logger,
    partitions: options.partitions ?? 2,
    leaseMs: options.leaseMs ?? 1_000,
  });
  const store = createUsageStore(clickhouse);
  const ids = createIds(systemClock);
  const streams = new Set<RunningStream>();
  return {
    pool,
    postgresUrl: database.url,
    clickhouse,
    clickhouseUrl,
    store,
    eventLog,
    async startStream(streamOptions = {}, streamStore = store, streamLog = eventLog) {
      const deps = {
        pool,
        eventLog: streamLog,
        store: streamStore,
        clock: systemClock,
        log: logger,
      };
      const stream = await startStream(
        { ...deps, registry: new Registry() },
        { batchEvents: 500, batchWaitMs: 20, sealer: QUICK_SEALER, ...streamOptions },
      );
      const close = async () => {
        streams.delete(stream);
        await stream.close();
      };
      const running = { ...stream, close };
      streams.add(running);
      return running;
    },
    createMeter: (given) =>
      pool.begin((tx) =>
        createMeterVersion(tx, SCOPE, {
          id: ids.next('meterv'),
          meter_id: given.meter_id ?? ids.next('meter'),
          spec: specOf(given),
          dimensions: [
            ...(given.dimensions ?? []),
            ...(given.group_by === undefined ? [] : [given.group_by]),
          ],
          created_by: 'user_a',
        }),
      ),
    async endMeter(id) {
      await pool.begin((tx) => endMeterVersion(tx, SCOPE, id, 'user_a'));
    },
    async send(events, { eventsPerRecord = 1_000 } = {}) {
      await eventLog.append(recordsOf(events, eventLog.partitions, eventsPerRecord));
    },
    async untilPassed(timeoutMs = WAIT_MS) {
      await eventually(async () => {
        const [heads, passed] = await Promise.all([
          eventLog.positions('nobody'),
          readWatermarks(pool),
        ]);
        for (const { epoch, partition, next } of heads)
          expect(passed[partition] ?? 0n).toBeGreaterThanOrEqual(packPosition(epoch, next, 0));
      }, timeoutMs);
    },
    async close() {
      await Promise.all([...streams].map((stream) => stream.close()));
      await eventLog.close();
      await drop();
      await database.drop();
    },
  };
}

function specOf(given: Partial<SpecOptions>): MeterSpec {
  return {
    event_name: given.event_name ?? 'request',
    aggregation: {
      type: given.type ?? 'COUNT',
      field: given.field ?? null,
      expression: given.expression ?? null,
      multiplier: null,
      group_by: given.group_by ?? null,
      bucket_size: null,
    },
    filters: given.filters ?? [],
    reset_usage: 'BILLING_PERIOD',
  };
}

export function usageEvent(given: Partial<UsageEvent> & { event_id: string }): UsageEvent {
  return {
    kind: 'usage',
    ...SCOPE,
    event_name: 'request',
    external_customer_id: 'acme',
    customer_id: '',
    timestamp: Date.UTC(2026, 9, 15, 12),
    source: '',
    properties: '{}',
    ingested_at: Date.UTC(2026, 9, 15, 12),
    ...given,
  };
}

/** Records as the edge makes them, for a log with so many partitions. */
export function recordsOf(
  events: readonly UsageEvent[],
  partitions: number,
  eventsPerRecord = 1_000,
): LogAppend[] {
  const byPartition = new Map<number, UsageEvent[]>();
  for (const event of events) {
    const slot = slotOf(slotScope(event.tenant_id, event.environment_id), event.event_id);
    const partition = partitionOf(slot, partitions);
    byPartition.set(partition, [...(byPartition.get(partition) ?? []), event]);
  }
  return [...byPartition].flatMap(([partition, list]) => {
    const records: LogAppend[] = [];
    for (let at = 0; at < list.length; at += eventsPerRecord) {
      const part = list.slice(at, at + eventsPerRecord);
      records.push({ partition, value: encodeEvents(part), eventCount: part.length });
    }
    return records;
  });
}

/** Tries until the assertions hold; after the deadline their failure is the test's. */
export async function eventually(check: () => Promise<void>, timeoutMs = WAIT_MS): Promise<void> {
  const until = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (performance.now() > until) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }
}
