import { ALL_JOBS, jobDeps } from '../jobs/all-jobs.ts';
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
  const deps = jobDeps(await runtime.billingDeps(), eventLog, STREAM_GROUP);
  const scheduler = startScheduler({ pool, log, holder: instanceId, now }, ALL_JOBS, deps);
  return {
    health: async () => ({ jobs: 'up' }),
    async drain() {
      await scheduler.stop();
      await runtime.close();
    },
  };
}
