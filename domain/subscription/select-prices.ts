import { BillingError, invalidField } from '../errors.ts';
import {
  dividesEvenly,
  equallyLong,
  type BillingPeriod,
  type Cadence,
} from '../pricing/cadence.ts';
import { currencyFits } from '../pricing/currency-fits.ts';

/** What selection reads of a plan's price. Dates are ISO 8601 UTC; null = from ever, for ever. */
export interface SelectablePrice {
  readonly id: string;
  readonly currency: string;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
  readonly start_date: string | null;
  readonly end_date: string | null;
}

export interface PriceSelection {
  readonly currency: string;
  /** Where `currency` is a custom one: the tenant's fiat currency, in which prices may be as well. */
  readonly default_currency?: string | null;
  /** Of the subscription. */
  readonly cadence: Cadence;
  /** The subscription, half-open. */
  readonly start: string;
  readonly end: string | null;
  /** Null: the default selection. An empty list selects none. */
  readonly include_price_ids: readonly string[] | null;
}

/**
 * Whether a price may stand on a subscription: the same period and count, months that divide the
 * subscription's, or a one-time price (billing 3.2).
 */
export const isCompatible = (price: Cadence, subscription: Cadence): boolean =>
  price.billing_period === 'ONETIME' || dividesEvenly(price, subscription);

/**
 * The plan's prices that a new subscription takes (billing 3.2, 10.1). Without a list those of
 * its currency that are as long as its period, and one-time ones; a shorter one must be named. A named
 * price that the plan does not have, that has ended by the start, or that does not fit is refused. No
 * price at all is refused too, unless the empty list asked for it. Order is the plan's.
 */
export function selectPlanPrices<Price extends SelectablePrice>(
  planPrices: readonly Price[],
  selection: PriceSelection,
): Price[] {
  const { include_price_ids: named, cadence } = selection;
  const live = planPrices.filter((price) => isLiveWithin(price, selection));
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
    if (price === undefined) throw invalidField(path, `${id} is no price of the plan that is live`);
    assertFits(price, selection, path);
  });
  return live.filter((price) => named.includes(price.id));
}

/** Refuses a price of another currency, or whose period does not fit (billing 3.2). */
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

/** Whether the price rates any moment of the subscription. */
function isLiveWithin(price: SelectablePrice, { start, end }: PriceSelection): boolean {
  return (
    (price.end_date === null || price.end_date > start) &&
    (end === null || price.start_date === null || price.start_date < end)
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
