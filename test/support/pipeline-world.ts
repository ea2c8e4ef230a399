import type { FastifyInstance } from 'fastify';
import { Registry } from 'prom-client';
import { createEventEraser } from '../../clickhouse/writing/event-eraser.ts';
import type { FillEnvironment } from '../../api/deps.ts';
import { readMostParts } from '../../clickhouse/reading/most-parts.ts';
import { createEventReader, type EventReader } from '../../clickhouse/reading/event-reader.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { createUsageReader } from '../../clickhouse/reading/usage-reader.ts';
import { canonicalUsage, type LoggedEvent } from '../../domain/metering/canonical-usage.ts';
import type { MeteredUsage } from '../../domain/metering/aggregate.ts';
import { hasPassed, headsVector } from '../../domain/metering/log-heads.ts';
import type { UsageReader } from '../../domain/metering/usage.ts';
import { createEventImport } from '../../ingest/import-events.ts';
import { ingestRoutes } from '../../ingest/routes.ts';
import { ALL_JOBS, jobDeps } from '../../jobs/all-jobs.ts';
import type { JobReport } from '../../jobs/job.ts';
import { runJob } from '../../jobs/run-job.ts';
import type { EventLog } from '../../platform/event-log/event-log.ts';
import { openPostgresEventLog } from '../../platform/event-log/postgres.ts';
import { createApiKeyAuth } from '../../platform/identity/api-key-auth.ts';
import { createCustomerTimes } from '../../postgres/tables/test-clocks.ts';
import { createServer } from '../../platform/http/server.ts';
import { createLogger } from '../../platform/log.ts';
import type { Pool } from '../../postgres/client.ts';
import { readDimensions } from '../../postgres/tables/meter-versions.ts';
import { readUsageBounds } from '../../postgres/tables/seals.ts';
import { readWatermarks } from '../../postgres/tables/watermarks.ts';
import { startStream } from '../../stream/start-stream.ts';
import { startTestApi, type TestApi } from './api.ts';
import { catalogOf, type TestCatalog } from './catalog.ts';
import { createTestClickHouse } from './clickhouse.ts';
import { WAIT_MS } from './patience.ts';
import { readLog } from './usage-recount.ts';

/** Everything from the ingest edge to invoices in one process, over real engines. */
export interface PipelineWorld {
  readonly api: TestApi;
  /** The routes of ingest, with the keys of `api`. */
  readonly edge: FastifyInstance;
  readonly catalog: TestCatalog;
  readonly usageReader: UsageReader;
  readonly eventReader: EventReader;
  readonly eventLog: EventLog;
  /** As a client does; a refusal fails the test. */
  send(events: readonly object[]): Promise<void>;
  /** Resolves when the stream has passed everything sent, and every meter's backfill is through. */
  settled(): Promise<void>;
  /** The log, recounted by the plainest rules: usage of every meter version. */
  recount(): Promise<MeteredUsage[]>;
  job(name: string): Promise<JobReport | null>;
  close(): Promise<void>;
}

export interface PipelineOptions {
  readonly pagesDirectory?: string;
  readonly fillEnvironment?: FillEnvironment;
}

let tick = Date.parse('2000-01-01T00:00:00Z');

