import { Registry } from 'prom-client';
import { connectClickHouse } from '../../clickhouse/client.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { systemClock } from '../../platform/clock.ts';
import { openPostgresEventLog } from '../../platform/event-log/postgres.ts';
import { armFailpoints } from '../../platform/failpoint.ts';
import { createLogger } from '../../platform/log.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { startStream } from '../../stream/start-stream.ts';
import { PATIENCE } from './patience.ts';
import type { StreamProcessSettings } from './stream-child.ts';

/** The stream role as a process of its own, for tests that kill or pause it. */
const settings = JSON.parse(process.argv[2]!) as StreamProcessSettings;
const log = createLogger(settings.logLevel, 'stream');
armFailpoints(settings.failpoints);
const pool = connectPostgres({ url: settings.postgresUrl, applicationName: 'stream' });
const clickhouse = connectClickHouse({
  url: settings.clickhouseUrl,
  applicationName: 'stream',
  patience: PATIENCE,
});
const eventLog = await openPostgresEventLog({
  url: settings.postgresUrl,
  logger: log,
  leaseMs: settings.leaseMs,
});
const stream = await startStream(
  {
    pool,
    eventLog,
    store: createUsageStore(clickhouse),
    registry: new Registry(),
    clock: systemClock,
    log,
  },
  settings,
);
process.on('SIGTERM', () => {
  void stream
    .close()
    .then(() => eventLog.close())
    .then(() => process.exit(0));
});
process.on('disconnect', () => process.exit(0));
process.send!('ready');
