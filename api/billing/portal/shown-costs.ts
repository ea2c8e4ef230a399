import { BillingError } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { findSetting } from '../../../postgres/tables/settings.ts';
import { CustomerPortalConfig } from '../../../schemas/settings/portal.ts';
import { settingAnswer } from '../../tenancy/settings/setting-answer.ts';

/**
 * Refuses access to the tenant's own costs of usage, unless a visible part of the portal has cost metrics
 * (tenancy 15.4): by default no customer sees the margin.
 */
export async function assertCostsShown(db: Db, scope: Scope): Promise<void> {
  const row = await findSetting(db, scope, 'customer_portal_config');
  const { value } = settingAnswer(scope, 'customer_portal_config', row);
  const { sections = [] } = CustomerPortalConfig.parse(value);
  const tabs = sections.flatMap((section) => (section.enabled ? (section.tabs ?? []) : []));
  if (tabs.some((tab) => tab.enabled && tab.metric_cards?.show_cost_metrics)) return;
  throw new BillingError('forbidden', 'permission_denied', 'The portal shows no costs.');
}
