import type { BillingDeps } from '../api/deps.ts';
import { evaluateWallet } from '../api/billing/balances/evaluate-wallet.ts';
import {
  scopesWithWatchedWallets,
  watchedWallets,
  watchedWalletsOf,
} from '../api/billing/balances/watched-wallet-repository.ts';
import { isOutage } from '../api/outage.ts';
import type { Scope } from '../postgres/client.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

const PAGE_WALLETS = 100;

/**
 * Evaluates the balance of every wallet with alert levels or an automatic top-up, because usage lowers the
 * balance without a command (api 44, money 3.12). Environments take turns. A wallet that fails does not stop the
 * others.
 */
export const evaluateWallets: Job<BillingDeps> = {
  name: 'evaluate-wallets',
  cron: '*/5 * * * * *',
  ofCustomers: { workAt: watchedWalletsOf },
  async run(deps, run) {
    const totals = { evaluated: 0, failed: 0 };
    const scopes = await scopesWithWatchedWallets(deps.pool, run);
    await takeTurns(run, scopes, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

function pages(
  deps: BillingDeps,
  run: JobRun,
  scope: Scope,
  totals: { evaluated: number; failed: number },
): Turn {
  let after = '';
  return async () => {
    const ids = await watchedWallets(deps.pool, scope, run, { after, limit: PAGE_WALLETS });
    for (const id of ids) {
      if (run.signal.aborted) return false;
      try {
        await evaluateWallet(deps, { scope, user_id: '' }, id);
        totals.evaluated += 1;
      } catch (error) {
        if (isOutage(error)) throw error;
        totals.failed += 1;
        run.fail?.({ wallet_id: id, ...scope }, error, 'wallet not evaluated');
      }
    }
    after = ids.at(-1) ?? after;
    return ids.length === PAGE_WALLETS;
  };
}
