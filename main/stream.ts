import { createUsageStore } from '../clickhouse/writing/create-usage-store.ts';
import { startStream } from '../stream/start-stream.ts';
import { runRole, type RunningRole } from './role.ts';
import { createRuntime, type Runtime } from './runtime.ts';

/** The stream. Its work is shared by up to as many processes as the log has partitions. */
const runtime = createRuntime('stream');
await runRole(runtime, () => start(runtime));

async function start({
  pool,
  registry,
  clock,
  log,
  config,
  ...rest
}: Runtime): Promise<RunningRole> {
  const eventLog = await rest.eventLog();
  const store = createUsageStore(rest.clickhouse());
  const stream = await startStream(
    { pool, eventLog, store, registry, clock, log },
    { batchEvents: config.STREAM_BATCH_EVENTS, batchWaitMs: config.STREAM_BATCH_WAIT_MS },
  );
  return {
    // Without an answer of the database the state is unknown and no records are processed.
    health: async () => ({ stream: await stream.health().catch(() => 'down' as const) }),
    async drain() {
      await stream.close();
      await rest.close();
    },
  };
}
