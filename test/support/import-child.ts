import { createEventImport } from '../../ingest/import-events.ts';
import { importEvents } from '../../jobs/import-events.ts';
import { runJob } from '../../jobs/run-job.ts';
import { systemClock } from '../../platform/clock.ts';
import { openPostgresEventLog } from '../../platform/event-log/postgres.ts';
import { armFailpoints } from '../../platform/failpoint.ts';
import { createLogger } from '../../platform/log.ts';
import { connectPostgres } from '../../postgres/client.ts';
import { WAIT_MS } from './patience.ts';

/** What a jobs process that imports files is started with. */
export interface ImportChildSettings {
  readonly url: string;
  /** As `FAILPOINTS`. */
  readonly failpoints: string;
  readonly tick: string;
}

/** One run of the importing job in a process of its own, as the jobs role would make it. */
const settings = JSON.parse(process.argv[2]!) as ImportChildSettings;
armFailpoints(settings.failpoints);
const log = createLogger('silent', 'import-child');
const pool = connectPostgres({ url: settings.url, applicationName: 'jobs', maxConnections: 6 });
const eventLog = await openPostgresEventLog({
  url: settings.url,
  logger: log,
  appendDeadlineMs: WAIT_MS,
});
const deps = {
  pool,
  clock: systemClock,
  log,
  importEvents: createEventImport({ log: eventLog, clock: systemClock, limits: null }),
};
const runner = {
  pool,
  log,
  holder: `child-${process.pid}`,
  now: async () => new Date().toISOString(),
  leaseSeconds: 1,
};
const report = await runJob(runner, importEvents, deps, settings.tick);
process.stdout.write(`${JSON.stringify(report)}\n`);
await eventLog.close();
await pool.end();
