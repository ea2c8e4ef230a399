import assert from 'node:assert/strict';
import { invalidField } from '../../../domain/errors.ts';
import type { UsageQuery } from '../../../domain/metering/usage.ts';
import type { UsageWindow } from '../../../domain/time/usage-windows.ts';
import { versionForPeriod, versionToShow } from '../../../domain/metering/version-for-period.ts';
import { Decimal, sum } from '../../../domain/money.ts';
import type { Scope } from '../../../postgres/client.ts';
import {
  meterVersionsOf,
  type MeterVersionRecord,
} from '../../../postgres/tables/meter-versions.ts';
import type { MeterUsage, MeterUsageBody } from '../../../schemas/usage.ts';
import type { ApiDeps } from '../../deps.ts';
import { getMeter } from '../../catalog/meters/repository.ts';
import { askedCustomer } from './asked-customer.ts';
import { askUsage } from './ask-usage.ts';
import { groupNames, resultOf } from './group-results.ts';
import { rangeOf } from '../../conventions/usage-range.ts';

/**
 * Usage by the meter's own rule: the same rows and the same aggregation as an invoice. A bucketed meter, or a
 * query with the buckets of a price, returns its buckets and their sum as value. This holds even if other
 * windows are requested: those would change the number (billing 2.4).
 */
export async function meterUsage(
  deps: ApiDeps,
  scope: Scope,
  body: MeterUsageBody,
): Promise<MeterUsage> {
  const meter = await getMeter(deps.pool, scope, body.meter_id);
  const { start, end } = rangeOf(deps.clock, body);
  const filters = body.filters ?? {};
  const groups = groupNames(body);
  const customer = await askedCustomer(deps.pool, scope, body);
  const names = [...Object.keys(filters), ...groups];
  const version = await askedVersion(deps, scope, meter.id, names, start);

  const { type, multiplier, group_by: own } = version.spec.aggregation;
  const bucket = version.spec.aggregation.bucket_size ?? body.bucket_size ?? null;
  if (bucket !== null && type !== 'MAX' && type !== 'SUM')
    throw invalidField('bucket_size', 'goes with meters of MAX and SUM only');
  const size = bucket ?? body.window_size ?? null;
  // Groups of a bucketed meter are counted separately, requested or not.
  const group_by = [...new Set([...groups, ...(bucket !== null && own !== null ? [own] : [])])];
  const isOne = size === null && group_by.length === 0;
  const total: UsageQuery = {
    key: 'total',
    ...scope,
    meter_version_id: version.id,
    aggregation: type,
    multiplier,
    reset_usage: version.spec.reset_usage,
    external_customer_ids: customer === null ? null : [customer],
    start,
    end,
    filter_values: filters,
    excluded_filter_values: [],
    group_by: [],
    window: null,
  };
  const window = size === null ? null : windowOf(body, size);
  const answers = await askUsage(deps, [
    ...(size === null ? [{ query: total, version }] : []),
    ...(isOne ? [] : [{ query: { ...total, key: 'results', group_by, window }, version }]),
  ]);
  const rows = answers.get('results') ?? [];
  const value =
    size === null
      ? answers.get('total')![0]!.quantity
      : bucket === null
        ? null
        : sum(rows.map(({ quantity }) => new Decimal(quantity))).toFixed();
  return {
    event_name: meter.event_name,
    type,
    value: value === null ? null : Number(value),
    results: isOne ? null : rows.map((row) => resultOf(row, row.quantity, group_by, start)),
  };
}

const windowOf = (body: MeterUsageBody, bucket_size: UsageWindow['bucket_size']): UsageWindow => ({
  bucket_size,
  timezone: body.timezone ?? 'UTC',
  billing_anchor: body.billing_anchor ?? null,
});

/**
 * The version that answers a query: one whose usage is complete, preferably one that keeps the named
 * properties. If the meter has none yet, the version that will be.
 */
export async function askedVersion(
  deps: Pick<ApiDeps, 'pool'>,
  scope: Scope,
  meterId: string,
  dimensions: readonly string[],
  start: string,
): Promise<MeterVersionRecord> {
  const versions = await meterVersionsOf(deps.pool, scope, [meterId]);
  const version =
    versionForPeriod(versions, dimensions, start) ?? versionToShow(versions, [], start);
  assert(version !== null, `meter ${meterId} has no version`);
  return version;
}
