import assert from 'node:assert/strict';
import type { UsageState, Span } from '../../domain/metering/usage-state.ts';
import type { FilterValues, UsageQuery } from '../../domain/metering/usage.ts';
import type { UsageWindow } from '../../domain/time/usage-windows.ts';
import { epochMs } from '../../domain/time/instant.ts';
import { windowSpans } from '../../domain/time/usage-windows.ts';

/** A range of time that is aggregated separately: a window cut to the period, or the whole period. */
export interface Cell extends Span {
  /** Start of the uncut window in milliseconds; null without windows. */
  readonly window_start: number | null;
  /** Usage before the period that is carried into it. */
  readonly is_carry: boolean;
}

/** A part of a cell, cut where an exclusion begins or ends. Without exclusions the whole cell. */
export interface CellPart extends Cell {
  /** Index of its cell. */
  readonly whole: number;
}

/** Usage that does not count in parts of cells. */
export interface PlannedExclusion {
  readonly start: number;
  readonly end: number;
  readonly filters: readonly DimensionFilter[];
  /** Null means every customer. */
  readonly customers: ReadonlySet<string> | null;
}

/** A usage query, prepared to add parts of buckets and rows to it. */
export interface PlannedQuery {
  readonly query: UsageQuery;
  /** Ranges that are read one by one. Ascending, without gaps. */
  readonly cells: readonly CellPart[];
  /** Ranges that are answered one by one. */
  readonly wholes: readonly Cell[];
  readonly start: number;
  readonly end: number;
  /** Whether some cell holds a whole UTC day. */
  readonly uses_days: boolean;
  readonly include: readonly DimensionFilter[];
  readonly exclude: readonly (readonly DimensionFilter[])[];
  readonly exclude_during: readonly PlannedExclusion[];
  /** Indexes of the dimensions in `group_by`; -1 is the source. */
  readonly groups: readonly number[];
}

/** A dimension's index among those of its meter version, -1 for the source, and its allowed values. */
export interface DimensionFilter {
  readonly index: number;
  readonly values: ReadonlySet<string>;
}

const DAY_MS = 86_400_000;

/** Cells by grid and range: most lines of a billing run share them, and a month of minutes has 44,640. */
export type CellCache = Map<string, Pick<PlannedQuery, 'cells' | 'wholes' | 'uses_days'>>;

export function planQuery(
  query: UsageQuery,
  dimensions: readonly string[],
  cache: CellCache,
): PlannedQuery {
  const exclusions = (query.excluded_during ?? []).map((excluded) => ({
    start: epochMs(excluded.start),
    end: epochMs(excluded.end),
    filters: filtersOf(excluded.filter_values, dimensions),
    customers:
      excluded.external_customer_ids === null ? null : new Set(excluded.external_customer_ids),
  }));
  const { cells, wholes, uses_days } = cachedCells(query, exclusions, cache);
  return {
    query,
    cells,
    wholes,
    start: cells[0]?.start ?? 0,
    end: cells.at(-1)?.end ?? 0,
    uses_days,
    include: filtersOf(query.filter_values, dimensions),
    exclude: (query.excluded_filter_values ?? []).map((filter) => filtersOf(filter, dimensions)),
    exclude_during: exclusions,
    groups: query.group_by.map((name) => placeOf(name, dimensions)),
  };
}

