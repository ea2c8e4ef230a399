import { decimalText, ONE, parseDecimal, ZERO, type Decimal } from '../money.ts';
import type { PriceTerms } from './price.ts';
import { refusal } from './problems.ts';

/**
 * The quantity that a new line item bills (billing 2.3, 0.9). USAGE: measured, so 0 is stored and
 * any other value is refused. FIXED: default is the minimum of the price, else 1; an explicit 0 bills 0; a
 * value between 0 and the minimum is refused.
 */
export function lineQuantity(
  price: Pick<PriceTerms, 'type' | 'minQuantity'>,
  requested: string | number | null | undefined,
  path = 'quantity',
): Decimal {
  const given = requested !== null && requested !== undefined;
  if (price.type === 'USAGE') {
    if (!given) return ZERO;
    const quantity = parseDecimal(requested, path);
    if (quantity.isZero()) return ZERO;
    throw refusal(path, 'quantity_on_usage', 'a USAGE line measures its quantity');
  }
  if (!given) return price.minQuantity ?? ONE;
  const quantity = parseDecimal(requested, path);
  if (quantity.lt(0)) throw refusal(path, 'negative_quantity', 'must not be negative');
  const minimum = price.minQuantity;
  if (minimum !== null && quantity.gt(0) && quantity.lt(minimum)) {
    const message = `must be 0 or at least the price's minimum of ${decimalText(minimum)}`;
    throw refusal(path, 'below_min_quantity', message);
  }
  return quantity;
}
