import assert from 'node:assert/strict';
import { BillingError } from '../../../domain/errors.ts';
import type { UsageQuery } from '../../../domain/metering/usage.ts';
import { refuseSetAside } from '../../../domain/metering/set-aside.ts';
import type { UsageWindow } from '../../../domain/time/usage-windows.ts';
import { versionForPeriod } from '../../../domain/metering/version-for-period.ts';
import {
  selectUsage,
  type SelectedUsage,
  type UsageSelector,
} from '../../../domain/pricing/filter-values.ts';
import type { EntitlementRecord } from '../../../domain/entitlement/effective-limits.ts';
import type { ChargeCell, ProrationBehavior } from '../../../domain/pricing/proration.ts';
import type { MeterVersionRecord } from '../../../postgres/tables/meter-versions.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { stretchAllowance, type StretchAllowance } from './allowances.ts';
import type { BilledLine } from './billing-sources.ts';

/** The usage query that rates one stretch of a usage line, and its context. */
export interface LineQuestion {
  /** The charge cell, with the service cut to the stretch. */
  readonly cell: ChargeCell;
  readonly query: UsageQuery;
  readonly version: MeterVersionRecord;
  /** The allowance that may apply; null if none. */
  readonly allowance: StretchAllowance | null;
}

export interface UsageLine {
  readonly subscription: SubscriptionRow;
  readonly line: BilledLine;
  /** All lines of the subscription: a more specific one takes events away (billing 2.5). */
  readonly siblings: readonly BilledLine[];
  readonly external_customer_id: string;
  readonly versions: readonly MeterVersionRecord[];
  readonly proration_behavior: ProrationBehavior;
  /** Entitlements of the plan to features of the line's meter. */
  readonly entitlements: readonly EntitlementRecord[];
  /** Start of the billing period: an edit of the meter applies from the next one (metering 6). */
  readonly period_start: string;
}

/**
 * The questions of one usage line for one charge cell: one, or one per stretch if its competing lines change.
 */
export function lineQuestions(usage: UsageLine, cell: ChargeCell): LineQuestion[] {
  const others = usage.siblings.filter(({ meter_id }) => meter_id !== null).map(selectorOf);
  const stretches = selectUsage(
    selectorOf(usage.line),
    others,
    cell.service.start,
    cell.service.end,
  );
  return stretches.map((stretch) => {
    const version = wholeVersion(usage, stretch);
    const own = { ...cell, service: { start: stretch.start, end: stretch.end } };
    const query = usageQuery(usage, stretch, version);
    return { cell: own, query, version, allowance: stretchAllowance(usage, own, query) };
  });
}

/** All queries of a stretch: its usage and the inputs of its allowance. */
export const queriesOf = ({ query, allowance }: LineQuestion): UsageQuery[] => [
  query,
  ...(allowance?.queries.values() ?? []),
];

export function selectorOf(line: BilledLine): UsageSelector {
  assert(line.meter_id !== null, 'a usage line has a meter');
  return {
    id: line.id,
    price_id: line.price_id,
    meter_id: line.meter_id,
    filter_values: line.price.filter_values,
    start_date: line.start_date,
    end_date: line.end_date,
  };
}

function wholeVersion(usage: UsageLine, stretch: SelectedUsage): MeterVersionRecord {
  const filters = [stretch.filter_values, ...stretch.excluded_filter_values];
  const dimensions = [...new Set(filters.flatMap((filter) => Object.keys(filter)))];
  const version = versionForPeriod(usage.versions, dimensions, usage.period_start);
  if (version === null) throw usageNotWhole(usage.line.meter_id!);
  refuseSetAside(version);
  return version;
}

const usageNotWhole = (meterId: string): BillingError =>
  new BillingError(
    'unavailable',
    'usage_unavailable',
    `Usage of meter ${meterId} is still being counted from earlier events. Repeat the request shortly.`,
  );

function usageQuery(
  { subscription, line, external_customer_id }: UsageLine,
  stretch: SelectedUsage,
  version: MeterVersionRecord,
): UsageQuery {
  const { aggregation, reset_usage } = version.spec;
  const window = usageWindow(subscription, line, version);
  // Groups are rated separately in each window of a MAX, and added up otherwise (billing 2.4).
  const isGrouped = window !== null && aggregation.type === 'MAX' && aggregation.group_by !== null;
  return {
    key: `${line.id}/${stretch.start}`,
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    meter_version_id: version.id,
    aggregation: aggregation.type,
    multiplier: aggregation.multiplier,
    reset_usage,
    external_customer_ids: [external_customer_id],
    start: stretch.start,
    end: stretch.end,
    filter_values: stretch.filter_values,
    excluded_filter_values: stretch.excluded_filter_values,
    group_by: isGrouped ? [aggregation.group_by!] : [],
    window,
  };
}

/** The price's bucket, else the meter's; MONTH windows follow the billing anchor (billing 2.4). */
function usageWindow(
  subscription: SubscriptionRow,
  line: BilledLine,
  version: MeterVersionRecord,
): UsageWindow | null {
  const bucket_size = line.terms.bucketSize ?? version.spec.aggregation.bucket_size;
  if (bucket_size === null) return null;
  return {
    bucket_size,
    timezone: subscription.customer_timezone,
    billing_anchor: bucket_size === 'MONTH' ? subscription.billing_anchor : null,
  };
}
