import { invalidOperation } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { CloneFeatureBody, Feature } from '../../../schemas/feature.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupOfCopy } from '../groups/repository.ts';
import { getMeter, insertMeter } from '../meters/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { getFeature, insertFeature, withEmbedded, type FeatureRow } from './repository.ts';

/** Copies a feature under another key with a meter of its own; its metadata names the source. */
export async function cloneFeature(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: CloneFeatureBody,
): Promise<Feature> {
  const { scope } = caller;
  const source = await getFeature(tx, scope, id);
  if (source.status !== 'published') throw invalidOperation('The feature is archived.');
  const meter =
    source.meter_id === null
      ? null
      : await insertMeter(tx, deps, {
          ...(await getMeter(tx, scope, source.meter_id)),
          ...newRecord(deps, caller, 'meter'),
        });
  const row: FeatureRow = {
    ...source,
    ...newRecord(deps, caller, 'feat'),
    name: body.name,
    lookup_key: body.lookup_key,
    description: body.description === undefined ? source.description : body.description,
    meter_id: meter?.id ?? null,
    group_id: await groupOfCopy(tx, scope, source.group_id),
    metadata: { ...source.metadata, ...body.metadata, source_feature_id: source.id },
  };
  await insertFeature(tx, row);
  await writeOutbox(tx, scope, 'feature.created', { feature: row });
  const [feature] = await withEmbedded(tx, scope, [row], { meter: true });
  return feature!;
}
