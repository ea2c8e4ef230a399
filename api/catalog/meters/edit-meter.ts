import { invalidField } from '../../../domain/errors.ts';
import { mergeFilters } from '../../../domain/metering/merge-filters.ts';
import { assertMeterSpec } from '../../../domain/metering/meter-rules.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import type { Meter, UpdateMeterBody } from '../../../schemas/meter.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { aggregationOf } from './create-meter.ts';
import {
  findWindowedPrice,
  lockMeter,
  meterAnswer,
  meterSpec,
  noNextVersion,
  updateMeter,
  updateMeterRow,
  type MeterRow,
} from './repository.ts';

/**
 * Changes a meter. A change of what it counts creates its next version. That version is backfilled and rates
 * billing periods that begin after now, or from `effective_from` on; the old version stays active until it is
 * complete (metering 6). A new name, or unchanged values, create none, unless the newest version is set
 * aside: then any edit creates a version. 400 for an archived meter, and for a change that prices of the
 * meter contradict.
 */
export async function editMeter(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  meterId: string,
  body: UpdateMeterBody,
): Promise<Meter> {
  const meter = await lockMeter(tx, caller.scope, meterId);
  const next: MeterRow = {
    ...meter,
    name: body.name ?? meter.name,
    event_name: body.event_name ?? meter.event_name,
    aggregation:
      body.aggregation === undefined ? meter.aggregation : aggregationOf(body.aggregation),
    filters: mergeFilters(meter.filters, body.filters ?? []).map(({ key, values }) => ({
      key,
      values: [...values],
    })),
    reset_usage: body.reset_usage ?? meter.reset_usage,
  };
  assertMeterSpec(meterSpec(next));
  if (countsAlike(meter, next) && !(await isSetAside(tx, caller.scope, meter.id))) {
    if (next.name === meter.name) return meterAnswer(meter);
    return meterAnswer(await updateMeterRow(tx, deps, caller, meter, { name: next.name }));
  }
  if (meter.status !== 'published') throw noNextVersion(meter);
  await assertPricesAgree(tx, caller.scope, next);
  return meterAnswer(await updateMeter(tx, deps, caller, meter, next, body.effective_from ?? null));
}

async function isSetAside(tx: Transaction, scope: Scope, meterId: string): Promise<boolean> {
  const [newest] = await meterVersionsOf(tx, scope, [meterId]);
  return newest?.backfill_state === 'set_aside';
}

function countsAlike(one: Meter, other: Meter): boolean {
  return meaningOf(one) === meaningOf(other);
}

/** Equal text for meters that count the same, regardless of the order of their parts. */
const meaningOf = ({ event_name, aggregation, filters, reset_usage }: Meter): string =>
  JSON.stringify([
    event_name,
    Object.entries(aggregation).sort(([a], [b]) => (a < b ? -1 : 1)),
    filters.map(({ key, values }) => [key, values]),
    reset_usage,
  ]);

/** A price with windows needs a meter of MAX or SUM without windows of its own (billing 2.4). */
async function assertPricesAgree(tx: Transaction, scope: Scope, meter: Meter): Promise<void> {
  const { type, bucket_size } = meter.aggregation;
  if ((type === 'MAX' || type === 'SUM') && bucket_size === null) return;
  const price = await findWindowedPrice(tx, scope, meter.id);
  if (price === null) return;
  const field = bucket_size === null ? 'type' : 'bucket_size';
  throw invalidField(
    `aggregation.${field}`,
    `price ${price.id} has windows of one ${price.bucket_size}, which need a MAX or SUM without a bucket_size`,
  );
}
