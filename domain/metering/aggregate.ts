import assert from 'node:assert/strict';
import { epochMs, isoText } from '../time/instant.ts';
import { windowGrid } from '../time/usage-windows.ts';
import { matchesFilterValues } from './match.ts';
import type { Position, WatermarkVector } from './position.ts';
import type { AggregationType, UsageAnswer, UsageAnswers, UsageQuery, UsageRow } from './usage.ts';
import { withoutTrailing } from '../../schemas/digits.ts';

/** One event that one meter version counts. */
export interface MeteredUsage {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly meter_version_id: string;
  readonly external_customer_id: string;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly timestamp: number;
  readonly partition: number;
  readonly position: Position;
  /** Canonical decimal text; `1` for COUNT and COUNT_UNIQUE. */
  readonly value: string;
  /** The counted text of COUNT_UNIQUE; otherwise null. */
  readonly unique_value: string | null;
  /** Dimension → value; the empty string when the event lacks the property. */
  readonly dimensions: Readonly<Record<string, string>>;
  /** The empty string when the event has none. */
  readonly source: string;
}

/**
 * The pure aggregator (metering 6): the most direct implementation of the rules. It is the oracle of
 * every usage test and of the answers of ClickHouse (metering 6). It reads every row for every
 * question. `usage` contains each event once (`canonicalUsage`), in any order. With `below`, rows at or
 * beyond a partition's watermark are ignored.
 */
export function answerUsage(
  queries: readonly UsageQuery[],
  usage: readonly MeteredUsage[],
  below: WatermarkVector | null = null,
): UsageAnswers {
  const visible = below === null ? usage : usage.filter((row) => isBelow(row, below));
  const answers = queries.map((query) => [query.key, aggregate(query, visible)] as const);
  return { watermarks: below ?? {}, answers: new Map(answers) };
}

/**
 * Answers one question over usage rows. A row counts when tenant, environment, meter version and customer
 * are equal, its dimensions match `filter_values` and none of `excluded_filter_values`, nothing in
 * `excluded_during` covers it, and its time is in `[start, end)`. With `reset_usage` NEVER, rows before `start` count
 * too. Usage of several customers is merged before aggregation. With a window, every window of the grid, cut to the
 * period, is aggregated as a period of its own, and earlier usage does not count. A query `by_time` has a window for
 * each time.
 */
export function aggregate(query: UsageQuery, usage: readonly MeteredUsage[]): UsageAnswer {
  const start = epochMs(query.start);
  const end = epochMs(query.end);
  const byTime = query.by_time === true;
  const windowed = query.window !== null || byTime;
  const lifetime = query.reset_usage === 'NEVER' && !windowed && start < end;
  const grid = query.window === null ? null : windowGrid(query.window);

  const parts = new Map<string, Part>();
  for (const row of usage) {
    const inPeriod = row.timestamp >= start && row.timestamp < end;
    if (!inPeriod && !(lifetime && row.timestamp < start)) continue;
    if (!isAskedFor(query, row)) continue;
    const group = query.group_by.map((name) => valueOf(row, name));
    const cell = byTime
      ? { start: row.timestamp, end: row.timestamp + 1 }
      : (grid?.cellAt(row.timestamp) ?? { start, end });
    const key = JSON.stringify([windowed ? cell.start : null, ...group]);
    let part = parts.get(key);
    if (part === undefined) {
      part = {
        group,
        window_start: windowed ? cell.start : null,
        start: Math.max(cell.start, start),
        end: Math.min(cell.end, end),
        rows: [],
      };
      parts.set(key, part);
    }
    part.rows.push(row);
  }
  if (parts.size === 0 && !windowed && query.group_by.length === 0) {
    return { key: query.key, rows: [{ group: [], window_start: null, ...NOTHING }] };
  }
  return { key: query.key, rows: [...parts.values()].sort(byWindowAndGroup).map(toRow(query)) };
}

/** Rows of one window and group, and their period. */
interface Part {
  readonly group: readonly string[];
  readonly window_start: number | null;
  readonly start: number;
  readonly end: number;
  readonly rows: MeteredUsage[];
}

/** No event gives 0, for every type (metering 6). */
const NOTHING = { quantity: '0', event_count: 0 };

function toRow(query: UsageQuery): (part: Part) => UsageRow {
  return (part) => ({
    group: part.group,
    window_start: part.window_start === null ? null : isoText(part.window_start),
    quantity: text(quantity(query.aggregation, part, query.multiplier)),
    event_count: part.rows.length,
  });
}

