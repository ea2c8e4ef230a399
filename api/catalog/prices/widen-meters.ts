import type { Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import { lockMeter, updateMeter } from '../meters/repository.ts';
import type { Caller } from '../../conventions/record.ts';
import type { PriceRow } from './repository.ts';

/**
 * Usage rows store only the properties that a meter or a price uses. A price that filters on a new property
 * creates a version of its meter that keeps it. Meters are locked in id order, so that two callers never
 * deadlock.
 */
export async function widenMeters(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  prices: readonly Pick<PriceRow, 'meter_id' | 'filter_values'>[],
): Promise<void> {
  const wanted = new Map<string, Set<string>>();
  for (const price of prices) {
    const names = Object.keys(price.filter_values);
    if (price.meter_id === null || names.length === 0) continue;
    wanted.set(price.meter_id, new Set([...(wanted.get(price.meter_id) ?? []), ...names]));
  }
  for (const [meterId, names] of [...wanted].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const meter = await lockMeter(tx, caller.scope, meterId);
    const all = [...new Set([...meter.filtered_properties, ...names])].sort();
    if (all.length > meter.filtered_properties.length)
      await updateMeter(tx, deps, caller, meter, { filtered_properties: all });
  }
}
