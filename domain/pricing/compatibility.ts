import { dividesEvenly, equallyLong, type Cadence } from './cadence.ts';
import { refusal } from './problems.ts';

/** What decides whether a price may be on a subscription. */
export interface FittingPrice extends Cadence {
  readonly id: string;
  readonly currency: string;
}

export interface FittingSubscription extends Cadence {
  readonly currency: string;
  /** The default fiat currency, where the subscription is in a custom one: prices may be in either. */
  readonly default_currency?: string | null;
}

/**
 * Whether the price's charge periods fill the subscription's billing period: the same unit and count,
 * months that divide, or a one-time price (billing-semantics 3.2).
 */
export function cadenceFits(price: Cadence, subscription: Cadence): boolean {
  return price.billing_period === 'ONETIME' || dividesEvenly(price, subscription);
}

/** One-time prices and those that are exactly as long: what a subscription takes when none are named (3.2). */
export function cadenceMatches(price: Cadence, subscription: Cadence): boolean {
  return price.billing_period === 'ONETIME' || equallyLong(price, subscription);
}

/** billing-semantics 3.2; money-semantics 12.4 for a subscription in a custom currency. */
export function currencyFits(
  price: Pick<FittingPrice, 'currency'>,
  subscription: Pick<FittingSubscription, 'currency' | 'default_currency'>,
): boolean {
  const code = price.currency.toLowerCase();
  return (
    code === subscription.currency.toLowerCase() ||
    code === subscription.default_currency?.toLowerCase()
  );
}

/** Refuses a price that does not fit, naming what does not (billing-semantics 3.2). */
export function refuseUnfitPrice(
  price: FittingPrice,
  subscription: FittingSubscription,
  path: string,
): void {
  if (!currencyFits(price, subscription)) {
    throw refusal(
      path,
      'price_currency_mismatch',
      `price ${price.id} is in ${price.currency}, the subscription in ${subscription.currency}`,
    );
  }
  if (!cadenceFits(price, subscription)) {
    throw refusal(
      path,
      'price_cadence_mismatch',
      `price ${price.id} bills ${cadenceText(price)}, which does not divide the subscription's ${cadenceText(subscription)}`,
    );
  }
}

const cadenceText = (cadence: Cadence): string =>
  `${cadence.billing_period} x ${cadence.billing_period_count}`;
