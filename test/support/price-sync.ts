import { syncPlanPrices } from '../../jobs/sync-plan-prices.ts';
import type { TestApi } from './api.ts';
import { runAtNow } from './job-run.ts';

/** One run of the job that works on open price syncs. */
export const runPriceSyncs = (api: TestApi, stop?: AbortSignal) =>
  runAtNow(api, syncPlanPrices, api.deps, stop);

/** Requests a sync of the plan, runs the job, and returns the task after that. */
export async function syncPrices(api: TestApi, plan: { id: string }): Promise<any> {
  const asked = await api.post(`/v1/plans/${plan.id}/sync/subscriptions`);
  if (asked.status !== 200) throw new Error(`sync: ${asked.status}`);
  await runPriceSyncs(api);
  return (await api.get(`/v1/tasks/${asked.body.workflow_id}`)).body;
}
