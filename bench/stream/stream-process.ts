import { Registry } from 'prom-client';
import { connectClickHouse } from '../../clickhouse/client.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { systemClock } from '../../platform/clock.ts';
import { openPostgresEventLog } from '../../platform/event-log/postgres.ts';
import { createLogger } from '../../platform/log.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { startStream } from '../../stream/start-stream.ts';

/** The stream role alone. Benches start it with its settings as one JSON argument. */
const settings = JSON.parse(process.argv[2]!) as {
  postgresUrl: string;
  clickhouseUrl: string;
  batchEvents: number;
  batchWaitMs: number;
};
const log = createLogger('warn', 'stream');
const registry = new Registry();
const pool = connectPostgres({ url: settings.postgresUrl, applicationName: 'stream' });
const clickhouse = connectClickHouse({ url: settings.clickhouseUrl, applicationName: 'stream' });
const eventLog = await openPostgresEventLog({ url: settings.postgresUrl, logger: log });
const store = createUsageStore(clickhouse);
const stream = await startStream(
  { pool, eventLog, store, registry, clock: systemClock, log },
  settings,
);
process.on('message', (message) => {
  if (message === 'usage')
    process.send!({ memory: process.memoryUsage(), cpu: process.cpuUsage() });
});
process.on('SIGTERM', () => {
  void stream
    .close()
    .then(() => eventLog.close())
    .then(() => process.exit(0));
});
process.send!('ready');
