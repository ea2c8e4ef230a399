import type { BillingDeps } from '../api/deps.ts';
import { evaluateWallet } from '../api/billing/balances/evaluate-wallet.ts';
import {
  scopesWithWatchedWallets,
  watchedWallets,
  watchedWalletsOf,
} from '../api/billing/balances/watched-wallet-repository.ts';
import type { Scope } from '../postgres/client.ts';
import type { Job, JobRun } from './job.ts';
import { recordPages } from './record-pages.ts';
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
  return recordPages(run, scope, totals, {
    page: PAGE_WALLETS,
    find: (after: string | null, limit) =>
      watchedWallets(deps.pool, scope, run, { after: after ?? '', limit }),
    async work(id) {
      await evaluateWallet(deps, { scope, user_id: '' }, id);
      totals.evaluated += 1;
    },
    failed: (wallet_id) => [{ wallet_id }, 'wallet not evaluated'],
  });
}
