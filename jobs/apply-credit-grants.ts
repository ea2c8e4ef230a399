import type { BillingDeps } from '../api/deps.ts';
import {
  grantDueTimes,
  scopesWithDueGrants,
  subscriptionsWithDueGrants,
} from '../api/billing/grants/application-repository.ts';
import { applyGrants } from '../api/billing/grants/apply-grants.ts';
import { lockSubscription } from '../api/billing/records/subscription-repository.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Job } from './job.ts';
import { workOnRecords } from './record-pages.ts';

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
    await workOnRecords(run, scopes, totals, (scope) => ({
      page: PAGE_SUBSCRIPTIONS,
      find: (after: string | null, limit) =>
        subscriptionsWithDueGrants(deps.pool, scope, { due: run, after: after ?? '', limit }),
      async work(id) {
        const caller = { scope, user_id: '' };
        const report = await deps.pool.begin(async (tx) => {
          await holdJobLease(tx, run.lease);
          const subscription = await lockSubscription(tx, scope, id);
          return await applyGrants(tx, deps, caller, subscription, {
            at: run.at,
            refusal: 'store',
          });
        });
        totals.applied += report.applied;
        totals.failed += report.failed;
      },
      failed: (subscription_id) => [{ subscription_id }, 'credits of grants not given'],
    }));
    return totals;
  },
};
