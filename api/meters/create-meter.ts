import { assertMeterSpec } from '../../domain/metering/meter-rules.ts';
import type { Transaction } from '../../postgres/client.ts';
import type { CreateMeterBody, Meter } from '../../schemas/meter.ts';
import type { BillingDeps } from '../deps.ts';
import { newRecord, type Caller } from '../record.ts';
import { insertMeter, meterSpec } from './repository.ts';

/** Makes a meter with its first version. `path` is where the meter stands in a larger body (`meter.`). */
export async function createMeter(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateMeterBody,
  path = '',
): Promise<Meter> {
  const { aggregation } = body;
  const meter: Meter = {
    ...newRecord(deps, caller, 'meter'),
    name: body.name,
    event_name: body.event_name,
    aggregation: {
      type: aggregation.type,
      field: aggregation.field ?? null,
      expression: aggregation.expression ?? null,
      group_by: aggregation.group_by ?? null,
      multiplier: aggregation.multiplier ?? null,
      bucket_size: aggregation.bucket_size ?? null,
    },
    filters: body.filters ?? [],
    reset_usage: body.reset_usage,
  };
  assertMeterSpec(meterSpec(meter), path);
  return await insertMeter(tx, deps, meter);
}
