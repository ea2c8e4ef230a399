import type { FastifyInstance } from 'fastify';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue } from 'prom-client';
import { httpMetrics } from '../platform/metrics.ts';
import { serveMetrics } from '../platform/http/serve-metrics.ts';
import { LoopWatch } from '../platform/http/loop-watch.ts';
import { createServer } from '../platform/http/server.ts';
import { isReady, type ComponentHealth, type RunningRole } from './role.ts';
import type { Runtime } from './runtime.ts';
import { streamOnMainPort } from './stream-on-main-port.ts';
import { withinTime } from './within-time.ts';

const PEER_MS_MAX = 2_000;

/** A part of a server: the ingest edge or the API. */
export interface HttpPart {
  register(app: FastifyInstance): Promise<void>;
  /** Called after the server has answered its last request. */
  close(): Promise<void>;
}

/** A server on the main port with the given parts, health, readiness and metrics. */
export async function startHttpRole(
  runtime: Runtime,
  parts: readonly ((runtime: Runtime) => Promise<HttpPart>)[],
): Promise<RunningRole> {
  const { config, log, registry } = runtime;
  const app = createServer({
    log,
    trustedProxies: config.TRUSTED_PROXIES,
    maxConnections: config.MAX_CONNECTIONS,
    onAnswer: httpMetrics(registry),
  });
  new LoopWatch({ registry, log }).watch(app);
  const started: HttpPart[] = [];
  for (const part of parts) {
    const ready = await part(runtime);
    await ready.register(app);
    started.push(ready);
  }
  const health = async (): Promise<Record<string, ComponentHealth>> => ({
    ...(await storesHealth(runtime)),
    ...(await streamOnMainPort(runtime.pool, config.OPERATIONS_PEERS)),
  });
  for (const url of ['/healthz', '/health']) app.get(url, async () => ({ status: 'ok' }));
  app.post('/health', async () => ({ status: 'ok' }));
  app.get('/readyz', async (_request, reply) => {
    const components = await health();
    const ready = isReady(components);
    return reply
      .code(ready ? 200 : 503)
      .send({ status: ready ? 'ready' : 'not_ready', components });
  });
  serveMetrics(app, {
    token: config.METRICS_TOKEN,
    contentType: registry.contentType,
    read: () => metricsOfMachine(runtime),
  });
  await app.listen({ port: config.PORT, host: config.HOST });
  return {
    health,
    async drain() {
      await app.close();
      for (const part of started) await part.close();
      await runtime.close();
    },
  };
}

/**
 * Postgres holds the keys, the records and the embedded log: without it no request can be answered. Without
 * the usage store the service is degraded only: events are still accepted, and usage reads return 503.
 */
async function storesHealth(runtime: Runtime): Promise<Record<string, ComponentHealth>> {
  const [postgres, clickhouse] = await Promise.all([
    withinTime(runtime.pool`select 1`),
    withinTime(runtime.clickhouse().ping()),
  ]);
  return {
    postgres: postgres === null ? 'down' : 'up',
    clickhouse: clickhouse === true ? 'up' : 'degraded',
  };
}

/** Metrics of this process and of the other roles on the machine; an unavailable peer is left out. */
async function metricsOfMachine({ registry, config }: Runtime): Promise<string> {
  const peers = config.OPERATIONS_PEERS.map(async (port) => {
    const response = await fetch(`http://127.0.0.1:${port}/metrics.json`, {
      signal: AbortSignal.timeout(PEER_MS_MAX),
    });
    return (await response.json()) as MetricObjectWithValues<MetricValue<string>>[];
  });
  const answers = await Promise.allSettled([registry.getMetricsAsJSON(), ...peers]);
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
  return AggregatorRegistry.aggregate(found).metrics();
}
