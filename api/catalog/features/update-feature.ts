import { invalidField } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { Feature, UpdateFeatureBody } from '../../../schemas/feature.ts';
import type { BillingDeps } from '../../deps.ts';
import { assertGroupOf } from '../groups/repository.ts';
import { addFilterValues } from '../meters/add-filter-values.ts';
import { changed, sent, type Caller } from '../../conventions/record.ts';
import { mergeAlertSettings } from './alert-settings.ts';
import { assertUnits, reportingUnit } from './create-feature.ts';
import { lockFeature, updateFeatureRow, withEmbedded } from './repository.ts';

/** Changes a feature; `filters` apply to its meter. Key, type and meter of a feature never change. */
export async function updateFeature(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: UpdateFeatureBody,
): Promise<Feature> {
  const { scope } = caller;
  // Locks the group before its member, as archiving a group does, to avoid a deadlock.
  if (body.group_id) await assertGroupOf(tx, scope, body.group_id, 'feature');
  const feature = await lockFeature(tx, scope, id);
  const { filters, alert_settings, reporting_unit, ...rest } = body;
  const merged = { ...feature, ...sent(rest) };
  assertUnits(merged.unit_singular, merged.unit_plural);
  if (filters?.length) {
    if (feature.meter_id === null) throw invalidField('filters', 'the feature has no meter');
    await addFilterValues(tx, deps, caller, feature.meter_id, filters);
  }
  const row = await updateFeatureRow(tx, scope, id, {
    ...sent(rest),
    ...(reporting_unit === undefined ? {} : { reporting_unit: reportingUnit(reporting_unit) }),
    ...(alert_settings === undefined
      ? {}
      : {
          alert_settings:
            alert_settings === null
              ? null
              : mergeAlertSettings(feature.alert_settings, alert_settings),
        }),
    ...changed(deps, caller),
  });
  await writeOutbox(tx, scope, 'feature.updated', { feature: row });
  const [answer] = await withEmbedded(tx, scope, [row], { meter: false });
  return answer!;
}
