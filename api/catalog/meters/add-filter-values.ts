import { mergeFilters } from '../../../domain/metering/merge-filters.ts';
import { assertMeterSpec } from '../../../domain/metering/meter-rules.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { Meter } from '../../../schemas/meter.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { lockMeter, meterAnswer, meterSpec, noNextVersion, updateMeter } from './repository.ts';

/** Adds values to a meter's filters. Existing values create no new version; 400 for an archived meter. */
export async function addFilterValues(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  meterId: string,
  added: Meter['filters'],
): Promise<Meter> {
  const meter = await lockMeter(tx, caller.scope, meterId);
  const filters = mergeFilters(meter.filters, added).map((filter) => ({
    key: filter.key,
    values: [...filter.values],
  }));
  assertMeterSpec(meterSpec({ ...meter, filters }));
  if (JSON.stringify(filters) === JSON.stringify(meter.filters)) return meterAnswer(meter);
  if (meter.status !== 'published') throw noNextVersion(meter);
  return meterAnswer(await updateMeter(tx, deps, caller, meter, { filters }));
}
