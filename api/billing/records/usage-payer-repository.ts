import { endsWithin, isMerged, payerOf } from '../../../domain/subscription/hierarchy.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { getSubscription } from './subscription-repository.ts';

/**
 * The customer who is billed for the usage of the subscription's running period: for a grouped subscription the
 * customer of its parent, if the end of this period is on the parent's invoice (billing 16), else the payer of its own
 * invoices.
 */
export async function usagePayerOf(
  db: Db,
  scope: Scope,
  subscription: SubscriptionRow,
): Promise<string> {
  if (!isMerged(subscription)) return payerOf(subscription);
  const parent = await getSubscription(db, scope, subscription.parent_subscription_id!);
  return payerOf(endsWithin(parent, subscription) ? subscription : parent);
}

/** Condition: the same as `isMerged` for the subscription `s`. */
const isMergedRow = (db: Db): Fragment => db`
  (s.subscription_status = 'active' and s.merges_from <= s.current_period_end)`;

/** Condition: the parent `p` of the subscription `s` does not end within the running period; see `endsWithin`. */
const outlives = (db: Db): Fragment => db`
  (coalesce(least(p.end_date, p.cancel_at), s.current_period_end) >= s.current_period_end)`;

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
      and not (coalesce(${isMergedRow(db)}, false)
               and exists (select from subscriptions p
                            where ${inScope(db, scope, 'p')} and p.id = s.parent_subscription_id
                              and ${outlives(db)}))
    union all
   select s.*, p.customer_id as usage_payer_id
     from subscriptions p
     join subscriptions s on s.parent_subscription_id = p.id and ${inScope(db, scope, 's')}
    where ${inScope(db, scope, 'p')} and p.customer_id = any(${customerIds as string[]})
      and p.subscription_type = 'parent' and s.status = 'published' and ${isMergedRow(db)}
      and ${outlives(db)})`;
