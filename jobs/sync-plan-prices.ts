import type { BillingDeps } from '../api/deps.ts';
import { openPriceSyncs } from '../api/operations/price-sync/repository.ts';
import { syncPage } from '../api/operations/price-sync/sync-page.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Job } from './job.ts';
import { takeTurns } from './scope-turns.ts';

/**
 * Processes open price syncs, a page for each environment in turn. An interrupted sync continues after the
 * last subscription done.
 */
export const syncPlanPrices: Job<BillingDeps> = {
  name: 'sync-plan-prices',
  cron: '*/5 * * * * *',
  async run(deps, run) {
    const open = await openPriceSyncs(deps.pool);
    let pages = 0;
    await takeTurns(run, open, (scope) => {
      const task = open.find(
        ({ tenant_id, environment_id }) =>
          tenant_id === scope.tenant_id && environment_id === scope.environment_id,
      )!;
      return async () => {
        pages += 1;
        return await syncPage(deps, (tx) => holdJobLease(tx, run.lease), task);
      };
    });
    return { pages };
  },
};