/** The cell that contains an instant of the planned range. */
export function cellAt(cells: readonly Cell[], ms: number): number {
  let low = 0;
  let high = cells.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (cells[middle]!.start <= ms) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The only cell that contains the whole bucket, or null. */
export function soleCell(plan: PlannedQuery, start: number, end: number): number | null {
  if (start < plan.start || end > plan.end) return null;
  const cell = cellAt(plan.cells, start);
  return plan.cells[cell]!.end >= end ? cell : null;
}

/** The texts by which an event is filtered and grouped. */
export interface Labels {
  readonly dimensions: readonly string[];
  readonly source: string;
}

function matches(plan: PlannedQuery, labels: Labels): boolean {
  const allows = ({ index, values }: DimensionFilter) => values.has(labelAt(labels, index));
  return plan.include.every(allows) && !plan.exclude.some((filters) => filters.every(allows));
}

/** Whether usage is filtered or grouped by dimensions or source. */
export const usesLabels = (plan: PlannedQuery): boolean =>
  [plan.include, plan.exclude, plan.exclude_during, plan.groups].some((list) => list.length > 0);

/** Indexes of the exclusions that apply to usage of the customer in the part of a cell. */
export function exclusionsOf(plan: PlannedQuery, cell: number, customer: string): number[] {
  if (plan.exclude_during.length === 0) return NO_EXCLUSIONS;
  const { start } = plan.cells[cell]!;
  return plan.exclude_during.flatMap((excluded, index) =>
    start >= excluded.start &&
    start < excluded.end &&
    (excluded.customers === null || excluded.customers.has(customer))
      ? [index]
      : [],
  );
}

const NO_EXCLUSIONS: number[] = [];

/** Whether usage of the customer with these texts counts in the part of a cell. */
export function counts(
  plan: PlannedQuery,
  cell: number,
  customer: string,
  labels: Labels,
): boolean {
  if (!matches(plan, labels)) return false;
  return !exclusionsOf(plan, cell, customer).some((index) =>
    plan.exclude_during[index]!.filters.every(({ index: place, values }) =>
      values.has(labelAt(labels, place)),
    ),
  );
}

/** The values of `group_by`; an empty text if the event lacks the property. */
export function groupOf(plan: PlannedQuery, labels: Labels): readonly string[] {
  return plan.groups.length === 0 ? NO_GROUP : plan.groups.map((index) => labelAt(labels, index));
}

const NO_GROUP: readonly string[] = Object.freeze([]);

function labelAt({ dimensions, source }: Labels, index: number): string {
  return index === SOURCE ? source : (dimensions[index] ?? '');
}

/** The index that stands for the event's source, which every version keeps. */
const SOURCE = -1;

export const EMPTY_STATE: UsageState = {
  event_count: 0,
  sum: 0n,
  sum_value_time: 0n,
  min: 0n,
  max: 0n,
  latest: 0n,
  latest_at: 0,
  latest_position: 0n,
  latest_partition: 0,
};

function cachedCells(query: UsageQuery, exclusions: readonly PlannedExclusion[], cache: CellCache) {
  const cuts = [...new Set(exclusions.flatMap(({ start, end }) => [start, end]))].sort(
    (left, right) => left - right,
  );
  const { window, start, end, reset_usage, aggregation } = query;
  const key = [
    start, end, reset_usage, aggregation === 'WEIGHTED_SUM',
    window?.bucket_size, window?.timezone, window?.billing_anchor,
    window?.longer_months?.map((month) => month.start).join(), cuts.join(),
  ].join('|'); // prettier-ignore
  let known = cache.get(key);
  if (known === undefined) {
    const wholes = cellsOf(query, window);
    const cells = wholes.flatMap((cell, whole) => partsOf(cell, whole, cuts));
    const uses_days = cells.some(
      (cell) => Math.floor(cell.end / DAY_MS) > Math.ceil(cell.start / DAY_MS),
    );
    cache.set(key, (known = { cells, wholes, uses_days }));
  }
  return known;
}

function partsOf(cell: Cell, whole: number, cuts: readonly number[]): CellPart[] {
  const inside = cuts.filter((cut) => cut > cell.start && cut < cell.end);
  if (inside.length === 0) return [{ ...cell, whole }];
  const edges = [cell.start, ...inside, cell.end];
  return edges
    .slice(0, -1)
    .map((start, index) => ({ ...cell, start, end: edges[index + 1]!, whole }));
}

function cellsOf(query: UsageQuery, window: UsageWindow | null): Cell[] {
  const start = epochMs(query.start);
  const end = epochMs(query.end);
  if (start >= end) return [];
  if (window !== null) {
    return windowSpans(window, start, end).map((span) => ({
      start: span.start,
      end: span.end,
      window_start: span.window_start,
      is_carry: false,
    }));
  }
  const period = { start, end, window_start: null, is_carry: false };
  if (query.reset_usage !== 'NEVER' || start === 0) return [period];
  // Weights start at the period's start, even if usage precedes it.
  if (query.aggregation === 'WEIGHTED_SUM') {
    return [{ start: 0, end: start, window_start: null, is_carry: true }, period];
  }
  return [{ ...period, start: 0 }];
}

// An empty text means a missing property, which no filter matches.
function filtersOf(filter: FilterValues, dimensions: readonly string[]): DimensionFilter[] {
  return Object.entries(filter).map(([name, values]) => ({
    index: placeOf(name, dimensions),
    values: new Set(values.filter((value) => value !== '')),
  }));
}

function placeOf(name: string, dimensions: readonly string[]): number {
  if (name === 'source') return SOURCE;
  const index = dimensions.indexOf(name);
  assert(index >= 0, `the meter version keeps no dimension ${name}`);
  return index;
}
