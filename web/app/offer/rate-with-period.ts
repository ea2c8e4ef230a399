import { rateOf } from '../billing/rate-of.ts';
import type { ApiRecord } from '../../client/api.ts';
import { formatWord } from '../../ui/text.ts';

/** What a price charges, and how often if it is a fixed one: `$29.00 monthly`, `$0.04 per unit`. */
export function rateWithPeriod(price: ApiRecord<'Price'>): string {
  const rate = rateOf(price);
  return price.type === 'FIXED'
    ? `${rate} ${formatWord(price.billing_period).toLowerCase()}`
    : rate;
}
