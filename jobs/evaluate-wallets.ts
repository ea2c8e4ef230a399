import type { BillingDeps } from '../api/deps.ts';
import { evaluateWallet } from '../api/billing/balances/evaluate-wallet.ts';
import {
  scopesWithWatchedWallets,
  watchedWallets,
  watchedWalletsOf,
} from '../api/billing/balances/watched-wallet-repository.ts';
import type { Scope } from '../postgres/client.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

const PAGE_WALLETS = 100;

/**
 * Evaluates the balance of every wallet with alert levels or an automatic top-up, because usage lowers the
 * balance without a command (api 44, money 3.12). Environments take turns.
 */
export const evaluateWallets: Job<BillingDeps> = {
  name: 'evaluate-wallets',
  cron: '*/5 * * * * *',
  ofCustomers: { workAt: watchedWalletsOf },
  async run(deps, run) {
    const totals = { evaluated: 0 };
    const scopes = await scopesWithWatchedWallets(deps.pool, run);
    await takeTurns(run, scopes, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

function pages(deps: BillingDeps, run: JobRun, scope: Scope, totals: { evaluated: number }): Turn {
  let after = '';
  return async () => {
    const ids = await watchedWallets(deps.pool, scope, run, { after, limit: PAGE_WALLETS });
    for (const id of ids) {
      if (run.signal.aborted) return false;
      await evaluateWallet(deps, { scope, user_id: '' }, id);
      totals.evaluated += 1;
    }
    after = ids.at(-1) ?? after;
    return ids.length === PAGE_WALLETS;
  };
}
