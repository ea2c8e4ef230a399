import { roundToCurrency } from '../../../domain/currency.ts';
import { sum, ZERO, type Decimal } from '../../../domain/money.ts';
import type { EventReader } from '../../../clickhouse/reading/event-reader.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { readShownUsage } from '../../usage/quantities/ask-usage.ts';
import { ratingAsks } from '../analytics/analytics-figures.ts';
import { runningUsageLines, type BilledSubscriptions } from '../analytics/analytics-subjects.ts';
import { costOfSubscriptions } from '../analytics/rate-subjects.ts';
import type { Settlement } from '../computing/settlement-currency.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';
import type { PaidSubscription } from './balance-repository.ts';
import { lastTotals, type LastTotalsOptions, type Totals } from './last-totals.ts';

type Deps = Pick<BillingDeps, 'pool' | 'clock' | 'usageReader'>;

/** What unsettled usage is priced from, of one moment. */
export interface ClaimSources {
  readonly subscriptions: readonly PaidSubscription[];
  readonly billed: BilledSubscriptions | null;
  readonly settlements: ReadonlyMap<string, Settlement>;
}

/** What unsettled usage claims of wallets. */
export interface UsageClaims {
  /** In the currency of the wallet, rounded to it. */
  of(wallet: Pick<WalletRow, 'customer_id' | 'currency'>): Decimal;
  /** The usage is the last one that was read, because it cannot be read now. */
  readonly isFallback: boolean;
}

/**
 * Priced usage of the running periods of the subscriptions, by who is billed for it (money 2.8, billing 16). With
 * `events`, usage of a new meter counts before its backfill is verified: for balances that are shown. Null leaves it
 * out: nothing is decided by it. With `last`, usage that was read before may serve (2.8.9).
 */
export async function usageClaims(
  deps: Deps,
  scope: Scope,
  sources: ClaimSources,
  events: EventReader | null,
  last: LastTotalsOptions | null,
): Promise<UsageClaims> {
  const { subscriptions, settlements } = sources;
  const read = (): Promise<Totals> => totalsOf(deps, sources, events);
  const { totals, isFallback } =
    last === null
      ? { totals: await read(), isFallback: false }
      : await lastTotals(last, scope, subscriptions, read);
  const totalIn = (customerId: string, currency: string): Decimal =>
    totals.get(totalKey(customerId, currency)) ?? ZERO;
  return {
    of({ customer_id, currency }) {
      // Usage of subscriptions in a custom currency is invoiced in the currency that it settles in.
      const settled = [...settlements.values()]
        .filter((settlement) => settlement.currency === currency)
        .map(({ custom, factor }) => totalIn(customer_id, custom.code).times(factor));
      return roundToCurrency(totalIn(customer_id, currency).plus(sum(settled)), currency);
    },
    isFallback,
  };
}

async function totalsOf(
  deps: Deps,
  { subscriptions, billed }: ClaimSources,
  eventReader: EventReader | null,
): Promise<Totals> {
  const which = eventReader === null ? 'counted' : 'all';
  const subjects = await runningUsageLines(billed, { which });
  const asks = subjects.flatMap(ratingAsks);
  const { answers } =
    asks.length === 0
      ? { answers: new Map() }
      : eventReader === null
        ? await deps.usageReader.read(asks.map(({ query }) => query))
        : await readShownUsage({ ...deps, eventReader }, asks);
  const rows = new Map([...answers].map(([key, answer]) => [key, answer.rows]));
  const payers = new Map(subscriptions.map(({ id, usage_payer_id }) => [id, usage_payer_id]));
  const byPayer = groupBy([...costOfSubscriptions(subjects, rows)], ([{ id, currency }]) =>
    totalKey(payers.get(id)!, currency),
  );
  return new Map([...byPayer].map(([key, own]) => [key, sum(own.map(([, cost]) => cost))]));
}

const totalKey = (customerId: string, currency: string): string => `${customerId} ${currency}`;
