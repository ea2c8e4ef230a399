import { invalidField } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CustomerLinkBody, IntegrationMapping } from '../../../schemas/customer.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import { linkEntity } from '../../tenancy/integrations/link.ts';
import type { Caller } from '../../conventions/record.ts';

const FIELD = 'integration_entity_mapping';

/**
 * Says what the customer is at connected providers, newest last. 400 with the place in the list for a provider
 * that is not connected, 409 for one that the customer, or whose customer, is linked to already.
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

/** Refuses links of a customer that name another one. */
export function assertOwnLinks(customerId: string, links: readonly CustomerLinkBody[]): void {
  const index = links.findIndex(({ entity_id }) => entity_id && entity_id !== customerId);
  if (index >= 0)
    throw invalidField(`${FIELD}[${index}].entity_id`, 'is the customer itself, or left out');
}