/** Scaled by 10^18. Requires at least one row. */
function quantity(aggregation: AggregationType, part: Part, multiplier: string | null): bigint {
  const values = part.rows.map((row) => scaled(row.value));
  const total = values.reduce((left, right) => left + right, 0n);
  switch (aggregation) {
    case 'COUNT':
      return BigInt(part.rows.length) * ONE;
    case 'SUM':
      return total;
    case 'SUM_WITH_MULTIPLIER':
      assert(multiplier !== null, 'SUM_WITH_MULTIPLIER without multiplier');
      return rounded(total * scaled(multiplier), ONE);
    case 'AVG':
      return rounded(total, BigInt(part.rows.length));
    case 'MAX':
      return values.reduce((left, right) => (right > left ? right : left));
    case 'MIN':
      return values.reduce((left, right) => (right < left ? right : left));
    case 'COUNT_UNIQUE':
      return BigInt(new Set(part.rows.map((row) => row.unique_value)).size) * ONE;
    case 'LATEST':
      return scaled(part.rows.reduce((left, right) => (isLater(right, left) ? right : left)).value);
    case 'WEIGHTED_SUM':
      return weightedSum(part);
    default:
      return aggregation satisfies never;
  }
}

/**
 * Each event is a delta that applies from its time to the end of the period. With NEVER, the sum before
 * the period applies to all of it.
 */
function weightedSum({ rows, start, end }: Part): bigint {
  const weighted = rows.reduce(
    (sum, row) => sum + scaled(row.value) * BigInt(end - Math.max(row.timestamp, start)),
    0n,
  );
  return rounded(weighted, BigInt(end - start));
}

/**
 * LATEST: the row with the greatest (timestamp, position). On a tie between partitions the greater partition
 * wins.
 */
function isLater(row: MeteredUsage, than: MeteredUsage): boolean {
  if (row.timestamp !== than.timestamp) return row.timestamp > than.timestamp;
  if (row.position !== than.position) return row.position > than.position;
  return row.partition > than.partition;
}

function isAskedFor(query: UsageQuery, row: MeteredUsage): boolean {
  const { external_customer_ids: customers, excluded_filter_values: excluded = [] } = query;
  const { excluded_during: excludedDuring = [] } = query;
  const dimension = (name: string): string => valueOf(row, name);
  return (
    row.tenant_id === query.tenant_id &&
    row.environment_id === query.environment_id &&
    row.meter_version_id === query.meter_version_id &&
    (customers === null || customers.includes(row.external_customer_id)) &&
    matchesFilterValues(query.filter_values, dimension) &&
    !excluded.some((filter) => matchesFilterValues(filter, dimension)) &&
    !excludedDuring.some(
      ({ start, end, filter_values, external_customer_ids: left }) =>
        row.timestamp >= epochMs(start) &&
        row.timestamp < epochMs(end) &&
        (left === null || left.includes(row.external_customer_id)) &&
        matchesFilterValues(filter_values, dimension),
    )
  );
}

function valueOf(row: MeteredUsage, name: string): string {
  return name === 'source' ? row.source : (row.dimensions[name] ?? '');
}

function isBelow(row: MeteredUsage, below: WatermarkVector): boolean {
  const bound = below[row.partition];
  return bound !== undefined && row.position < bound;
}

function byWindowAndGroup(left: Part, right: Part): number {
  const windows = (left.window_start ?? 0) - (right.window_start ?? 0);
  if (windows !== 0) return windows;
  for (const [index, value] of left.group.entries()) {
    const other = right.group[index]!;
    if (value !== other) return value < other ? -1 : 1;
  }
  return 0;
}

/**
 * Whole numbers of 10^-18: sums of 38-digit values can have any number of digits, and a quotient is
 * rounded exactly once.
 */
const DECIMALS = 18;
const ONE = 10n ** BigInt(DECIMALS);

function scaled(value: string): bigint {
  const [whole = '', decimals = ''] = value.split('.');
  assert(/^-?\d+$/.test(whole) && decimals.length <= DECIMALS, `${value} is not a usage value`);
  return BigInt(whole + decimals.padEnd(DECIMALS, '0'));
}

/** Half away from zero. */
function rounded(numerator: bigint, denominator: bigint): bigint {
  const magnitude = numerator < 0n ? -numerator : numerator;
  const quotient = (2n * magnitude + denominator) / (2n * denominator);
  return numerator < 0n ? -quotient : quotient;
}

function text(value: bigint): string {
  const digits = (value < 0n ? -value : value).toString().padStart(DECIMALS + 1, '0');
  const decimals = withoutTrailing(digits.slice(-DECIMALS), '0');
  const whole = digits.slice(0, -DECIMALS);
  return `${value < 0n ? '-' : ''}${whole}${decimals === '' ? '' : `.${decimals}`}`;
}
