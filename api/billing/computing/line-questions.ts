import assert from 'node:assert/strict';
import { BillingError } from '../../../domain/errors.ts';
import type { UsageAnswers, UsageQuery, UsageRow } from '../../../domain/metering/usage.ts';
import { refuseSetAside } from '../../../domain/metering/set-aside.ts';
import type { UsageWindow } from '../../../domain/time/usage-windows.ts';
import {
  unfinishedEdit,
  versionForPeriod,
  versionToShow,
} from '../../../domain/metering/version-for-period.ts';
import { selectUsage, type SelectedUsage } from '../../../domain/pricing/filter-values.ts';
import type { EntitlementSource } from '../../../domain/entitlement/effective-limits.ts';
import { commitmentTerms, type CommitmentTerms } from '../../../domain/pricing/commitment.ts';
import type { ChargeCell, ProrationBehavior } from '../../../domain/pricing/proration.ts';
import {
  isWindowed,
  measuredRows,
  measureQuestions,
  type LongerWindow,
  type MeasuredLine,
} from '../../../domain/pricing/usage-measure.ts';
import { commitmentReach } from '../../../domain/pricing/validate-commitment.ts';
import { pooledDuring, type PooledCustomer } from '../../../domain/subscription/hierarchy.ts';
import { longerCells } from '../../../domain/subscription/reset-schedule.ts';
import { paidSchedule } from '../../../domain/subscription/schedule.ts';
import type { RecurringPeriod } from '../../../domain/time/billing-grid.ts';
import { idleIn, type PausedTime } from '../../../domain/time/paused-cells.ts';
import type { MeterVersionRecord } from '../../../postgres/tables/meter-versions.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { UsageAsk } from '../../usage/quantities/ask-usage.ts';
import { cellAllowance, type CellAllowance } from './allowances.ts';
import type { BilledLine } from './billing-sources.ts';
import { moreSpecific, selectorOf } from './usage-selectors.ts';
import { cellQuota, type CellQuota } from './quotas.ts';
import { unusedDuring } from './unused-during.ts';

/** The usage query that rates one charge cell of a usage line, and its context. */
export interface LineQuestion {
  readonly cell: ChargeCell;
  /** Usage of the whole service, by the windows of the bucket if there is one. */
  readonly query: UsageQuery;
  readonly measured: MeasuredLine;
  /**
   * One query for each window of a commitment that is shorter than the charge period; they replace `query` in
   * rating (billing 6.2). Null means none.
   */
  readonly windows: ReadonlyMap<string, UsageQuery> | null;
  readonly version: MeterVersionRecord;
  /** The allowance that may apply; null if none. */
  readonly allowance: CellAllowance | null;
  /** The quotas that apply instead of an allowance; null if none. */
  readonly quota: CellQuota | null;
}

/**
 * What the numbers are for. `draft`: usage of a version that is still backfilled refuses. `final`: so does an edit
 * of the meter that is not complete yet. `shown`: never billed; the usage of a first version that is still backfilled
 * is asked for, and `askUsage` answers it from the events.
 */
export type UsagePurpose = 'shown' | 'draft' | 'final';

export interface UsageLine {
  readonly subscription: SubscriptionRow;
  readonly line: BilledLine;
  /** All lines of the subscription: a more specific one takes events away (billing 2.5). */
  readonly siblings: readonly BilledLine[];
  readonly external_customer_id: string;
  /** Other customers whose usage counts for the subscription (billing 16). */
  readonly pool: readonly PooledCustomer[];
  /** Pauses of the subscription: their usage does not count (billing 12.3). */
  readonly pauses: readonly PausedTime[];
  readonly versions: readonly MeterVersionRecord[];
  readonly proration_behavior: ProrationBehavior;
  /** Entitlements of the subscription to features of the line's meter, as they were at the end of the period. */
  readonly entitlements: readonly EntitlementSource[];
  /** Start of the billing period: an edit of the meter applies from the next one (metering 6). */
  readonly period_start: string;
  readonly purpose: UsagePurpose;
}

/** The question of one usage line for one charge cell. */
export function lineQuestion(usage: UsageLine, cell: ChargeCell): LineQuestion {
  const { start, end } = cell.service;
  const line = selectorOf(usage.line);
  const selected = selectUsage(line, moreSpecific(usage.siblings, line), start, end);
  const version = wholeVersion(usage, selected);
  const query = usageQuery(usage, selected, version);
  const commitment = commitmentTerms(usage.line);
  const measured: MeasuredLine = {
    service: cell.service,
    cell: cell.cell,
    idle: cell.idle,
    bucket: query.window,
    commitment,
    charge: usage.line,
    schedule: paidSchedule(usage.subscription, start),
    longer_durations: longerDurations(usage, commitment, start),
  };
  const windows = windowQueries(measured, query);
  const quota = cellQuota(usage, cell, query, version.spec);
  // Usage before the cell is that of the customers who belonged to the subscription then.
  const since = (from: string) =>
    from < start ? usageQuery(usage, selected, version, from) : query;
  const allowance = quota ? null : cellAllowance(usage, cell, query, { measured, since });
  return { cell, query, measured, windows, version, allowance, quota };
}

/** The windows of the commitment's duration, if it has some and pauses made the period longer (billing 12.4). */
function longerDurations(
  { subscription, line, pauses }: UsageLine,
  commitment: CommitmentTerms | null,
  start: string,
): readonly LongerWindow[] | null {
  if (commitment === null || commitmentReach(commitment, line) !== 'windows') return null;
  const duration = commitment.duration as RecurringPeriod | null;
  const cells = duration === null ? null : longerCells(subscription, duration, start, pauses);
  if (cells === null) return null;
  return cells.map(({ reference }) => ({
    reference,
    idle: idleIn(subscription, reference, pauses),
  }));
}

