import { syncPlanPrices } from '../../jobs/sync-plan-prices.ts';
import { runJob } from '../../jobs/run-job.ts';
import type { TestApi } from './api.ts';

let tick = Date.parse('2001-01-01T00:00:00Z');

/** One run of the job that works on open price syncs. */
export async function runPriceSyncs(api: TestApi, stop?: AbortSignal) {
  const now = async () => new Date(api.clock.now()).toISOString();
  const runner = { pool: api.pool, log: api.deps.log, holder: 'test', now };
  tick += 60_000;
  return await runJob(runner, syncPlanPrices, api.deps, new Date(tick).toISOString(), stop);
}

/** Asks for a sync of the plan, lets the job do it, and answers the task as it is then. */
export async function syncPrices(api: TestApi, plan: { id: string }): Promise<any> {
  const asked = await api.post(`/v1/plans/${plan.id}/sync/subscriptions`);
  if (asked.status !== 200) throw new Error(`sync: ${asked.status}`);
  await runPriceSyncs(api);
  return (await api.get(`/v1/tasks/${asked.body.workflow_id}`)).body;
}
