/**
 * Whether a price may be on a subscription by its currency: the same, or, on a subscription in a
 * custom currency, the default fiat currency; never a second custom one (billing 3.2,
 * money 12.4). Codes compare without regard to case.
 */
export function currencyFits(
  price: { readonly currency: string },
  subscription: {
    readonly currency: string;
    /** Of the tenant, where the subscription's own is a custom one; else null or absent. */
    readonly default_currency?: string | null;
  },
): boolean {
  const code = price.currency.toLowerCase();
  return (
    code === subscription.currency.toLowerCase() ||
    code === subscription.default_currency?.toLowerCase()
  );
}
