import type { ApiRecord } from '../../client/api.ts';
import { formatDecimal, formatMoney } from '../../ui/text.ts';

/** What a price charges, in few words: `$0.04 per unit`, `$0.003 per 1,000`, `3 tiers`. */
export function rateOf(price: ApiRecord<'Price'>): string {
  const { type, amount, currency, tiers, billing_model, transform_quantity } = price;
  if (billing_model === 'TIERED') return `${tiers?.length ?? 0} tiers`;
  const rate = formatMoney(amount, currency);
  if (billing_model === 'PACKAGE')
    return `${rate} per ${formatDecimal(String(transform_quantity.divide_by))}`;
  return type === 'USAGE' ? `${rate} per unit` : rate;
}
