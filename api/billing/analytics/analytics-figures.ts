import {
  BUCKET_SIZES,
  type FilterValues,
  type UsageQuery,
  type UsageRow,
} from '../../../domain/metering/usage.ts';
import {
  type BucketSize,
  type UsageWindow,
  windowStart,
} from '../../../domain/time/usage-windows.ts';
import { Decimal, ZERO } from '../../../domain/money.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { UsageAnalyticsPoint } from '../../../schemas/usage-analytics.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { asksOfQuestion } from '../computing/line-questions.ts';
import type { AnalyticsSubject, RatedSubject, SubjectStretch } from './analytics-subjects.ts';
import type { UsageAsk } from '../../usage/quantities/ask-usage.ts';
import {
  figureText,
  lineCost,
  netCost,
  plainCost,
  shareCost,
  total,
  type LineCost,
  type Weight,
} from './cost-shares.ts';
import type { DiscountedCharge } from './rate-subjects.ts';

/** The parameters of an analysis, the same for every subject. */
export interface AnalyticsQuestion {
  readonly scope: Scope;
  readonly external_customer_ids: readonly string[] | null;
  readonly filter_values: FilterValues;
  /** `source` and property names. */
  readonly group_by: readonly string[];
  readonly window_size: BucketSize | null;
  /** Zone of the points; null means that of each subject. */
  readonly timezone: string | null;
}

/** Usage and cost of one subject and group. */
export interface Figures {
  readonly group: readonly string[];
  readonly usage: Decimal;
  readonly cost: LineCost;
  readonly event_count: number;
  readonly points: readonly UsageAnalyticsPoint[] | null;
}

type Rows = ReadonlyMap<string, readonly UsageRow[]>;

/**
 * The usage queries of one subject: its total (bucketed prices in their buckets), the requested points, and
 * the queries an invoice needs to rate the line. A subject that is not shown has the latter only.
 */
export function asksOf(
  subject: AnalyticsSubject,
  number: number,
  asked: AnalyticsQuestion,
): UsageAsk[] {
  if (!subject.isShown) return ratingAsks(subject);
  const { bucket } = subject;
  const query = (
    key: string,
    stretch: SubjectStretch,
    filters: FilterValues,
    names: readonly string[],
    window: UsageWindow | null,
  ): UsageAsk => {
    const { version, start, end } = stretch;
    const { type, multiplier } = version.spec.aggregation;
    const usage: UsageQuery = {
      ...asked.scope,
      key,
      meter_version_id: version.id,
      aggregation: type,
      multiplier,
      reset_usage: version.spec.reset_usage,
      external_customer_ids: stretch.external_customer_ids ?? asked.external_customer_ids,
      start,
      end,
      filter_values: bothFilters(stretch.filter_values, filters),
      excluded_filter_values: stretch.excluded_filter_values,
      excluded_during: stretch.excluded_during,
      group_by: names,
      window,
    };
    return { version, query: usage };
  };
  const buckets = bucket === null ? null : windowOf(subject, bucket);
  const points = bucket === null ? pointWindow(subject, asked) : null;
  const own = subject.stretches.flatMap((stretch, index) => {
    const names = [...asked.group_by, ...ratedApart(subject, stretch)];
    const at = `${number}/${index}`;
    return [
      query(`total/${at}`, stretch, asked.filter_values, names, buckets),
      ...(needsWhole(subject, asked) ? [query(`whole/${at}`, stretch, {}, names, buckets)] : []),
      ...(points === null
        ? []
        : [query(`points/${at}`, stretch, asked.filter_values, asked.group_by, points)]),
    ];
  });
  return [...own, ...ratingAsks(subject)];
}

/** The queries an invoice needs to rate the subject's charges. */
export const ratingAsks = ({ charges }: RatedSubject): UsageAsk[] =>
  charges.flatMap(({ questions }) => questions.flatMap(asksOfQuestion));

