import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { Registry } from 'prom-client';
import type { RoleReady } from './role-process.ts';
import type { Runtime } from './runtime.ts';

/** A started role: what the process does until it drains. */
export interface RunningRole {
  /** Component → `up`, `down` or `degraded`. Anything `down` makes the role not ready. */
  health(): Promise<Record<string, ComponentHealth>>;
  /** Accepts no new work, completes the work in progress, closes connections. */
  drain(): Promise<void>;
}

export type ComponentHealth = 'up' | 'degraded' | 'down';

const DRAIN_MS_MAX = 10_000;

/**
 * The life of one role process: start, answer health and metrics on loopback, drain on SIGTERM, SIGINT or the
 * supervisor's death, exit. An unexpected error ends the process. The supervisor (or the container's)
 * restarts it; all durable state survives this.
 */
export async function runRole(
  { log, registry, config }: Pick<Runtime, 'log' | 'registry' | 'config'>,
  start: () => Promise<RunningRole>,
): Promise<void> {
  const address = { port: config.OPERATIONS_PORT, host: config.OPERATIONS_HOST };
  let draining: Promise<void> | null = null;
  let role: RunningRole | null = null;
  const operations = await startOperationsServer(registry, address, () => role?.health() ?? null);

  const drain = (reason: string): Promise<void> => {
    draining ??= (async () => {
      log.info({ reason }, 'draining');
      const limit = setTimeout(() => {
        log.error('drain took too long');
        process.exit(1);
      }, DRAIN_MS_MAX);
      await role?.drain();
      operations.server.close();
      clearTimeout(limit);
      log.info('drained');
      process.exit(0);
    })().catch((error: unknown) => {
      log.error({ err: error }, 'drain failed');
      process.exit(1);
    });
    return draining;
  };
  process.on('SIGTERM', () => void drain('SIGTERM'));
  process.on('SIGINT', () => void drain('SIGINT'));
  process.on('disconnect', () => void drain('supervisor is gone'));
  const crash = (error: unknown): void => {
    log.fatal({ err: error }, 'unexpected error');
    process.exit(1);
  };
  process.on('uncaughtException', crash);
  process.on('unhandledRejection', crash);

  // The supervisor died while this process loaded its modules: nobody was listening for the event then.
  if (process.connected === false) return await drain('supervisor is gone');

  role = await start();
  const message: RoleReady = { ready: true, operations_port: operations.port };
  if (process.connected) process.send?.(message);
  log.info({ operations_port: operations.port }, 'ready');
}

/** `ok` if no component is down. */
export function isReady(health: Record<string, ComponentHealth>): boolean {
  return !Object.values(health).includes('down');
}

async function startOperationsServer(
  registry: Registry,
  address: { port: number; host: string },
  health: () => Promise<Record<string, ComponentHealth>> | null,
): Promise<{ server: Server; port: number }> {
  const server = createServer((request, response) => {
    const send = (status: number, type: string, body: string): void =>
      void response.writeHead(status, { 'content-type': type }).end(body);
    const respond = async (): Promise<void> => {
      if (request.url === '/healthz' || request.url === '/health')
        return send(200, 'application/json', '{"status":"ok"}');
      if (request.url === '/metrics')
        return send(200, registry.contentType, await registry.metrics());
      if (request.url === '/metrics.json')
        return send(200, 'application/json', JSON.stringify(await registry.getMetricsAsJSON()));
      if (request.url === '/readyz') {
        const components = await health();
        const ready = components !== null && isReady(components);
        const body = JSON.stringify({ status: ready ? 'ready' : 'not_ready', components });
        return send(ready ? 200 : 503, 'application/json', body);
      }
      send(404, 'text/plain', 'Not found: this port serves /healthz, /readyz and /metrics.\n');
    };
    respond().catch((error: unknown) => send(500, 'text/plain', `${String(error)}\n`));
  });
  server.listen(address.port, address.host);
  await once(server, 'listening');
  const bound = server.address();
  return { server, port: typeof bound === 'object' && bound !== null ? bound.port : address.port };
}
