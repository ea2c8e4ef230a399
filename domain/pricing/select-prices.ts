import type { BillingError } from '../errors.ts';
import {
  cadenceFits,
  cadenceMatches,
  currencyFits,
  refuseUnfitPrice,
  type FittingPrice,
  type FittingSubscription,
} from './compatibility.ts';
import { refusal } from './problems.ts';

/** A price of the plan, with the window in which it is valid. */
export interface PlanPrice extends FittingPrice {
  /** Null = valid from ever (billing-semantics 2.1). */
  readonly start_date: string | null;
  readonly end_date: string | null;
}

export interface SelectingSubscription extends FittingSubscription {
  readonly start_date: string;
  readonly end_date: string | null;
}

/** A price and the window in which the subscription's line item bills it. */
export interface SelectedPrice<Price> {
  readonly price: Price;
  readonly start_date: string;
  readonly end_date: string | null;
}

/**
 * The plan's prices that become line items of a new subscription (billing-semantics 3.2). Without
 * `includePriceIds` those of the subscription's own cadence and one-time ones, and at least one; with it
 * exactly those named, none for an empty list, each of which must be on the plan, not ended and fit.
 * A price valid from later on, or only until a date, bills within that window.
 */
export function selectPlanPrices<Price extends PlanPrice>(
  prices: readonly Price[],
  subscription: SelectingSubscription,
  includePriceIds: readonly string[] | null | undefined,
): readonly SelectedPrice<Price>[] {
  const open = prices.filter((price) => billsWithin(price, subscription));
  if (includePriceIds === null || includePriceIds === undefined) {
    const matching = open.filter(
      (price) => currencyFits(price, subscription) && cadenceMatches(price, subscription),
    );
    if (matching.length === 0) throw noMatchingPrices();
    return matching.map((price) => selected(price, subscription));
  }
  for (const [index, id] of includePriceIds.entries()) {
    const path = `include_price_ids[${index}]`;
    const price = open.find((candidate) => candidate.id === id);
    if (price === undefined) {
      throw refusal(path, 'price_not_on_plan', `${id} is not a price of the plan, or has ended`);
    }
    refuseUnfitPrice(price, subscription, path);
  }
  const named = new Set(includePriceIds);
  return open.filter((price) => named.has(price.id)).map((price) => selected(price, subscription));
}

/** Whether a price fits in currency and cadence, without a refusal (a plan's sync asks this). */
export function priceFits(price: FittingPrice, subscription: FittingSubscription): boolean {
  return currencyFits(price, subscription) && cadenceFits(price, subscription);
}

/** Half-open on both sides: a price that ends at the subscription's start is not on it. */
function billsWithin(price: PlanPrice, subscription: SelectingSubscription): boolean {
  return (
    (price.end_date === null || price.end_date > subscription.start_date) &&
    (price.start_date === null ||
      subscription.end_date === null ||
      price.start_date < subscription.end_date)
  );
}

function selected<Price extends PlanPrice>(
  price: Price,
  subscription: SelectingSubscription,
): SelectedPrice<Price> {
  const { start_date } = subscription;
  const starts = price.start_date !== null && price.start_date > start_date;
  const ends =
    price.end_date !== null &&
    (subscription.end_date === null || price.end_date < subscription.end_date);
  return {
    price,
    start_date: starts ? price.start_date : start_date,
    end_date: ends ? price.end_date : subscription.end_date,
  };
}

/** 400 `no_matching_prices`: a subscription that would bill nothing, unless that was asked for. */
export const noMatchingPrices = (): BillingError =>
  refusal(
    'plan_id',
    'no_matching_prices',
    'the plan has no price in this currency and billing period; name shorter ones in include_price_ids',
  );