/** A filter shows a part of the line. Its share is computed from the usage of the whole line. */
const needsWhole = ({ line }: AnalyticsSubject, { filter_values }: AnalyticsQuestion): boolean =>
  line !== null && Object.keys(filter_values).length > 0;

/** Groups of a bucketed MAX are rated separately (billing 2.4). */
function ratedApart({ bucket }: AnalyticsSubject, { version }: SubjectStretch): string[] {
  const { type, group_by } = version.spec.aggregation;
  return bucket !== null && type === 'MAX' && group_by !== null ? [group_by] : [];
}

/**
 * Figures per group. Groups without events are left out, unless the line charges for unused usage (a
 * true-up): the total would miss that charge. A subject that is not shown has no figures.
 */
export function figuresOf(
  subject: AnalyticsSubject,
  number: number,
  asked: AnalyticsQuestion,
  rows: Rows,
  rated: readonly DiscountedCharge[],
): Figures[] {
  if (!subject.isShown) return [];
  const rowsOf = (key: string) =>
    subject.stretches.flatMap((_, index) => rows.get(`${key}/${number}/${index}`) ?? []);
  const depth = asked.group_by.length;
  const groups = [...byGroup(rowsOf('total'), depth)].filter(([, own]) => countOf(own) > 0);
  const weights = groups.map(([, own]) => weightOf(subject, own));
  const isFiltered = needsWhole(subject, asked);
  const whole = isFiltered
    ? total([...byGroup(rowsOf('whole'), depth).values()].map((own) => weightOf(subject, own)))
    : total(weights);

  const ofLine = subject.line === null ? null : lineCost(rated);
  if (groups.length === 0) {
    const isUnused = ofLine !== null && !ofLine.cost.isZero() && !isFiltered && depth === 0;
    if (!isUnused) return [];
    const points = asked.window_size === null ? null : [];
    return [{ group: [], usage: ZERO, cost: ofLine, event_count: 0, points }];
  }
  const costs =
    ofLine === null
      ? groups.map(([, own]) => plainCost(alone(subject, own)))
      : shareCost(ofLine, weights, whole);
  const windows = byGroup(rowsOf('points'), depth);
  const window = pointWindow(subject, asked);
  return groups.map(([key, own], index): Figures => {
    const cost = costs[index]!;
    return {
      group: own[0]!.group.slice(0, depth),
      usage: sumOf(own),
      cost,
      event_count: countOf(own),
      points:
        window === null
          ? null
          : subject.bucket === null
            ? pointsOf(subject, windows.get(key) ?? [], cost)
            : bucketPoints(subject, own, subject.bucket, window, cost),
    };
  });
}

function windowOf(
  { subscription, timezone }: AnalyticsSubject,
  bucket_size: BucketSize,
): UsageWindow {
  const billing_anchor = bucket_size === 'MONTH' ? (subscription?.billing_anchor ?? null) : null;
  return { bucket_size, timezone, billing_anchor };
}

/** The grid of the requested points; null if none are requested. */
function pointWindow(
  subject: AnalyticsSubject,
  { window_size, timezone }: AnalyticsQuestion,
): UsageWindow | null {
  if (window_size === null) return null;
  return timezone === null
    ? windowOf(subject, window_size)
    : { bucket_size: window_size, timezone, billing_anchor: null };
}

/** The grid of the points that are answered; null if none are. */
export function gridOfPoints(
  subject: AnalyticsSubject,
  asked: AnalyticsQuestion,
): UsageWindow | null {
  const window = pointWindow(subject, asked);
  const { bucket } = subject;
  return window === null || bucket === null || isCoarser(window.bucket_size, bucket)
    ? window
    : windowOf(subject, bucket);
}

const isCoarser = (window: BucketSize, bucket: BucketSize): boolean =>
  BUCKET_SIZES.indexOf(window) > BUCKET_SIZES.indexOf(bucket);

