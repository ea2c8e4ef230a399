import { invalidField } from '../../../domain/errors.ts';
import type { BilledLine } from '../computing/billing-sources.ts';

/** The only line item of the price, or of the price that overrides it (billing 10.1). */
export function lineOfPrice(
  lines: readonly BilledLine[],
  priceId: string,
  path: string,
): BilledLine {
  const found = lines.filter(
    ({ price }) =>
      price.id === priceId ||
      (price.entity_type === 'SUBSCRIPTION' && price.parent_price_id === priceId),
  );
  const [line] = found;
  if (line !== undefined && found.length === 1) return line;
  const count = found.length === 0 ? 'no line item' : 'several line items';
  throw invalidField(path, `the subscription has ${count} with the price ${priceId}`);
}
