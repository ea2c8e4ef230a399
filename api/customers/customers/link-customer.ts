import { invalidField } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CustomerLinkBody, IntegrationMapping } from '../../../schemas/customer.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import { linkEntity } from '../../tenancy/integrations/link.ts';
import type { Caller } from '../../conventions/record.ts';

const FIELD = 'integration_entity_mapping';

/**
 * Links the customer to records of connected providers, newest last. 400 with the place in the list for a
 * provider that is not connected; 409 if the customer is already linked at the provider, or the provider's
 * record to another customer.
 */
export async function linkCustomer(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  customerId: string,
  links: readonly CustomerLinkBody[],
): Promise<IntegrationMapping[]> {
  const mappings: IntegrationMapping[] = [];
  for (const [index, link] of links.entries()) {
    const entity = { entity_type: 'customer', entity_id: customerId } as const;
    mappings.push(
      await linkEntity(tx, deps, caller, { ...link, ...entity }).catch((error: unknown) => {
        throw below(error, `${FIELD}[${index}]`);
      }),
    );
  }
  return mappings;
}

/** Refuses links in a customer's body that name another customer. */
export function assertOwnLinks(customerId: string, links: readonly CustomerLinkBody[]): void {
  const index = links.findIndex(({ entity_id }) => entity_id && entity_id !== customerId);
  if (index >= 0)
    throw invalidField(`${FIELD}[${index}].entity_id`, 'must be the customer itself, or absent');
}
