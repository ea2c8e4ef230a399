/**
 * Whether the currency of a price is allowed on a subscription (billing 3.2, money 12.4):
 * the same currency, or on a subscription in a custom currency the default fiat currency. Another custom
 * currency is never allowed. Codes compare case-insensitively.
 */
export function currencyFits(
  price: { readonly currency: string },
  subscription: {
    readonly currency: string;
    /** The tenant's default currency if the subscription is in a custom currency; else null or absent. */
    readonly default_currency?: string | null;
  },
): boolean {
  const code = price.currency.toLowerCase();
  return (
    code === subscription.currency.toLowerCase() ||
    code === subscription.default_currency?.toLowerCase()
  );
}
