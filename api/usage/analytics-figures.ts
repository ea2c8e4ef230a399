import {
  BUCKET_SIZES,
  type BucketSize,
  type FilterValues,
  type UsageQuery,
  type UsageRow,
  type UsageWindow,
} from '../../domain/metering/usage.ts';
import { Decimal, decimalText, ZERO } from '../../domain/money.ts';
import { rate } from '../../domain/pricing/rate.ts';
import { windowStart } from '../../domain/time/usage-windows.ts';
import type { Scope } from '../../postgres/client.ts';
import type { UsageAnalyticsPoint } from '../../schemas/usage-analytics.ts';
import type { AnalyticsSubject } from './analytics-subjects.ts';
import type { UsageAsk } from './ask-usage.ts';

/** What an analysis asks of every subject alike. */
export interface AnalyticsQuestion {
  readonly scope: Scope;
  readonly external_customer_ids: readonly string[] | null;
  readonly filter_values: FilterValues;
  /** `source`, and names of properties. */
  readonly group_by: readonly string[];
  readonly window_size: BucketSize | null;
}

/** Usage and cost of one subject and group. */
export interface Figures {
  readonly group: readonly string[];
  readonly usage: Decimal;
  readonly cost: Decimal;
  readonly event_count: number;
  readonly points: readonly UsageAnalyticsPoint[] | null;
}

/** The questions of one subject: its total (bucketed prices in their buckets), and the points asked for. */
export function asksOf(
  subject: AnalyticsSubject,
  number: number,
  asked: AnalyticsQuestion,
): UsageAsk[] {
  const bucket = bucketOf(subject);
  const { aggregation, reset_usage } = subject.version.spec;
  // Groups of a bucketed MAX are rated apart (billing-semantics 2.4).
  const rated =
    bucket !== null && aggregation.type === 'MAX' && aggregation.group_by !== null
      ? [aggregation.group_by]
      : [];
  return subject.stretches.flatMap((stretch, index) => {
    const query = (
      key: string,
      size: BucketSize | null,
      group_by: readonly string[],
    ): UsageAsk => ({
      version: subject.version,
      query: {
        ...asked.scope,
        key: `${key}/${number}/${index}`,
        meter_version_id: subject.version.id,
        aggregation: aggregation.type,
        multiplier: aggregation.multiplier,
        reset_usage,
        external_customer_ids: asked.external_customer_ids,
        start: stretch.start,
        end: stretch.end,
        filter_values: bothFilters(stretch.filter_values, asked.filter_values),
        excluded_filter_values: stretch.excluded_filter_values,
        group_by,
        window: size === null ? null : windowOf(subject, size),
      } satisfies UsageQuery,
    });
    const total = query('total', bucket, [...asked.group_by, ...rated]);
    if (asked.window_size === null || bucket !== null) return [total];
    return [total, query('points', asked.window_size, asked.group_by)];
  });
}

/** Figures per group, those without events left out. */
export function figuresOf(
  subject: AnalyticsSubject,
  number: number,
  asked: AnalyticsQuestion,
  rows: ReadonlyMap<string, readonly UsageRow[]>,
): Figures[] {
  const rowsOf = (key: string) =>
    subject.stretches.flatMap((_, index) => rows.get(`${key}/${number}/${index}`) ?? []);
  const depth = asked.group_by.length;
  const totals = byGroup(rowsOf('total'), depth);
  const points = byGroup(rowsOf('points'), depth);
  const bucket = bucketOf(subject);
  return [...totals].flatMap(([key, own]): Figures[] => {
    const event_count = countOf(own);
    if (event_count === 0) return [];
    const usage = sumOf(own);
    return [
      {
        group: own[0]!.group.slice(0, depth),
        usage,
        cost: bucket === null ? costOf(subject, usage) : sumCosts(subject, own),
        event_count,
        points:
          asked.window_size === null
            ? null
            : bucket === null
              ? pointsOf(subject, points.get(key) ?? [])
              : bucketPoints(subject, own, bucket, asked.window_size),
      },
    ];
  });
}

