import { paysFor } from '../../../domain/invoicing/prepaid-credits.ts';
import { decimal, Decimal, sum, ZERO } from '../../../domain/money.ts';
import { epochMs, type Period } from '../../../domain/time/instant.ts';
import { windowsWithin, type UsageWindow } from '../../../domain/time/usage-windows.ts';
import { forecastBalance } from '../../../domain/wallet/forecast.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { WalletForecast } from '../../../schemas/wallet-forecast.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { ApiDeps } from '../../deps.ts';
import {
  asksOf,
  figuresOf,
  gridOfPoints,
  type AnalyticsQuestion,
} from '../analytics/analytics-figures.ts';
import { byPeriod, usageLines } from '../analytics/analytics-subjects.ts';
import { figureText } from '../analytics/cost-shares.ts';
import { rateSubjects, type DiscountedCharge } from '../analytics/rate-subjects.ts';
import { settlementsOf } from '../computing/settlement-currency.ts';
import { type WalletRow } from '../credits/wallet-repository.ts';
import { findBlocks } from '../credits/wallet-transaction-repository.ts';
import { askUsage } from '../../usage/quantities/ask-usage.ts';
import { realTimeBalances } from './real-time-balance.ts';
import { runningSubscriptions } from './balance-repository.ts';

const DAY_MS = 86_400_000;
/** Four weeks: every day of the week counts the same. */
const RECENT_DAYS = 28;

/** When a wallet is empty if usage goes on as in the last four weeks (money 2.8.8). */
export async function walletForecast(
  deps: ApiDeps,
  scope: Scope,
  wallet: WalletRow,
): Promise<WalletForecast> {
  const now = deps.clock.now();
  const at = isoTime(now);
  const base = { wallet_id: wallet.id, currency: wallet.currency, at };
  if (wallet.wallet_type !== 'PRE_PAID' || wallet.wallet_status !== 'active')
    return { ...base, daily_usage: '0', timezone: 'UTC', usage: [], empty_at: null, points: [] };
  const recent = { start: isoTime(now - RECENT_DAYS * DAY_MS), end: at };
  const [blocks, balances, { usage, timezone }] = await Promise.all([
    findBlocks(deps.pool, scope, [wallet.id]),
    realTimeBalances(deps, scope, [wallet], deps.eventReader),
    paysFor(wallet.allowed_price_types, 'USAGE')
      ? usageByDay(deps, scope, wallet, recent)
      : NO_USAGE,
  ]);
  const daily = meanOf(usage, recent);
  const forecast = forecastBalance(
    blocks,
    decimal(wallet.conversion_rate),
    { balance: decimal(balances.get(wallet.id)!.real_time_balance), daily },
    at,
  );
  return {
    ...base,
    daily_usage: figureText(daily),
    timezone,
    usage: everyDay(usage, timezone, recent).map(({ day, amount }) => ({
      day,
      amount: figureText(amount),
    })),
    ...forecast,
  };
}

interface DayOfUsage {
  readonly day: string;
  readonly amount: Decimal;
}

interface UsageByDay {
  /** Zone of the days. */
  readonly timezone: string;
  /** Days with usage, oldest first. */
  readonly usage: readonly DayOfUsage[];
}

const NO_USAGE: UsageByDay = { timezone: 'UTC', usage: [] };

/** The days of the period, those without usage with zero; none if no day has usage. */
function everyDay(
  usage: readonly DayOfUsage[],
  timezone: string,
  period: Period,
): readonly DayOfUsage[] {
  if (usage.length === 0) return usage;
  const days = windowsWithin({ bucket_size: 'DAY', timezone, billing_anchor: null }, period);
  const amounts = new Map(days.map(({ window_start }) => [window_start, ZERO]));
  // A price with buckets may have usage in windows of its own, which begin on other days or hours.
  for (const { day, amount } of usage) amounts.set(day, amount);
  return [...amounts]
    .map(([day, amount]) => ({ day, amount }))
    .sort((left, right) => epochMs(left.day) - epochMs(right.day));
}

