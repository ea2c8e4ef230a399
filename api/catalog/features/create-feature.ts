import { invalidField } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { CreateFeatureBody, Feature } from '../../../schemas/feature.ts';
import type { BillingDeps } from '../../deps.ts';
import { assertGroupOf } from '../groups/repository.ts';
import { createMeter } from '../meters/create-meter.ts';
import { lockMeter } from '../meters/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { mergeAlertSettings } from './alert-settings.ts';
import { insertFeature, withEmbedded, type FeatureRow } from './repository.ts';

/**
 * Creates a feature; a metered one with an existing meter or with one created in the same transaction. The
 * lookup key defaults to the name. Only a metered feature takes a meter.
 */
export async function createFeature(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateFeatureBody,
): Promise<Feature> {
  assertUnits(body.unit_singular ?? null, body.unit_plural ?? null);
  if (body.type !== 'metered') refuseMeter(body);
  if (body.group_id) await assertGroupOf(tx, caller.scope, body.group_id, 'feature');
  const row: FeatureRow = {
    ...newRecord(deps, caller, 'feat'),
    name: body.name,
    lookup_key: body.lookup_key ?? keyFromName(body.name),
    description: body.description ?? null,
    type: body.type,
    meter_id: body.type === 'metered' ? await meterIdOf(tx, deps, caller, body) : null,
    group_id: body.group_id ?? null,
    unit_singular: body.unit_singular ?? null,
    unit_plural: body.unit_plural ?? null,
    reporting_unit: reportingUnit(body.reporting_unit ?? null),
    alert_settings: body.alert_settings ? mergeAlertSettings(null, body.alert_settings) : null,
    metadata: body.metadata ?? {},
  };
  await insertFeature(tx, row);
  await writeOutbox(tx, caller.scope, 'feature.created', { feature: row });
  const [feature] = await withEmbedded(tx, caller.scope, [row], { meter: false });
  return feature!;
}

/** A meter would have no effect on any other feature. */
function refuseMeter({ type, meter, meter_id }: CreateFeatureBody): void {
  const message = `is for metered features only; this one is ${type}`;
  if (meter_id) throw invalidField('meter_id', message);
  if (meter) throw invalidField('meter', message);
}

async function meterIdOf(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateFeatureBody,
): Promise<string> {
  if (body.meter && body.meter_id)
    throw invalidField('meter_id', 'give a meter_id or a meter, not both');
  if (body.meter) return (await createMeter(tx, deps, caller, body.meter, 'meter.')).id;
  if (!body.meter_id)
    throw invalidField('meter_id', 'a metered feature needs a meter_id or a meter');
  // Locked, because another transaction may archive it with the last feature that reads it.
  const meter = await lockMeter(tx, caller.scope, body.meter_id);
  if (meter.status !== 'published') throw invalidField('meter_id', 'the meter is archived');
  return meter.id;
}

/** `API Calls` → `api_calls`. */
const keyFromName = (name: string): string => name.toLowerCase().replaceAll(' ', '_');

/** A unit needs a singular and a plural. */
export function assertUnits(singular: string | null, plural: string | null): void {
  if (singular !== null && plural === null)
    throw invalidField('unit_plural', 'is required with unit_singular');
  if (plural !== null && singular === null)
    throw invalidField('unit_singular', 'is required with unit_plural');
}

/** The rate is a JSON number in records and answers (specification, Feature). */
export function reportingUnit(
  sent: { conversion_rate: string; unit_singular: string; unit_plural: string } | null,
): FeatureRow['reporting_unit'] {
  return sent === null ? null : { ...sent, conversion_rate: Number(sent.conversion_rate) };
}
