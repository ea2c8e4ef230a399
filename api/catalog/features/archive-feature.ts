import { invalidOperation } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { BillingDeps } from '../../deps.ts';
import { archiveMeter, lockMeter } from '../meters/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import { findFeaturesOfMeters, isGranted, lockFeature, updateFeatureRow } from './repository.ts';

/**
 * Archives a feature that no published entitlement grants, and its meter if no other feature reads it. A
 * repetition changes nothing.
 */
export async function archiveFeature(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const { scope } = caller;
  const feature = await lockFeature(tx, scope, id);
  if (feature.status === 'archived') return;
  if (await isGranted(tx, scope, id))
    throw invalidOperation('The feature is part of entitlements. Remove them first.');
  const row = await updateFeatureRow(tx, scope, id, {
    status: 'archived',
    ...changed(deps, caller),
  });
  if (feature.meter_id !== null) {
    await lockMeter(tx, scope, feature.meter_id);
    const others = await findFeaturesOfMeters(tx, scope, [feature.meter_id]);
    if (others.length === 0) await archiveMeter(tx, deps, caller, feature.meter_id);
  }
  await writeOutbox(tx, scope, 'feature.deleted', { feature: row });
}
