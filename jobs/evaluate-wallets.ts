import type { BillingDeps } from '../api/deps.ts';
import { isOutage } from '../api/outage.ts';
import { evaluateWallet } from '../api/billing/balances/evaluate-wallet.ts';
import {
  scopesWithWatchedWallets,
  watchedWallets,
  watchedWalletsOf,
} from '../api/billing/balances/watched-wallet-repository.ts';
import { walletsToEvaluate } from '../api/billing/balances/wallets-to-evaluate.ts';
import type { Scope } from '../postgres/client.ts';
import type { Job } from './job.ts';
import { workOnRecords } from './record-pages.ts';

const PAGE_WALLETS = 100;

/**
 * Evaluates the balance of every wallet with alert levels or an automatic top-up, because usage lowers the
 * balance without a command (api 44, money 3.12). Environments take turns. A page of wallets is compared together, and
 * each that may change is evaluated by itself; one that fails does not stop the others.
 */
export const evaluateWallets: Job<BillingDeps> = {
  name: 'evaluate-wallets',
  cron: '*/5 * * * * *',
  ofCustomers: { workAt: watchedWalletsOf },
  async run(deps, run) {
    const totals = { evaluated: 0, failed: 0 };
    const scopes = await scopesWithWatchedWallets(deps.pool, run);
    await workOnRecords(run, scopes, totals, (scope) => ({
      page: PAGE_WALLETS,
      async find(after: PagedWallet | null, limit) {
        const from = { after: after?.id ?? '', limit };
        const ids = await watchedWallets(deps.pool, scope, run, from);
        const mayChange = await comparedTogether(deps, scope, ids);
        return ids.map((id): PagedWallet => ({ id, mayChange: mayChange?.has(id) ?? true }));
      },
      async work({ id, mayChange }) {
        if (mayChange) await evaluateWallet(deps, { scope, user_id: '' }, id);
        totals.evaluated += 1;
      },
      failed: ({ id }) => [{ wallet_id: id }, 'wallet not evaluated'],
    }));
    return totals;
  },
};

interface PagedWallet {
  readonly id: string;
  readonly mayChange: boolean;
}

/** Null if one of the wallets cannot be compared: each is then evaluated, and that one fails by itself. */
async function comparedTogether(
  deps: BillingDeps,
  scope: Scope,
  ids: readonly string[],
): Promise<ReadonlySet<string> | null> {
  try {
    return await walletsToEvaluate(deps, scope, ids);
  } catch (error) {
    if (isOutage(error)) throw error;
    return null;
  }
}
