import { ingestRoutes } from '../../ingest/routes.ts';
import { systemClock } from '../../platform/clock.ts';
import { createApiKeyAuth } from '../../platform/identity/api-key-auth.ts';
import { createServer } from '../../platform/http/server.ts';
import { createIds } from '../../platform/ids.ts';
import { createLogger } from '../../platform/log.ts';
import { createMetrics, httpMetrics } from '../../platform/metrics.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { openLog, type LogAddress } from './log-store.ts';

/** One edge as the product runs it: the same server, credentials from Postgres, logs and metrics. */
const { address, port } = JSON.parse(process.argv[2]!) as { address: LogAddress; port: number };
const log = createLogger('info', 'ingest');
const pool = connectPostgres({ url: address.postgresUrl, applicationName: 'bench-edge' });
const eventLog = await openLog(address, log);
const { authenticate } = await createApiKeyAuth({ pool, clock: systemClock });
const registry = createMetrics('ingest');
const app = createServer({ log, onAnswer: httpMetrics(registry) });
await app.register(
  ingestRoutes({
    log: eventLog,
    authenticate,
    limits: null,
    clock: systemClock,
    ids: createIds(systemClock),
    metrics: registry,
    logger: log,
  }),
);
await app.listen({ port, host: '127.0.0.1' });
process.send!('ready');
process.on('message', () =>
  process.send!({ cpu: process.cpuUsage(), memory: process.memoryUsage() }),
);
process.on('SIGTERM', () => process.exit(0));