export async function startPipeline({
  fillEnvironment,
  ...options
}: PipelineOptions = {}): Promise<PipelineWorld> {
  const clickhouse = await createTestClickHouse();
  const store = createUsageStore(clickhouse.clickhouse);
  let pool: Pool;
  const usageReader = createUsageReader({
    clickhouse: clickhouse.clickhouse,
    readBounds: (versions) => readUsageBounds(pool, versions),
    readDimensions: (versions) => readDimensions(pool, versions),
  });
  const eventReader = createEventReader(clickhouse.clickhouse);
  const eventEraser = createEventEraser(clickhouse.clickhouse);
  let openedLog: EventLog;
  const openEventLog = async () => openedLog;
  const api = await startTestApi({
    usageReader,
    eventReader,
    mostParts: () => readMostParts(clickhouse.clickhouse),
    openEventLog,
    switches: options,
    ...(fillEnvironment === undefined ? {} : { fillEnvironment }),
  });
  pool = api.pool;
  const log = createLogger(process.env['TEST_LOG'] ?? 'silent', 'test');
  const eventLog = await openPostgresEventLog({
    appendDeadlineMs: WAIT_MS,
    url: await addressOf(pool),
    logger: log,
    partitions: 2,
    leaseMs: 1_000,
  });
  openedLog = eventLog;
  const stream = await startStream(
    { pool, eventLog, store, registry: new Registry(), clock: { now: () => Date.now() }, log },
    { batchEvents: 500, batchWaitMs: 20, sealer: { cycleMs: 200, leaseSeconds: 3 } },
  );
  const auth = await createApiKeyAuth({ pool, clock: api.clock });
  const edge = createServer({ log });
  await edge.register(
    ingestRoutes({
      log: eventLog,
      authenticate: auth.authenticate,
      limits: null,
      clock: api.clock,
      customerTimes: createCustomerTimes(pool),
      ids: api.deps.ids,
      metrics: new Registry(),
      logger: log,
    }),
  );
  const importEvents = createEventImport({ log: eventLog, clock: api.clock, limits: null });
  const deps = {
    ...jobDeps(api.deps, eventLog, 'stream', importEvents, { eventEraser, eventReader }),
    streamWaitMs: WAIT_MS,
  };
  const now = async () => new Date(api.clock.now()).toISOString();
  return {
    api,
    edge,
    catalog: catalogOf(api),
    usageReader,
    eventReader,
    eventLog,
    async send(events) {
      const response = await edge.inject({
        method: 'POST',
        url: '/v1/events/bulk',
        headers: { 'x-api-key': api.key },
        payload: { events },
      });
      if (response.statusCode !== 202) throw new Error(`${response.statusCode}: ${response.body}`);
    },
    async settled() {
      const until = Date.now() + WAIT_MS;
      for (;;) {
        const heads = headsVector(await eventLog.positions('stream'));
        const [waiting] = await pool`
          select count(*)::int as count from meter_versions where backfill_state not in ('complete', 'set_aside')`;
        if (hasPassed(await readWatermarks(pool), heads) && waiting!['count'] === 0) return;
        if (Date.now() > until) throw new Error(`not settled: ${await whereItStands(pool)}`);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    },
    async recount() {
      const events = (await readLog(pool)).map(({ event, partition, position }): LoggedEvent => {
        const { kind, tenant_id, environment_id, event_id, event_name, source } = event;
        return {
          kind, tenant_id, environment_id, event_id, event_name, source, partition, position,
          external_customer_id: event.external_customer_id,
          timestamp: event.timestamp,
          properties: JSON.parse(event.properties),
        }; // prettier-ignore
      });
      const versions = await pool`
        select id, meter_id, tenant_id, environment_id, version, spec, dimensions from meter_versions`;
      return versions.flatMap((version) => canonicalUsage(version as never, events));
    },
    async job(name) {
      tick += 60_000;
      const job = ALL_JOBS.find((candidate) => candidate.name === name)!;
      const runner = { pool, log, holder: 'test', now };
      return await runJob(runner, job, deps, new Date(tick).toISOString());
    },
    async close() {
      await edge.close();
      await auth.close();
      await stream.close();
      await eventLog.close();
      await api.close();
      await clickhouse.drop();
    },
  };
}

/** For a person: what the stream has passed, who seals, and which versions wait for what. */
async function whereItStands(pool: Pool): Promise<string> {
  const progress =
    await pool`select epoch, partition, generation, next_offset from stream_progress`;
  const sealer = await pool`select * from sealer`;
  const versions = await pool`
    select id, backfill_state, backfill_total, backfill_events, verifications, mismatches
      from meter_versions where backfill_state <> 'complete'`;
  return JSON.stringify({
    progress,
    sealer,
    versions,
    heads: await pool`select * from log_partitions`,
  });
}

async function addressOf(pool: Pool): Promise<string> {
  const [row] = await pool<{ name: string }[]>`select current_database() as name`;
  const url = new URL(process.env['TEST_POSTGRES_URL']!);
  url.pathname = `/${row!.name}`;
  return url.toString();
}