/** The mean since the first usage, at least of one day: a customer who began last week is not diluted. */
function meanOf(usage: readonly DayOfUsage[], { start, end }: Period): Decimal {
  const [first] = usage;
  if (first === undefined) return ZERO;
  const fromMs = Math.max(epochMs(first.day), epochMs(start));
  const days = Math.max((epochMs(end) - fromMs) / DAY_MS, 1);
  return sum(usage.map(({ amount }) => amount)).div(days);
}

/**
 * Priced usage of the subscriptions that run now and that the wallet pays for, by the days of the customer. The billing
 * periods that the range touches are rated whole, as on their invoices: a part of one would have its own allowance and
 * its own first tiers. The days share the cost of their period by usage. Of a day that the range cuts, its part counts.
 */
async function usageByDay(
  deps: ApiDeps,
  scope: Scope,
  { customer_id, currency }: WalletRow,
  range: Period,
): Promise<UsageByDay> {
  const running = await runningSubscriptions(deps.pool, scope, [customer_id]);
  const settlements = await settlementsOf(
    deps.pool,
    scope,
    running.map((subscription) => subscription.currency),
  );
  /** Money of the wallet for one unit of the subscription's currency; null if the wallet does not pay it. */
  const factorOf = (own: string): Decimal | null => {
    if (own === currency) return new Decimal(1);
    const settled = settlements.get(own);
    return settled?.currency === currency ? decimal(settled.factor) : null;
  };
  const paid = running.filter((subscription) => factorOf(subscription.currency) !== null);
  const lines = await usageLines(deps, scope, paid, range, null, { periods: 'whole' });
  const timezone = paid[0]?.customer_timezone ?? 'UTC';
  const asked = byDay(scope, timezone);
  const parts = lines.flatMap((line) => byPeriod(line).map((part) => ({ line, ...part })));
  const rows = await askUsage(
    deps,
    parts.flatMap(({ part }, number) => asksOf(part, number, asked)),
  );
  const rated = rateSubjects(lines, rows);
  const points = parts.flatMap(({ line, period, part }, number) => {
    const billed = (rated.get(line) ?? []).filter((row) => isBilledIn(row, period));
    const shares = sharesOf(gridOfPoints(part, asked)!, range);
    return figuresOf(part, number, asked, rows, billed)
      .flatMap((figures) => figures.points ?? [])
      .flatMap(({ timestamp, cost }) => {
        const share = shares.get(timestamp);
        if (share === undefined) return [];
        const amount = decimal(cost).times(factorOf(line.line!.currency)!).times(share);
        return { day: timestamp, amount };
      });
  });
  const usage = [...groupBy(points, ({ day }) => day)]
    .map(([day, own]) => ({ day, amount: sum(own.map(({ amount }) => amount)) }))
    .sort((left, right) => epochMs(left.day) - epochMs(right.day));
  return { timezone, usage };
}

/** Whether the invoice of the period has the row. */
const isBilledIn = ({ rated }: DiscountedCharge, { start, end }: Period): boolean =>
  start <= rated.period.start && rated.period.start < end;

/** The part of each window's elapsed time that is within the range, which ends now; none for other windows. */
const sharesOf = (grid: UsageWindow, range: Period): ReadonlyMap<string, Decimal> =>
  new Map(
    windowsWithin(grid, range).map(({ window_start, start, end }) => {
      const elapsedMs = epochMs(end) - epochMs(window_start);
      return [window_start, new Decimal(epochMs(end) - epochMs(start)).div(elapsedMs)];
    }),
  );

const byDay = (scope: Scope, timezone: string): AnalyticsQuestion => ({
  scope,
  external_customer_ids: null,
  filter_values: {},
  group_by: [],
  window_size: 'DAY',
  timezone,
});
