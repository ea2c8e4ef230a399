import { checkoutGates } from '../api/billing/checkout/checkout-gates.ts';
import { hostname } from 'node:os';
import type { Registry } from 'prom-client';
import type { BillingDeps } from '../api/deps.ts';
import { connectClickHouse, type ClickHouse } from '../clickhouse/client.ts';
import { ANALYTICS, type QueryLimits } from '../clickhouse/query-limits.ts';
import { createUsageReader } from '../clickhouse/reading/usage-reader.ts';
import type { Cache } from '../platform/cache/cache.ts';
import { InProcessCache } from '../platform/cache/in-process.ts';
import { connectRedisCache } from '../platform/cache/redis.ts';
import { systemClock, type Clock } from '../platform/clock.ts';
import { readConfig, type Config } from '../platform/config.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import { openKafkaEventLog } from '../platform/event-log/kafka.ts';
import {
  notificationTopicOf,
  openKafkaNotificationLog,
} from '../platform/event-log/kafka-notifications.ts';
import type { NotificationLog } from '../platform/event-log/notification-log.ts';
import { openPostgresEventLog } from '../platform/event-log/postgres.ts';
import { armFailpoints } from '../platform/failpoint.ts';
import { createApiKeyAuth, type ApiKeyAuth } from '../platform/identity/api-key-auth.ts';
import { createIds, type Ids } from '../platform/ids.ts';
import { createLogger, type Logger } from '../platform/log.ts';
import { RequestLog } from '../platform/http/request-log.ts';
import { createMetrics, countUnlogged } from '../platform/metrics.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { connectPostgres, type Pool } from '../postgres/client.ts';
import { readDimensions } from '../postgres/tables/meter-versions.ts';
import { connectAsApi } from '../postgres/scoped-pool.ts';
import { readUsageBounds } from '../postgres/tables/seals.ts';

/**
 * The composition root of a role: chooses implementations by the configuration. It returns one plain object.
 * A role takes what it needs; the rest is never connected.
 */
export interface Runtime {
  readonly config: Config;
  /** Unique id of this process, for leases and consumer groups. */
  readonly instanceId: string;
  readonly log: Logger;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly registry: Registry;
  readonly pool: Pool;
  /** Connections for statements in a caller's scope; null if the server has none. */
  apiPool(): Promise<Pool | null>;
  clickhouse(): ClickHouse;
  eventLog(): Promise<ResizableEventLog>;
  /** Null unless the event log is on Kafka. */
  notificationLog(): NotificationLog | null;
  cache(): Promise<Cache>;
  apiKeyAuth(): Promise<ApiKeyAuth>;
  /** Where both parts of a server store the requests that they answered. */
  requestLog(): RequestLog;
  /** Dependencies of the API's commands, for the API itself and for jobs. */
  billingDeps(): Promise<BillingDeps>;
  /** Closes everything that was opened, in reverse order. */
  close(): Promise<void>;
}

/** Functions of both logs in addition to the port: closing an epoch and opening the next. */
export interface ResizableEventLog extends EventLog {
  resize(partitions: number, atLeast?: number): Promise<number>;
}

