import { cancelUnpaid } from '../api/billing/subscriptions/cancel-unpaid.ts';
import {
  scopesThatCancelUnpaid,
  unpaidSubscriptions,
  unpaidTimes,
} from '../api/billing/subscriptions/unpaid-repository.ts';
import type { BillingDeps } from '../api/deps.ts';
import { isOutage } from '../api/outage.ts';
import type { Scope } from '../postgres/client.ts';
import { holdJobLease, JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

const PAGE_SUBSCRIPTIONS = 100;

/**
 * Ends incomplete subscriptions whose first invoice was never paid, in environments whose setting
 * `subscription_config` requests it (billing 10.3). One transaction for each subscription; one that fails does not
 * stop the others.
 */
export const cancelUnpaidSubscriptions: Job<BillingDeps> = {
  name: 'cancel-unpaid-subscriptions',
  cron: '7,22,37,52 * * * *',
  ofCustomers: { dueTimes: unpaidTimes },
  async run(deps, run) {
    const totals = { cancelled: 0 };
    const scopes = await scopesThatCancelUnpaid(deps.pool);
    await takeTurns(run, scopes, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

function pages(deps: BillingDeps, run: JobRun, scope: Scope, totals: { cancelled: number }): Turn {
  let after = '';
  return async () => {
    const limit = PAGE_SUBSCRIPTIONS;
    const page = await unpaidSubscriptions(deps.pool, scope, { due: run, after, limit });
    for (const { id } of page) {
      if (await cancelled(deps, run, scope, id)) totals.cancelled += 1;
      after = id;
    }
    return page.length === limit;
  };
}

async function cancelled(
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  subscription_id: string,
): Promise<boolean> {
  try {
    return await deps.pool.begin(async (tx) => {
      await holdJobLease(tx, run.lease);
      return await cancelUnpaid(tx, deps, scope, subscription_id, run.at);
    });
  } catch (error) {
    if (error instanceof JobLeaseLost || isOutage(error)) throw error;
    run.fail?.({ subscription_id, ...scope }, error, 'unpaid subscription not cancelled');
    return false;
  }
}
