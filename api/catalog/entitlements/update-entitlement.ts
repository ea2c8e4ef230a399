import {
  fieldsOfOtherTypes,
  grantDefaults,
  entitlementDefaults,
} from '../../../domain/entitlement/entitlement-rules.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { UpdateEntitlementBody } from '../../../schemas/entitlement.ts';
import type { BillingDeps } from '../../deps.ts';
import { getFeature } from '../features/repository.ts';
import { changed, sent, sentOr, type Caller } from '../../conventions/record.ts';
import { assertFitting } from './fitting.ts';
import {
  lockEntitlement,
  NO_GRANT_CONFIG,
  updateEntitlementRow,
  type EntitlementRow,
} from './repository.ts';

/** Changes what is granted. A null limit means unlimited, 0 means nothing; absent fields stay unchanged. */
export async function updateEntitlement(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: UpdateEntitlementBody,
): Promise<EntitlementRow> {
  const { scope } = caller;
  const row = await lockEntitlement(tx, scope, id);
  const { clear_grant_config, is_enabled, is_soft_limit, aggregation_mode, display_order } = body;
  const { usage_limit, usage_reset_period, static_value, config_value } = body;
  const { grant_quota, grant_measure, grant_duration_unit } = body;
  const { grant_duration_value, grant_allocation_behavior } = body;
  const cleared = clear_grant_config === true ? NO_GRANT_CONFIG : {};
  const changes: Partial<EntitlementRow> = {
    ...cleared,
    ...sent({ usage_limit, usage_reset_period, static_value, config_value }),
    ...sent({ grant_quota, grant_measure, grant_duration_unit }),
    ...sent({ grant_duration_value, grant_allocation_behavior }),
    ...sentOr(
      { is_enabled, is_soft_limit, aggregation_mode, display_order },
      entitlementDefaults(row.feature_type),
    ),
    ...fieldsOfOtherTypes(row.feature_type),
  };
  const next = { ...row, ...changes };
  const defaults = grantDefaults(next);
  const feature = await getFeature(tx, scope, row.feature_id);
  await assertFitting(tx, scope, { ...next, ...defaults }, feature);
  const updated = await updateEntitlementRow(tx, scope, id, {
    ...changes,
    ...defaults,
    ...changed(deps, caller),
  });
  await writeOutbox(tx, scope, 'entitlement.updated', { entitlement: updated });
  return updated;
}

/**
 * Archives the entitlement; the feature can then be granted to the entity again. A repetition changes
 * nothing.
 */
export async function archiveEntitlement(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const row = await lockEntitlement(tx, caller.scope, id);
  if (row.status !== 'published') return;
  const archived = await updateEntitlementRow(tx, caller.scope, id, {
    status: 'archived',
    ...changed(deps, caller),
  });
  await writeOutbox(tx, caller.scope, 'entitlement.deleted', { entitlement: archived });
}
