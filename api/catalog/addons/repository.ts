import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

/** Whether the addon has a published line item on a subscription that is not cancelled. */
export async function isOnLiveSubscription(
  db: Db,
  scope: Scope,
  addonId: string,
): Promise<boolean> {
  const [row] = await db`
    select 1
      from subscription_line_items i
      join subscriptions s on s.id = i.subscription_id
     where ${inScope(db, scope, 'i')}
       and i.entity_type = 'addon' and i.entity_id = ${addonId} and i.status = 'published'
       and s.subscription_status <> 'cancelled'
     limit 1`;
  return row !== undefined;
}
