import type { BillingDeps } from '../api/deps.ts';
import {
  grantDueTimes,
  scopesWithDueGrants,
  subscriptionsWithDueGrants,
} from '../api/billing/grants/application-repository.ts';
import { applyGrants, type GrantReport } from '../api/billing/grants/apply-grants.ts';
import { lockSubscription } from '../api/billing/records/subscription-repository.ts';
import { isOutage } from '../api/outage.ts';
import type { Scope } from '../postgres/client.ts';
import { holdJobLease, JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

/** Subscriptions per page; each has its own transaction. */
const PAGE_SUBSCRIPTIONS = 200;

/**
 * Adds the credits of grants whose period has begun, including missed periods (money 5.3.5, 5.3.6).
 * Environments take turns. The reason of a failure is stored with the application, which is retried later.
 * Any other failure of a subscription does not stop the others.
 */
export const applyCreditGrants: Job<BillingDeps> = {
  name: 'apply-credit-grants',
  cron: '*/15 * * * *',
  ofCustomers: { dueTimes: grantDueTimes },
  async run(deps, run) {
    const totals = { applied: 0, failed: 0 };
    const scopes = await scopesWithDueGrants(deps.pool, run);
    await takeTurns(run, scopes, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

function pages(
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  totals: { applied: number; failed: number },
): Turn {
  let after = '';
  return async () => {
    const page = { due: run, after, limit: PAGE_SUBSCRIPTIONS };
    const ids = await subscriptionsWithDueGrants(deps.pool, scope, page);
    for (const id of ids) {
      if (run.signal.aborted) return false;
      const report = await applied(deps, run, scope, id);
      totals.applied += report.applied;
      totals.failed += report.failed;
    }
    after = ids.at(-1) ?? after;
    return ids.length === PAGE_SUBSCRIPTIONS;
  };
}

async function applied(
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  subscription_id: string,
): Promise<GrantReport> {
  try {
    return await deps.pool.begin(async (tx) => {
      await holdJobLease(tx, run.lease);
      const subscription = await lockSubscription(tx, scope, subscription_id);
      const caller = { scope, user_id: '' };
      return await applyGrants(tx, deps, caller, subscription, { at: run.at, refusal: 'store' });
    });
  } catch (error) {
    if (error instanceof JobLeaseLost || isOutage(error)) throw error;
    run.fail?.({ subscription_id, ...scope }, error, 'credits of grants not given');
    return { applied: 0, failed: 1 };
  }
}
