import type { EventReader } from '../../../clickhouse/reading/event-reader.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { realTimeBalance, type RealTimeBalance } from '../../../domain/wallet/real-time-balance.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Db, Pool, Scope } from '../../../postgres/client.ts';
import type { WalletBalance } from '../../../schemas/wallet.ts';
import type { BalanceDeps, BillingDeps } from '../../deps.ts';
import { findWithExpired, type WalletRow } from '../credits/wallet-repository.ts';
import { runningSources } from '../analytics/analytics-subjects.ts';
import { settlementsOf } from '../computing/settlement-currency.ts';
import { walletAnswers } from '../credits/wallet-answers.ts';
import { claimingInvoices, runningSubscriptions } from './balance-repository.ts';
import type { LastTotalsOptions } from './last-totals.ts';
import { usageClaims } from './usage-claims.ts';

type Deps = Pick<BillingDeps, 'pool' | 'clock' | 'usageReader'>;

/** A balance, and the wallet from which it was computed. */
export interface BalanceOfWallet extends RealTimeBalance {
  readonly wallet: WalletRow;
  /** Its usage is the last one that was read, because it cannot be read now. */
  readonly is_fallback: boolean;
}

/**
 * The balances of one customer's wallets less unsettled amounts (money 2.8): priced usage of the running
 * periods, and open invoices. Reads the wallets again with their expired blocks, and usage; call it outside of any
 * lock. What becomes an invoice in the meantime counts once, as usage or as an invoice. With `events`, usage of a new
 * meter counts before its backfill is verified: for balances that are shown. Null leaves it out: nothing is decided by
 * it. With `last`, usage that was read before may serve (money 2.8.9).
 */
export async function realTimeBalances(
  deps: Deps,
  scope: Scope,
  wallets: readonly WalletRow[],
  events: EventReader | null,
  last: LastTotalsOptions | null = null,
): Promise<ReadonlyMap<string, BalanceOfWallet>> {
  const at = isoTime(deps.clock.now());
  const claiming = wallets.filter(
    ({ wallet_type, wallet_status }) => wallet_type === 'PRE_PAID' && wallet_status === 'active',
  );
  const { current, invoices, sources } = await atOneMoment(
    deps.pool,
    scope,
    wallets,
    claiming.map(({ customer_id }) => customer_id),
    at,
  );
  const usage = await usageClaims(deps, scope, sources, events, last);
  return new Map(
    current.map(({ wallet, blocks }) => {
      const claims = {
        usage: usage.of(wallet),
        invoices: invoices.filter(({ customer_id }) => customer_id === wallet.customer_id),
      };
      const balance = realTimeBalance(wallet, blocks, wallet.allowed_price_types, claims, at);
      return [wallet.id, { ...balance, wallet, is_fallback: usage.isFallback }];
    }),
  );
}

/**
 * The wallets with their expired blocks, the open invoices of the payers, and their running subscriptions with all that
 * prices the usage, from one snapshot: when a period is closed or a draft takes credits, a read of one before and of
 * another after would count the usage twice or not at all. One transaction for all statements also takes 2.5 ms of CPU
 * less than one for each.
 */
const atOneMoment = (
  pool: Pool,
  scope: Scope,
  wallets: readonly WalletRow[],
  payers: readonly string[],
  at: string,
) =>
  fromOneSnapshot(pool, async (tx) => {
    const ids = wallets.map(({ id }) => id);
    const [current, invoices, subscriptions] = await Promise.all([
      findWithExpired(tx, scope, ids, at),
      claimingInvoices(tx, scope, payers),
      runningSubscriptions(tx, scope, [...new Set(payers)]),
    ]);
    const currencies = subscriptions.map(({ currency }) => currency);
    const [billed, settlements] = await Promise.all([
      runningSources(tx, scope, subscriptions),
      settlementsOf(tx, scope, currencies),
    ]);
    return { current, invoices, sources: { subscriptions, billed, settlements } };
  });

/** Does not wait for the commit, which cannot change what was read. */
function fromOneSnapshot<T>(pool: Pool, read: (tx: Db) => Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    pool
      .begin('isolation level repeatable read read only', async (tx) => resolve(await read(tx)))
      .catch(reject);
  });
}

/**
 * The answers for the wallets, each with its current balance. Usage may be `maxAgeSeconds` old (0: it is read now).
 * While it cannot be read, the last one serves, and the answer says so.
 */
export async function balanceAnswers(
  deps: BalanceDeps,
  scope: Scope,
  wallets: readonly WalletRow[],
  expand: ReadonlySet<string>,
  maxAgeSeconds = 0,
): Promise<WalletBalance[]> {
  const last = {
    cache: deps.cache,
    nowMs: deps.clock.now(),
    maxAgeMs: maxAgeSeconds === 0 ? -1 : maxAgeSeconds * 1000,
  };
  const balances = await realTimeBalances(deps, scope, wallets, deps.eventReader, last);
  const current = wallets.map(({ id }) => balances.get(id)!.wallet);
  const answers = await walletAnswers(deps.pool, scope, current, expand);
  return answers.map((wallet) => {
    const {
      current_period_usage,
      unpaid_invoices_amount,
      real_time_balance,
      real_time_credit_balance,
      is_fallback,
    } = balances.get(wallet.id)!;
    const pending = decimal(current_period_usage).plus(decimal(unpaid_invoices_amount));
    return {
      ...wallet,
      real_time_balance,
      real_time_credit_balance,
      balance_updated_at: wallet.updated_at,
      current_period_usage: decimalText(pending),
      unpaid_invoices_amount,
      is_cached_fallback: is_fallback,
    };
  });
}
