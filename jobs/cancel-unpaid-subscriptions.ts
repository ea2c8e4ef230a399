import { cancelOverdue } from '../api/billing/subscriptions/cancel-unpaid.ts';
import {
  scopesThatCancelUnpaid,
  unpaidSubscriptions,
  unpaidTimes,
} from '../api/billing/subscriptions/unpaid-repository.ts';
import type { BillingDeps } from '../api/deps.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Job } from './job.ts';
import { workOnRecords } from './record-pages.ts';

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
    const totals = { cancelled: 0, failed: 0 };
    const scopes = await scopesThatCancelUnpaid(deps.pool);
    await workOnRecords(run, scopes, totals, (scope) => ({
      page: PAGE_SUBSCRIPTIONS,
      async find(after: string | null, limit) {
        const page = { due: run, after: after ?? '', limit };
        return (await unpaidSubscriptions(deps.pool, scope, page)).map(({ id }) => id);
      },
      async work(id) {
        const isCancelled = await deps.pool.begin(async (tx) => {
          await holdJobLease(tx, run.lease);
          return await cancelOverdue(tx, deps, scope, id, run.at);
        });
        if (isCancelled) totals.cancelled += 1;
      },
      failed: (subscription_id) => [{ subscription_id }, 'unpaid subscription not cancelled'],
    }));
    return totals;
  },
};
