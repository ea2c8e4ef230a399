import { BillingError, invalidField } from '../errors.ts';
import {
  dividesEvenly,
  equallyLong,
  type BillingPeriod,
  type Cadence,
} from '../pricing/cadence.ts';
import { currencyFits } from '../pricing/currency-fits.ts';

/** The fields of a plan price that selection reads. Dates are ISO 8601 UTC; null means no start or no end. */
export interface SelectablePrice {
  readonly id: string;
  readonly currency: string;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
  readonly start_date: string | null;
  readonly end_date: string | null;
  /** Root of the lineage (billing 2.7). */
  readonly parent_price_id: string;
}

export interface PriceSelection {
  readonly currency: string;
  /** If `currency` is a custom currency: the tenant's fiat currency, which prices may also have. */
  readonly default_currency?: string | null;
  /** Cadence of the subscription. */
  readonly cadence: Cadence;
  /** Start and end of the subscription, half-open. */
  readonly start: string;
  readonly end: string | null;
  /** Null means the default selection. An empty list selects no price. */
  readonly include_price_ids: readonly string[] | null;
}

/**
 * Whether the period of a price is allowed on a subscription: same period and count, months that divide those
 * of the subscription, or a one-time price (billing 3.2).
 */
export const isCompatible = (price: Cadence, subscription: Cadence): boolean =>
  price.billing_period === 'ONETIME' || dividesEvenly(price, subscription);

/**
 * Plan prices that a new subscription uses, in the order of the plan (billing 3.2, 10.1). Without a
 * list: prices of its currency with its period length, and one-time prices. A price with a shorter period
 * must be named. Refuses a named price that is not in the plan, has ended by the start, or does not fit.
 * Refuses an empty selection, unless the list is empty. A price that was deleted by `askedAt`, the time of
 * the request, is not in the plan any more.
 */
export function selectPlanPrices<Price extends SelectablePrice>(
  planPrices: readonly Price[],
  selection: PriceSelection,
  askedAt: string,
): Price[] {
  const { include_price_ids: named, cadence } = selection;
  const withdrawn = withdrawnLineages(planPrices, askedAt);
  const live = planPrices.filter(
    (price) => isLiveWithin(price, selection) && !withdrawn.has(price.parent_price_id),
  );
  if (named === null) {
    const selected = live.filter(
      (price) =>
        currencyFits(price, selection) &&
        (price.billing_period === 'ONETIME' || equallyLong(price, cadence)),
    );
    if (selected.length === 0) throw noMatchingPrices();
    return selected;
  }
  named.forEach((id, index) => {
    const price = live.find((candidate) => candidate.id === id);
    const path = `include_price_ids[${index}]`;
    if (price === undefined) throw invalidField(path, `${id} is not a live price of the plan`);
    assertFits(price, selection, path);
  });
  return live.filter((price) => named.includes(price.id));
}

/** Refuses a price with another currency or a period that does not fit (billing 3.2). */
export function assertFits(
  price: SelectablePrice,
  selection: Pick<PriceSelection, 'currency' | 'default_currency' | 'cadence'>,
  path: string,
): void {
  if (!currencyFits(price, selection))
    throw invalidField(path, `${price.id} is in ${price.currency}, not ${selection.currency}`);
  if (!isCompatible(price, selection.cadence)) {
    const months = 'its period must be the same or divide the subscription period';
    throw invalidField(path, `${price.id} does not fit the billing period: ${months}`);
  }
}

/** Whether the validity of the price overlaps the subscription. */
function isLiveWithin(price: SelectablePrice, { start, end }: PriceSelection): boolean {
  return (
    (price.end_date === null || price.end_date > start) &&
    (end === null || price.start_date === null || price.start_date < end)
  );
}

/**
 * Lineages of which every version has ended: deleted prices. A version that another one replaced still bills
 * the past of a back-dated subscription; a deleted price does not (billing 2.7).
 */
function withdrawnLineages(prices: readonly SelectablePrice[], at: string): Set<string> {
  const sold = new Set(
    prices
      .filter(({ end_date }) => end_date === null || end_date > at)
      .map(({ parent_price_id }) => parent_price_id),
  );
  return new Set(
    prices.map(({ parent_price_id }) => parent_price_id).filter((root) => !sold.has(root)),
  );
}

const noMatchingPrices = (): BillingError =>
  new BillingError(
    'invalid',
    'validation_error',
    'plan_id: the plan has no price of this currency and billing period',
    [
      {
        path: 'plan_id',
        code: 'no_matching_prices',
        message: 'has no price of this currency and billing period',
      },
    ],
  );
