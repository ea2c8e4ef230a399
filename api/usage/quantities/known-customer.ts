import { BillingError } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import { getCustomerByExternalId } from '../../customers/customers/repository.ts';

/** The customer with that external id, or null: usage may arrive before the customer's record. */
export async function findKnownCustomer(
  db: Db,
  scope: Scope,
  externalId: string | null,
): Promise<Customer | null> {
  if (externalId === null) return null;
  return await getCustomerByExternalId(db, scope, externalId).catch((error: unknown) => {
    if (error instanceof BillingError && error.kind === 'not_found') return null;
    throw error;
  });
}
