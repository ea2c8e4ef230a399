import { isMerged, payerOf } from '../../../domain/subscription/hierarchy.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { getSubscription } from './subscription-repository.ts';

/**
 * The customer who is billed for the usage of the subscription's running period: for a grouped subscription the
 * customer of its parent, on whose invoice its rows are (billing 16), else the payer of its own invoices.
 */
export async function usagePayerOf(
  db: Db,
  scope: Scope,
  subscription: SubscriptionRow,
): Promise<string> {
  if (!isMerged(subscription)) return payerOf(subscription);
  return payerOf(await getSubscription(db, scope, subscription.parent_subscription_id!));
}

/** Condition: the same as `isMerged` for the subscription `s`. */
const isMergedRow = (db: Db): Fragment => db`
  (s.subscription_status = 'active' and s.merges_from <= s.current_period_end)`;

/**
 * Subscriptions whose running usage is billed to one of the customers, as rows of `subscriptions` with that customer as
 * `usage_payer_id`. The condition is not on the `coalesce`, because row security lets no index serve it.
 */
export const subscriptionsPaidBy = (
  db: Db,
  scope: Scope,
  customerIds: readonly string[],
): Fragment => db`
  (select s.*, coalesce(s.invoicing_customer_id, s.customer_id) as usage_payer_id
     from subscriptions s
    where ${inScope(db, scope, 's')} and s.status = 'published'
      and (s.invoicing_customer_id = any(${customerIds as string[]})
           or s.invoicing_customer_id is null and s.customer_id = any(${customerIds as string[]}))
      and not coalesce(${isMergedRow(db)}, false)
    union all
   select s.*, p.customer_id as usage_payer_id
     from subscriptions p
     join subscriptions s on s.parent_subscription_id = p.id and ${inScope(db, scope, 's')}
    where ${inScope(db, scope, 'p')} and p.customer_id = any(${customerIds as string[]})
      and p.subscription_type = 'parent' and s.status = 'published' and ${isMergedRow(db)})`;
