import { BillingError } from '../../domain/errors.ts';
import type { UsageQuery, UsageWindow } from '../../domain/metering/usage.ts';
import { versionForPeriod } from '../../domain/metering/version-for-period.ts';
import { Decimal, ZERO } from '../../domain/money.ts';
import type { Scope } from '../../postgres/client.ts';
import { meterVersionsOf, type MeterVersionRecord } from '../../postgres/meter-versions.ts';
import type { MeterUsage, MeterUsageBody } from '../../schemas/usage.ts';
import type { ApiDeps } from '../deps.ts';
import { findMeter } from '../meters/repository.ts';
import { askedCustomer } from './asked-customer.ts';
import { askUsage } from './ask-usage.ts';
import { rangeOf } from './range.ts';

/**
 * Usage by the meter's own rule, the same rows and the same aggregation as an invoice. A bucketed meter
 * answers its buckets, and as value their sum (billing-semantics 2.4).
 */
export async function meterUsage(
  deps: ApiDeps,
  scope: Scope,
  body: MeterUsageBody,
): Promise<MeterUsage> {
  const meter = await findMeter(deps.pool, scope, body.meter_id);
  const { start, end } = rangeOf(deps.clock, body);
  const filters = body.filters ?? {};
  const customer = await askedCustomer(deps.pool, scope, body);
  const version = await wholeVersion(deps, scope, meter.id, Object.keys(filters), start);

  const bucket = version.spec.aggregation.bucket_size;
  const asked = body.window_size ?? null;
  const total = bucket === null && asked === null;
  const query: UsageQuery = {
    key: 'usage',
    ...scope,
    meter_version_id: version.id,
    aggregation: version.spec.aggregation.type,
    multiplier: version.spec.aggregation.multiplier,
    reset_usage: version.spec.reset_usage,
    external_customer_ids: customer === null ? null : [customer],
    start,
    end,
    filter_values: filters,
    excluded_filter_values: [],
    group_by:
      bucket !== null && version.spec.aggregation.group_by !== null
        ? [version.spec.aggregation.group_by]
        : [],
    window: total ? null : windowOf(body, asked ?? bucket!),
  };
  const rows = (await askUsage(deps, [{ query, version }])).get(query.key)!;
  const sum = rows.reduce((value, row) => value.plus(row.quantity), ZERO);
  return {
    event_name: meter.event_name,
    type: version.spec.aggregation.type,
    value: total || bucket !== null ? sum.toNumber() : null,
    results: total
      ? null
      : rows.map((row) => ({
          window_size: row.window_start!,
          value: new Decimal(row.quantity).toNumber(),
        })),
  };
}

const windowOf = (body: MeterUsageBody, bucket_size: UsageWindow['bucket_size']): UsageWindow => ({
  bucket_size,
  timezone: body.timezone ?? 'UTC',
  billing_anchor: body.billing_anchor ?? null,
});

/** The version whose usage is whole; one that keeps the filtered properties is preferred. */
export async function wholeVersion(
  deps: ApiDeps,
  scope: Scope,
  meterId: string,
  dimensions: readonly string[],
  start: string,
): Promise<MeterVersionRecord> {
  const versions = await meterVersionsOf(deps.pool, scope, [meterId]);
  const version =
    versionForPeriod(versions, dimensions, start) ?? versionForPeriod(versions, [], start);
  if (version !== null) return version;
  throw new BillingError(
    'unavailable',
    'usage_unavailable',
    'Usage of this meter is still being counted from earlier events. Repeat the request shortly.',
  );
}
