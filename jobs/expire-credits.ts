import type { BillingDeps } from '../api/deps.ts';
import { expireCredits as expireWallet } from '../api/billing/wallets/expire-credits.ts';
import {
  creditExpiryTimes,
  scopesWithExpiredCredits,
  walletsWithExpiredCredits,
} from '../api/billing/wallets/expiry-repository.ts';
import { isOutage } from '../api/outage.ts';
import type { Scope } from '../postgres/client.ts';
import { holdJobLease, JobLeaseLost } from '../postgres/tables/job-leases.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

const PAGE_WALLETS = 200;

/** Writes off expired credits (money 2.7.2). Environments take turns. A wallet that fails does not stop the others. */
export const expireCredits: Job<BillingDeps> = {
  name: 'expire-credits',
  cron: '*/15 * * * *',
  ofCustomers: { dueTimes: creditExpiryTimes },
  async run(deps, run) {
    const totals = { expired: 0, failed: 0 };
    const scopes = await scopesWithExpiredCredits(deps.pool, run);
    await takeTurns(run, scopes, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

interface Totals {
  expired: number;
  failed: number;
}

function pages(deps: BillingDeps, run: JobRun, scope: Scope, totals: Totals): Turn {
  let after = '';
  return async () => {
    const page = { due: run, after, limit: PAGE_WALLETS };
    const ids = await walletsWithExpiredCredits(deps.pool, scope, page);
    for (const id of ids) {
      if (run.signal.aborted) return false;
      try {
        totals.expired += await deps.pool.begin(async (tx) => {
          await holdJobLease(tx, run.lease);
          return await expireWallet(tx, deps, { scope, user_id: '' }, id, run.at);
        });
      } catch (error) {
        if (error instanceof JobLeaseLost || isOutage(error)) throw error;
        totals.failed += 1;
        run.fail?.({ wallet_id: id, ...scope }, error, 'credits not written off');
      }
    }
    after = ids.at(-1) ?? after;
    return ids.length === PAGE_WALLETS;
  };
}