export function createRuntime(role: string, environment: NodeJS.ProcessEnv = process.env): Runtime {
  const config = readConfig(environment);
  const { POSTGRES_URL, CLICKHOUSE_URL } = config;
  if (POSTGRES_URL === undefined || CLICKHOUSE_URL === undefined)
    throw new Error(
      `The role ${role} needs POSTGRES_URL and CLICKHOUSE_URL. \`npm start\` runs every role with engines of its own.`,
    );
  armFailpoints(config.FAILPOINTS);

  const log = createLogger(config.LOG_LEVEL, role);
  const clock = systemClock;
  const ids = createIds(clock);
  const closers: (() => Promise<void>)[] = [];
  const closing = <Resource extends { close(): Promise<void> }>(resource: Resource): Resource => {
    closers.push(() => resource.close());
    return resource;
  };
  const pool = connectPostgres({ url: POSTGRES_URL, applicationName: role });
  closers.push(() => pool.end({ timeout: 5 }));

  const apiPool = once(async () => {
    const { API_POSTGRES_URL } = config;
    const url = API_POSTGRES_URL ?? POSTGRES_URL;
    const made = await connectAsApi({ url, applicationName: role });
    if (made === null && API_POSTGRES_URL !== undefined)
      throw new Error('The login of API_POSTGRES_URL is refused, or may not be meterline_api.');
    if (made === null) log.warn('no connections as the API’s role: each request changes it');
    else closers.push(() => made.end({ timeout: 5 }));
    return made;
  });
  const clickhouse = once(() =>
    closing(connectClickHouse({ url: CLICKHOUSE_URL, applicationName: role })),
  );
  const eventLog = once(async () => closing(await openEventLog(config, POSTGRES_URL, log)));
  const notificationLog = once(() => {
    const opened = openNotificationLog(config, log);
    return opened === null ? null : closing(opened);
  });
  const apiKeyAuth = once(async () => closing(await createApiKeyAuth({ pool, clock })));
  const usageReader = once(() =>
    createUsageReader({
      clickhouse: clickhouse(),
      readBounds: (versions) => readUsageBounds(pool, versions),
      readDimensions: (versions) => readDimensions(pool, versions),
      analytics: analyticsLimits(config),
    }),
  );
  const registry = createMetrics(role);
  const requestLog = once(() =>
    closing(new RequestLog({ pool, clock, ids, log, onDropped: countUnlogged(registry) })),
  );
  const cache = once(async () => closing(await openCache(config, clock, log)));
  return {
    config,
    instanceId: `${hostname()}-${process.pid}`,
    log,
    clock,
    ids,
    registry,
    pool,
    apiPool,
    clickhouse,
    eventLog,
    notificationLog,
    cache,
    apiKeyAuth,
    requestLog,
    async billingDeps() {
      const { forget } = await apiKeyAuth();
      const settings = {
        grace_seconds: config.BILLING_GRACE_SECONDS,
        tenant_limits_max: config.TENANT_LIMITS_MAX,
        outbound_allowed_hosts: config.OUTBOUND_ALLOWED_HOSTS,
        webhook_delivery_days: config.WEBHOOK_DELIVERY_DAYS,
        test_gateway_in_production: config.TEST_GATEWAY_IN_PRODUCTION,
      };
      return {
        pool,
        clock,
        ids,
        log,
        usageReader: usageReader(),
        checkoutGates,
        secretBox: createSecretBox(config.ENCRYPTION_KEY ?? []),
        forgetApiKey: forget,
        settings,
      };
    },
    async close() {
      for (const close of closers.reverse()) await close();
    },
  };
}

/** Limits of one analytics statement. */
export function analyticsLimits(config: Config): QueryLimits {
  return {
    ...ANALYTICS,
    seconds: config.ANALYTICS_SECONDS,
    rowsRead: config.ANALYTICS_ROWS_MAX,
    memoryBytes: config.ANALYTICS_MEMORY_MB * 1_000_000,
  };
}

function once<Value>(make: () => Value): () => Value {
  let made: { readonly value: Value } | undefined;
  return () => (made ??= { value: make() }).value;
}

function openEventLog(
  config: Config,
  postgresUrl: string,
  logger: Logger,
): Promise<ResizableEventLog> {
  const { KAFKA_BROKERS: brokers, KAFKA_TOPIC: topic, LOG_PARTITIONS: partitions } = config;
  const replicationFactor = config.KAFKA_REPLICATION_FACTOR;
  return brokers === undefined
    ? openPostgresEventLog({ url: postgresUrl, logger, partitions })
    : openKafkaEventLog({ brokers, topic, replicationFactor, logger, partitions });
}

function openNotificationLog(config: Config, logger: Logger): NotificationLog | null {
  const { KAFKA_BROKERS: brokers, KAFKA_REPLICATION_FACTOR: replicationFactor } = config;
  if (brokers === undefined) return null;
  const topic = notificationTopicOf(config.KAFKA_TOPIC);
  return openKafkaNotificationLog({ brokers, topic, replicationFactor, logger });
}

async function openCache({ REDIS_URL: url }: Config, clock: Clock, logger: Logger): Promise<Cache> {
  return url === undefined ? new InProcessCache(clock) : connectRedisCache({ url, clock, logger });
}