/** The queries of the windows of a commitment; null if the usage of the cell is rated from one query. */
function windowQueries(
  measured: MeasuredLine,
  query: UsageQuery,
): ReadonlyMap<string, UsageQuery> | null {
  if (measured.bucket !== null || !isWindowed(measured)) return null;
  return new Map(
    measureQuestions(measured).map(({ key, start, end }) => [
      key,
      { ...query, key: `${query.key}/${key}`, start, end, window: null, group_by: [] },
    ]),
  );
}

/** The same with the version that answers them, for `askUsage`. */
export const asksOfQuestion = (question: LineQuestion): UsageAsk[] =>
  queriesOf(question).map((query) => ({ query, version: question.version }));

/** All queries of a cell: its usage and the inputs of its allowance or its quotas. */
export const queriesOf = (question: LineQuestion): UsageQuery[] => [
  question.query,
  ...(question.windows?.values() ?? []),
  ...(question.allowance?.queries.values() ?? []),
  ...(question.quota ? [question.quota.query] : []),
];

/** The queries whose answers rate the cell. */
export const ratedQueries = ({ query, windows }: LineQuestion): UsageQuery[] =>
  windows === null ? [query] : [...windows.values()];

/** The rows that rate the cell. */
export function ratedRows(
  { query, windows, measured }: LineQuestion,
  answers: UsageAnswers['answers'],
): readonly UsageRow[] {
  if (windows === null) return answers.get(query.key)!.rows;
  const replies = [...windows].map(([key, asked]) => [key, answers.get(asked.key)!.rows] as const);
  return measuredRows(measured, new Map(replies)).filter(({ event_count }) => event_count > 0);
}

function wholeVersion(usage: UsageLine, selected: SelectedUsage): MeterVersionRecord {
  const filters = [
    selected.filter_values,
    ...selected.excluded_filter_values,
    ...selected.excluded_during.map(({ filter_values }) => filter_values),
  ];
  const dimensions = [...new Set(filters.flatMap((filter) => Object.keys(filter)))];
  const { versions, period_start, purpose } = usage;
  const version =
    purpose === 'shown'
      ? versionToShow(versions, dimensions, period_start)
      : versionForPeriod(versions, dimensions, period_start);
  if (version === null) throw usageNotCounted(usage.line.meter_id!);
  const edit = purpose === 'final' ? unfinishedEdit(versions, dimensions, period_start) : null;
  if (edit !== null) throw editNotComplete(usage.line.meter_id!, edit);
  refuseSetAside(version);
  return version;
}

/** 503: the stream still counts earlier events for a new meter. It passes within seconds. */
const usageNotCounted = (meterId: string): BillingError =>
  new BillingError(
    'unavailable',
    'usage_unavailable',
    `Usage of meter ${meterId} is still being counted from earlier events. Repeat the request shortly.`,
  );

const editNotComplete = (
  meterId: string,
  { version, backfill_state }: MeterVersionRecord,
): BillingError =>
  new BillingError(
    'unavailable',
    'usage_unavailable',
    `Version ${version} of meter ${meterId} rates this period and is ${backfill_state}. ` +
      'The invoice is final when the version is complete.',
  );

function usageQuery(
  { subscription, line, external_customer_id, pool, pauses }: UsageLine,
  selected: SelectedUsage,
  version: MeterVersionRecord,
  /** The customers are those from then on. */
  since = selected.start,
): UsageQuery {
  const { aggregation, reset_usage } = version.spec;
  const time = { start: since, end: selected.end };
  const pooled = pooledDuring(pool, time, reset_usage === 'NEVER');
  const window = usageWindow({ subscription, line, pauses }, version, selected.start);
  // Groups are rated separately in each window of a MAX, and added up otherwise (billing 2.4).
  const isGrouped = window !== null && aggregation.type === 'MAX' && aggregation.group_by !== null;
  return {
    key: `${line.id}/${selected.start}`,
    tenant_id: subscription.tenant_id,
    environment_id: subscription.environment_id,
    meter_version_id: version.id,
    aggregation: aggregation.type,
    multiplier: aggregation.multiplier,
    reset_usage,
    external_customer_ids: [external_customer_id, ...pooled.external_ids],
    start: selected.start,
    end: selected.end,
    filter_values: selected.filter_values,
    excluded_filter_values: selected.excluded_filter_values,
    excluded_during: [
      ...selected.excluded_during,
      ...pooled.excluded_during,
      ...unusedDuring(pauses, selected.end),
    ],
    group_by: isGrouped ? [aggregation.group_by!] : [],
    window,
  };
}

/** The price's bucket, else the meter's; MONTH windows follow the anchor of the period (billing 2.4, 12.4). */
function usageWindow(
  { subscription, line, pauses }: Pick<UsageLine, 'subscription' | 'line' | 'pauses'>,
  version: MeterVersionRecord,
  start: string,
): UsageWindow | null {
  const bucket_size = line.terms.bucketSize ?? version.spec.aggregation.bucket_size;
  if (bucket_size === null) return null;
  const timezone = subscription.customer_timezone;
  if (bucket_size !== 'MONTH') return { bucket_size, timezone, billing_anchor: null };
  return {
    bucket_size,
    timezone,
    billing_anchor: paidSchedule(subscription, start).billing_anchor,
    longer_months:
      longerCells(subscription, 'MONTHLY', start, pauses)?.map(({ reference }) => reference) ??
      null,
  };
}
