import { BillingError } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import { getCustomerByExternalId } from '../../customers/customers/repository.ts';

/** The customer of that external id, or null: usage may come before the record of who used it. */
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