function bucketOf({ line, version }: AnalyticsSubject): BucketSize | null {
  return line?.terms.bucketSize ?? version.spec.aggregation.bucket_size;
}

function windowOf(
  { subscription, timezone }: AnalyticsSubject,
  bucket_size: BucketSize,
): UsageWindow {
  const billing_anchor = bucket_size === 'MONTH' ? (subscription?.billing_anchor ?? null) : null;
  return { bucket_size, timezone, billing_anchor };
}

/** AND of both; where both name a key, only values that both allow. */
function bothFilters(left: FilterValues, right: FilterValues): FilterValues {
  const both = Object.entries(right).map(([key, values]): [string, readonly string[]] => {
    const others = left[key];
    return [key, others === undefined ? values : values.filter((value) => others.includes(value))];
  });
  return { ...left, ...Object.fromEntries(both) };
}

function byGroup(rows: readonly UsageRow[], depth: number): Map<string, UsageRow[]> {
  const groups = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const key = JSON.stringify(row.group.slice(0, depth));
    groups.set(key, [...(groups.get(key) ?? []), row]);
  }
  return groups;
}

const sumOf = (rows: readonly UsageRow[]): Decimal =>
  rows.reduce((sum, row) => sum.plus(row.quantity), ZERO);
const countOf = (rows: readonly UsageRow[]): number =>
  rows.reduce((sum, row) => sum + row.event_count, 0);
const sumCosts = (subject: AnalyticsSubject, rows: readonly UsageRow[]): Decimal =>
  rows.reduce((sum, row) => sum.plus(costOf(subject, new Decimal(row.quantity))), ZERO);

function costOf({ line }: AnalyticsSubject, quantity: Decimal): Decimal {
  return line === null ? ZERO : rate(line.terms.model, quantity).amount;
}

function pointsOf(subject: AnalyticsSubject, rows: readonly UsageRow[]): UsageAnalyticsPoint[] {
  return [...byWindow(rows, (start) => start)].map(([timestamp, own]) => {
    const usage = sumOf(own);
    return point(timestamp, usage, costOf(subject, usage), countOf(own));
  });
}

/** Buckets as points; in coarser windows the greatest of a MAX, the sum of a SUM, and the sum of costs. */
function bucketPoints(
  subject: AnalyticsSubject,
  rows: readonly UsageRow[],
  bucket: BucketSize,
  asked: BucketSize,
): UsageAnalyticsPoint[] {
  const isCoarser = BUCKET_SIZES.indexOf(asked) > BUCKET_SIZES.indexOf(bucket);
  const isMax = subject.version.spec.aggregation.type === 'MAX';
  const cellOf = (start: string) =>
    isCoarser ? windowStart(windowOf(subject, asked), start) : start;
  return [...byWindow(rows, cellOf)].map(([timestamp, own]) => {
    const usage = isCoarser && isMax ? Decimal.max(...own.map((row) => row.quantity)) : sumOf(own);
    return point(timestamp, usage, sumCosts(subject, own), countOf(own));
  });
}

function byWindow(
  rows: readonly UsageRow[],
  cellOf: (start: string) => string,
): Map<string, UsageRow[]> {
  const windows = new Map<string, UsageRow[]>();
  for (const row of rows) {
    const cell = cellOf(row.window_start!);
    windows.set(cell, [...(windows.get(cell) ?? []), row]);
  }
  return windows;
}

function point(
  timestamp: string,
  usage: Decimal,
  cost: Decimal,
  event_count: number,
): UsageAnalyticsPoint {
  return {
    timestamp,
    usage: decimalText(usage),
    subtotal: decimalText(cost),
    discount: '0',
    cost: decimalText(cost),
    event_count,
    computed_commitment_utilized_amount: '0',
    computed_overage_amount: '0',
    computed_true_up_amount: '0',
  };
}
