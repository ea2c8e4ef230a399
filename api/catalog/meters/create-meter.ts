import { assertMeterSpec } from '../../../domain/metering/meter-rules.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CreateMeterBody, Meter } from '../../../schemas/meter.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { insertMeter, meterSpec } from './repository.ts';

/** Creates a meter with its first version. `path` is the meter's place in a larger body (`meter.`). */
export async function createMeter(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateMeterBody,
  path = '',
): Promise<Meter> {
  const meter: Meter = {
    ...newRecord(deps, caller, 'meter'),
    name: body.name,
    event_name: body.event_name,
    aggregation: aggregationOf(body.aggregation),
    filters: body.filters ?? [],
    reset_usage: body.reset_usage,
  };
  assertMeterSpec(meterSpec(meter), path);
  return await insertMeter(tx, deps, meter);
}

/** The aggregation with every key, null if omitted. */
export const aggregationOf = (sent: CreateMeterBody['aggregation']): Meter['aggregation'] => ({
  type: sent.type,
  field: sent.field ?? null,
  expression: sent.expression ?? null,
  group_by: sent.group_by ?? null,
  // Existing clients send 1 with every type; it has no effect (api 33).
  multiplier:
    sent.type !== 'SUM_WITH_MULTIPLIER' && sent.multiplier === '1'
      ? null
      : (sent.multiplier ?? null),
  bucket_size: sent.bucket_size ?? null,
});
