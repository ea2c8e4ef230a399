import { invalidField } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { getCustomer } from '../../customers/customers/repository.ts';

/**
 * The external id in the events of the requested customer; null for all customers together. 404 for an
 * unknown `customer_id`, 400 if the two names mean different customers.
 */
export async function askedCustomer(
  db: Db,
  scope: Scope,
  asked: { readonly customer_id?: string | null; readonly external_customer_id?: string | null },
): Promise<string | null> {
  const external = asked.external_customer_id || null;
  if (!asked.customer_id) return external;
  const { external_id } = await getCustomer(db, scope, asked.customer_id);
  if (external !== null && external !== external_id)
    throw invalidField('customer_id', 'names another customer than external_customer_id');
  return external_id;
}
