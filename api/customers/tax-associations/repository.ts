import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { TaxAssociation } from '../../../schemas/tax.ts';

const TABLES = {
  customer: 'customers',
  subscription: 'subscriptions',
  invoice: 'invoices',
} as const;

/** Whether the scope has the customer, subscription or invoice, whatever its status. */
export async function isKnownEntity(
  db: Db,
  scope: Scope,
  entityType: Exclude<TaxAssociation['entity_type'], 'tenant'>,
  id: string,
): Promise<boolean> {
  const [row] = await db`
    select 1 from ${db(TABLES[entityType])} where ${inScope(db, scope)} and id = ${id}`;
  return row !== undefined;
}
