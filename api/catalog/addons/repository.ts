import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

/** Whether the addon has a published line item on a subscription that is not cancelled. */
export async function isOnLiveSubscription(
  db: Db,
  scope: Scope,
  addonId: string,
): Promise<boolean> {
  const [row] = await db`
    select 1
      from addon_associations a
      join subscription_line_items i on i.subscription_id = a.subscription_id and i.entity_id = a.addon_id
      join subscriptions s on s.id = i.subscription_id
     where ${inScope(db, scope, 'a')} and ${inScope(db, scope, 'i')} and a.addon_id = ${addonId}
       and i.entity_type = 'addon' and i.status = 'published'
       and s.subscription_status <> 'cancelled'
     limit 1`;
  return row !== undefined;
}
