import { createEventEraser } from '../clickhouse/writing/event-eraser.ts';
import { createEventImport } from '../ingest/import-events.ts';
import { ALL_JOBS, jobDeps } from '../jobs/all-jobs.ts';
import { jobMetrics } from '../platform/metrics.ts';
import { startScheduler } from '../jobs/scheduler.ts';
import { STREAM_GROUP } from '../stream/consumer.ts';
import { runRole, type RunningRole } from './role.ts';
import { createRuntime, type Runtime } from './runtime.ts';

/** The scheduled work. Any number of processes may run it: each tick is taken by one of them. */
const runtime = createRuntime('jobs');
await runRole(runtime, () => start(runtime));

async function start(runtime: Runtime): Promise<RunningRole> {
  const { pool, log, instanceId } = runtime;
  const eventLog = await runtime.eventLog();
  const now = async (): Promise<string> => {
    const [row] = await pool<{ at: string }[]>`select clock_timestamp() as at`;
    return row!.at;
  };
  const importEvents = createEventImport({
    log: eventLog,
    clock: runtime.clock,
    limits: await importLimits(runtime),
  });
  const eventEraser = createEventEraser(runtime.clickhouse());
  const billing = await runtime.billingDeps();
  const deps = jobDeps(billing, eventLog, STREAM_GROUP, importEvents, eventEraser);
  const onReport = jobMetrics(runtime.registry);
  const runner = { pool, log, holder: instanceId, now, onReport };
  const scheduler = startScheduler(runner, ALL_JOBS, deps);
  return {
    health: async () => ({ jobs: 'up' }),
    async drain() {
      await scheduler.stop();
      await runtime.close();
    },
  };
}

/** A file goes into the log at a pace of its own, so that events sent live keep theirs (metering 3). */
async function importLimits({ config, cache }: Runtime) {
  const perSecond = config.IMPORT_EVENTS_PER_SECOND;
  if (perSecond === 0) return null;
  return { limiter: (await cache()).limiter, perTenant: { perSecond, burst: perSecond } };
}
