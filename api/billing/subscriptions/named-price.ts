import { invalidField, notFound } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { findPrices, type PriceRow } from '../../catalog/prices/repository.ts';

/**
 * The price that a request names for a line item. 404 if it does not exist or is archived, 400 if it is the own price
 * of another subscription.
 */
export async function namedPrice(
  db: Db,
  scope: Scope,
  subscriptionId: string,
  priceId: string,
  path: string,
): Promise<PriceRow> {
  const [price] = await findPrices(db, scope, [priceId]);
  if (price === undefined || price.status !== 'published') throw notFound('Price', priceId);
  if (price.entity_type === 'SUBSCRIPTION' && price.entity_id !== subscriptionId)
    throw invalidField(path, `${priceId} is a price of another subscription`);
  return price;
}
