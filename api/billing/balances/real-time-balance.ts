import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import type { EventReader } from '../../../clickhouse/reading/event-reader.ts';
import { roundToCurrency } from '../../../domain/currency.ts';
import { decimal, decimalText, sum, type Decimal } from '../../../domain/money.ts';
import { realTimeBalance, type RealTimeBalance } from '../../../domain/wallet/real-time-balance.ts';
import { isoTime } from '../../../platform/clock.ts';
import { type Scope } from '../../../postgres/client.ts';
import type { WalletBalance } from '../../../schemas/wallet.ts';
import type { BillingDeps, UsageDeps } from '../../deps.ts';
import { groupBy } from '../../conventions/group-by.ts';
import { ratingAsks } from '../analytics/analytics-figures.ts';
import { usageLines } from '../analytics/analytics-subjects.ts';
import { rateSubjects } from '../analytics/rate-subjects.ts';
import { settlementsOf } from '../computing/settlement-currency.ts';
import { findWithBlocks, type WalletRow } from '../credits/wallet-repository.ts';
import { walletAnswers } from '../credits/wallet-answers.ts';
import { readShownUsage } from '../../usage/quantities/ask-usage.ts';
import { claimingInvoices, runningSubscriptions } from './balance-repository.ts';

type Deps = Pick<BillingDeps, 'pool' | 'clock' | 'usageReader'>;

/** A balance, and the wallet from which it was computed. */
export interface BalanceOfWallet extends RealTimeBalance {
  readonly wallet: WalletRow;
}

/**
 * The balances of one customer's wallets less unsettled amounts (money 2.8): priced usage of the running
 * periods, and open invoices. Reads the wallets again with their blocks, and usage; call it outside of any
 * lock. With `events`, usage of a new meter counts before its backfill is verified: for balances that are shown. Null
 * leaves it out: nothing is decided by it.
 */
export async function realTimeBalances(
  deps: Deps,
  scope: Scope,
  wallets: readonly WalletRow[],
  events: EventReader | null,
): Promise<ReadonlyMap<string, BalanceOfWallet>> {
  const at = isoTime(deps.clock.now());
  const claiming = wallets.filter(
    ({ wallet_type, wallet_status }) => wallet_type === 'PRE_PAID' && wallet_status === 'active',
  );
  const [current, invoices, usage] = await Promise.all([
    findWithBlocks(
      deps.pool,
      scope,
      wallets.map(({ id }) => id),
    ),
    claimingInvoices(
      deps.pool,
      scope,
      claiming.map(({ customer_id }) => customer_id),
    ),
    runningUsage(deps, scope, claiming, events),
  ]);
  return new Map(
    current.map(({ wallet, blocks }) => {
      const claims = {
        usage: usage(wallet),
        invoices: invoices.filter(({ customer_id }) => customer_id === wallet.customer_id),
      };
      const balance = realTimeBalance(wallet, blocks, wallet.allowed_price_types, claims, at);
      return [wallet.id, { ...balance, wallet }];
    }),
  );
}

/** The answers for the wallets, each with its current balance. */
export async function balanceAnswers(
  deps: UsageDeps,
  scope: Scope,
  wallets: readonly WalletRow[],
  expand: ReadonlySet<string>,
): Promise<WalletBalance[]> {
  const balances = await realTimeBalances(deps, scope, wallets, deps.eventReader);
  const current = wallets.map(({ id }) => balances.get(id)!.wallet);
  const answers = await walletAnswers(deps.pool, scope, current, expand);
  return answers.map((wallet) => {
    const {
      current_period_usage,
      unpaid_invoices_amount,
      real_time_balance,
      real_time_credit_balance,
    } = balances.get(wallet.id)!;
    const pending = decimal(current_period_usage).plus(decimal(unpaid_invoices_amount));
    return {
      ...wallet,
      real_time_balance,
      real_time_credit_balance,
      balance_updated_at: wallet.updated_at,
      current_period_usage: decimalText(pending),
      unpaid_invoices_amount,
      is_cached_fallback: false,
    };
  });
}

/**
 * Priced usage of the running periods of the subscriptions that a wallet pays for, by customer and currency.
 */
async function runningUsage(
  deps: Deps,
  scope: Scope,
  wallets: readonly WalletRow[],
  eventReader: EventReader | null,
): Promise<(wallet: WalletRow) => Decimal> {
  const payers = [...new Set(wallets.map(({ customer_id }) => customer_id))];
  const subscriptions = await runningSubscriptions(deps.pool, scope, payers);
  const subjects = (
    await Promise.all(
      subscriptions.map((subscription) =>
        usageLines(
          deps,
          scope,
          [subscription],
          { start: subscription.current_period_start, end: subscription.current_period_end },
          null,
          eventReader === null ? 'counted' : 'all',
        ),
      ),
    )
  ).flat();
  const asks = subjects.flatMap(ratingAsks);
  const { answers } =
    asks.length === 0
      ? { answers: new Map() }
      : eventReader === null
        ? await deps.usageReader.read(asks.map(({ query }) => query))
        : await readShownUsage({ ...deps, eventReader }, asks);
  const rows = new Map([...answers].map(([key, answer]) => [key, answer.rows]));
  const rated = rateSubjects(subjects, rows);
  const walletOf = (subject: (typeof subjects)[number]): string =>
    `${payerOf(subject.subscription!)} ${subject.subscription!.currency}`;
  const byPayer = groupBy(subjects, walletOf);
  const settlements = await settlementsOf(
    deps.pool,
    scope,
    subscriptions.map(({ currency }) => currency),
  );
  const totalIn = (customerId: string, currency: string): Decimal => {
    const own = byPayer.get(`${customerId} ${currency}`) ?? [];
    const charges = own.flatMap((subject) => rated.get(subject) ?? []);
    return sum(charges.map((charge) => charge.rated.unrounded.minus(charge.discount)));
  };
  return ({ customer_id, currency }) => {
    // Usage of subscriptions in a custom currency is invoiced in the currency that it settles in.
    const settled = [...settlements.values()]
      .filter((settlement) => settlement.currency === currency)
      .map(({ custom, factor }) => totalIn(customer_id, custom.code).times(factor));
    return roundToCurrency(totalIn(customer_id, currency).plus(sum(settled)), currency);
  };
}
