import { invalidField } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

/** 400 `validation_error` while the addon has a line item on a subscription that is not cancelled. */
export async function assertAddonUnused(db: Db, scope: Scope, addonId: string): Promise<void> {
  const [row] = await db`
    select 1
      from subscription_line_items i
      join subscriptions s on s.id = i.subscription_id
     where ${inScope(db, scope, 'i')}
       and i.entity_type = 'addon' and i.entity_id = ${addonId} and i.status = 'published'
       and s.subscription_status <> 'cancelled'
     limit 1`;
  if (row !== undefined) throw invalidField('id', 'the addon is part of a live subscription');
}
