import type { BillingDeps } from '../api/deps.ts';
import { expireCredits as expireWallet } from '../api/billing/wallets/expire-credits.ts';
import {
  creditExpiryTimes,
  scopesWithExpiredCredits,
  walletsWithExpiredCredits,
} from '../api/billing/wallets/expiry-repository.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Job } from './job.ts';
import { workOnRecords } from './record-pages.ts';

const PAGE_WALLETS = 200;

/** Writes off expired credits (money 2.7.2). Environments take turns. A wallet that fails does not stop the others. */
export const expireCredits: Job<BillingDeps> = {
  name: 'expire-credits',
  cron: '*/15 * * * *',
  ofCustomers: { dueTimes: creditExpiryTimes },
  async run(deps, run) {
    const totals = { expired: 0, failed: 0 };
    const scopes = await scopesWithExpiredCredits(deps.pool, run);
    await workOnRecords(run, scopes, totals, (scope) => ({
      page: PAGE_WALLETS,
      find: (after: string | null, limit) =>
        walletsWithExpiredCredits(deps.pool, scope, { due: run, after: after ?? '', limit }),
      async work(id) {
        totals.expired += await deps.pool.begin(async (tx) => {
          await holdJobLease(tx, run.lease);
          return await expireWallet(tx, deps, { scope, user_id: '' }, id, run.at);
        });
      },
      failed: (wallet_id) => [{ wallet_id }, 'credits not written off'],
    }));
    return totals;
  },
};
