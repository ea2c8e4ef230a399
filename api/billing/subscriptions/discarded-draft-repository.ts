import { inScope, type Scope, type Transaction } from '../../../postgres/client.ts';

/** Tables whose rows belong to one subscription, with the column that names it. */
const OWNED = [
  ['subscriptions', 'id'],
  ['subscription_line_items', 'subscription_id'],
  ['subscription_phases', 'subscription_id'],
  ['addon_associations', 'subscription_id'],
  ['coupon_associations', 'subscription_id'],
  ['credit_grants', 'subscription_id'],
  ['tax_associations', 'entity_id'],
] as const;

/** Archives a subscription and the published rows that belong to it alone. The caller holds its lock. */
export async function archiveWithParts(
  tx: Transaction,
  scope: Scope,
  subscriptionId: string,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  const archived = { status: 'archived', ...change };
  for (const [table, column] of OWNED)
    await tx`
      update ${tx(table)} set ${tx(archived)}
       where ${inScope(tx, scope)} and ${tx(column)} = ${subscriptionId} and status = 'published'`;
}