/** AND of both filters: for a key in both, only values that both allow. */
function bothFilters(left: FilterValues, right: FilterValues): FilterValues {
  const both = Object.entries(right).map(([key, values]): [string, readonly string[]] => {
    const others = Object.hasOwn(left, key) ? left[key] : undefined;
    return [key, others === undefined ? values : values.filter((value) => others.includes(value))];
  });
  return Object.fromEntries([...Object.entries(left), ...both]);
}

const byGroup = (rows: readonly UsageRow[], depth: number): Map<string, UsageRow[]> =>
  groupBy(rows, (row) => JSON.stringify(row.group.slice(0, depth)));

const sumOf = (rows: readonly UsageRow[]): Decimal =>
  rows.reduce((sum, row) => sum.plus(row.quantity), ZERO);
const countOf = (rows: readonly UsageRow[]): number =>
  rows.reduce((sum, row) => sum + row.event_count, 0);

/** Buckets are rated one by one and weigh by their money; everything else weighs by usage. */
const weightOf = (subject: AnalyticsSubject, rows: readonly UsageRow[]): Weight => ({
  amount: subject.bucket === null ? sumOf(rows) : alone(subject, rows),
  event_count: countOf(rows),
});

/** The price of the rows alone: of each bucket, or of their sum. */
function alone({ terms, bucket }: AnalyticsSubject, rows: readonly UsageRow[]): Decimal {
  if (terms === null) return ZERO;
  if (bucket === null) return rate(terms.model, sumOf(rows)).amount;
  return rows.reduce(
    (sum, row) => sum.plus(rate(terms.model, new Decimal(row.quantity)).amount),
    ZERO,
  );
}

function pointsOf(
  subject: AnalyticsSubject,
  rows: readonly UsageRow[],
  cost: LineCost,
): UsageAnalyticsPoint[] {
  const windows = [...byWindow(rows, (start) => start)];
  const costs = shareCost(
    cost,
    windows.map(([, own]) => weightOf(subject, own)),
  );
  return windows.map(([timestamp, own], index) =>
    point(timestamp, sumOf(own), costs[index]!, countOf(own)),
  );
}

/**
 * Buckets as points. A coarser window has the maximum of a MAX or the sum of a SUM, and the sum of the costs.
 */
function bucketPoints(
  subject: AnalyticsSubject,
  rows: readonly UsageRow[],
  bucket: BucketSize,
  asked: UsageWindow,
  cost: LineCost,
): UsageAnalyticsPoint[] {
  const isAdded = isCoarser(asked.bucket_size, bucket);
  const isMax = subject.stretches[0]!.version.spec.aggregation.type === 'MAX';
  const cellOf = (start: string) => (isAdded ? windowStart(asked, start) : start);
  const windows = [...byWindow(rows, cellOf)];
  const costs = shareCost(
    cost,
    windows.map(([, own]) => weightOf(subject, own)),
  );
  return windows.map(([timestamp, own], index) => {
    const usage = isAdded && isMax ? Decimal.max(...own.map((row) => row.quantity)) : sumOf(own);
    return point(timestamp, usage, costs[index]!, countOf(own));
  });
}

/** In time order. */
function byWindow(
  rows: readonly UsageRow[],
  cellOf: (start: string) => string,
): Map<string, UsageRow[]> {
  const windows = groupBy(rows, (row) => cellOf(row.window_start!));
  return new Map([...windows].sort(([left], [right]) => (left < right ? -1 : 1)));
}

function point(
  timestamp: string,
  usage: Decimal,
  cost: LineCost,
  event_count: number,
): UsageAnalyticsPoint {
  return {
    timestamp,
    usage: figureText(usage),
    subtotal: figureText(cost.cost),
    discount: figureText(cost.discount),
    cost: figureText(netCost(cost)),
    event_count,
    computed_commitment_utilized_amount: figureText(cost.utilized),
    computed_overage_amount: figureText(cost.overage),
    computed_true_up_amount: figureText(cost.true_up),
    buckets: null,
  };
}
