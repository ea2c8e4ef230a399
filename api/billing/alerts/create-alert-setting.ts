import { notFound } from '../../../domain/errors.ts';
import { validateSpendAlert } from '../../../domain/subscription/spend-alert.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { AlertSetting, CreateAlertSettingBody } from '../../../schemas/alert.ts';
import type { BillingDeps } from '../../deps.ts';
import { assertGroupOf } from '../../catalog/groups/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { getLineItem } from '../records/line-item-repository.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { insertAlertSetting } from './repository.ts';

/**
 * Sets the spend thresholds of a subscription, of one of its line items, or of a price group on it
 * (money 20.1). 404 if the entity or its parent does not exist, 409 if it already has a setting.
 */
export async function createAlertSetting(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateAlertSettingBody,
): Promise<AlertSetting> {
  validateSpendAlert(body.config, 'config');
  await assertEntityExists(tx, caller, body);
  return await insertAlertSetting(tx, {
    ...newRecord(deps, caller, 'alert_set'),
    entity_type: body.entity_type,
    entity_id: body.entity_id,
    parent_entity_type: body.parent_entity_type || null,
    parent_entity_id: body.parent_entity_id || null,
    enabled: body.config.alert_enabled,
    config: body.config,
  });
}

async function assertEntityExists(
  tx: Transaction,
  { scope }: Caller,
  { entity_type, entity_id, parent_entity_id }: CreateAlertSettingBody,
): Promise<void> {
  await getSubscription(tx, scope, parent_entity_id || entity_id);
  if (entity_type === 'group') await assertGroupOf(tx, scope, entity_id, 'price');
  if (entity_type !== 'subscription_line_item') return;
  const line = await getLineItem(tx, scope, entity_id);
  if (line.subscription_id !== parent_entity_id)
    throw notFound('Subscription line item', entity_id);
}
