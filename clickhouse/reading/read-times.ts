import assert from 'node:assert/strict';
import {
  mergeStates,
  quantityOf,
  scaledText,
  type UsageState,
} from '../../domain/metering/usage-state.ts';
import type { UsageAnswer } from '../../domain/metering/usage.ts';
import { isoText } from '../../domain/time/instant.ts';
import { counts, type PlannedQuery } from '../queries/plan-query.ts';
import { RowBinaryReader } from '../queries/row-binary.ts';
import { stateNeeds } from '../queries/usage-buckets.ts';
import { readUsageTimes, usageTimes, type RowStretch } from '../queries/usage-rows.ts';
import { Pieces } from './pieces.ts';
import { scopeOfStretches } from './read-rows.ts';
import { tooManyTimes } from './usage-errors.ts';
import type { ReadUsageDeps } from './usage-parts.ts';

const DAY_MS = 86_400_000;
const NO_GROUP: readonly string[] = [];
/** A statement reads at most this much time, so that its result stays small. */
const DAYS_PER_STATEMENT = 31;

/** Bounds of what one call reads by time. */
export interface TimesBounds {
  /** Sums that one statement returns. */
  readonly page: number;
  /** Different times, over all queries of the call. */
  readonly max: number;
}

/** The memory of a process has room for this many times, with the rule that follows them (`quotaUsage`): 1.3 GB. */
export const TIMES: TimesBounds = { page: 100_000, max: 2_000_000 };

/**
 * Answers one query `by_time` from rows: buckets do not know the times of their events. One row for each time; a
 * statement reads at most a month and at most a page. 250,000 times in a month take 2.6 s of one core and 0.2 GB, with
 * the rule that follows them (`quotaUsage`); 1,500,000 take 18 s and 1 GB. 400 `usage_query_too_large` if there are
 * more times than `left`.
 */
export async function readTimes(
  deps: ReadUsageDeps,
  plan: PlannedQuery,
  { page, max }: TimesBounds,
  left: number,
): Promise<UsageAnswer> {
  const { aggregation, multiplier } = plan.query;
  assert(aggregation !== 'COUNT_UNIQUE', 'distinct values have no times that could be added up');
  const needs = stateNeeds(new Set([aggregation]));
  const byTime = new Map<number, UsageState>();
  const pieces = new Pieces();
  for (const { stretches, cells } of statementsOf(plan)) {
    for (let from: number | null = -Infinity; from !== null;) {
      // A range that was read keeps its number and is empty.
      const rest = stretches.map((stretch) => ({
        ...stretch,
        start: Math.max(stretch.start, from!),
      }));
      const query = usageTimes(scopeOf(plan, rest), rest, deps.bounds, needs, page);
      const bytes = await deps.clickhouse.bytes(query, 'RowBinary', deps.options);
      let sums = 0;
      let last = 0;
      for (const reader = new RowBinaryReader(bytes); !reader.done; sums += 1) {
        const { number, at, state, ...labels } = readUsageTimes(reader, needs);
        last = at;
        const customer = stretches[number]!.external_customer_id;
        if (counts(plan, cells[number]!, customer, labels)) {
          const known = byTime.get(at);
          byTime.set(at, known === undefined ? state : mergeStates(known, state));
          if (byTime.size > left) throw tooManyTimes(max);
        }
        if (pieces.isDone()) await pieces.breathe();
      }
      from = sums < page ? null : last + 1;
    }
  }
  const rows = [...byTime]
    .sort(([left], [right]) => left - right)
    .map(([at, state]) => ({
      group: NO_GROUP,
      window_start: isoText(at),
      quantity: scaledText(quantityOf(aggregation, state, { start: at, end: at + 1 }, multiplier)),
      event_count: state.event_count,
    }));
  return { key: plan.query.key, rows };
}

/** The ranges of each statement, with the part of a cell of each. */
function* statementsOf(plan: PlannedQuery): Generator<{
  readonly stretches: RowStretch[];
  readonly cells: number[];
}> {
  const { meter_version_id, external_customer_ids: ids } = plan.query;
  assert(ids !== null, 'a query by time names its customers');
  const step = DAYS_PER_STATEMENT * DAY_MS;
  for (let from = plan.start; from < plan.end; from += step) {
    const until = Math.min(from + step, plan.end);
    const parts = plan.cells.flatMap((cell, index) => {
      const start = Math.max(cell.start, from);
      const end = Math.min(cell.end, until);
      return start < end ? [{ start, end, index }] : [];
    });
    const pairs = [...new Set(ids)].flatMap((external_customer_id) =>
      parts.map(({ start, end, index }) => ({
        stretch: { external_customer_id, meter_version_id, start, end, by_minute: false },
        index,
      })),
    );
    if (pairs.length === 0) continue;
    yield {
      stretches: pairs.map(({ stretch }) => stretch),
      cells: pairs.map(({ index }) => index),
    };
  }
}

function scopeOf({ query }: PlannedQuery, stretches: readonly RowStretch[]) {
  const { tenant_id, environment_id, meter_version_id } = query;
  const base = {
    tenant_id,
    environment_id,
    pairs: null,
    versions: [meter_version_id],
    start: 0,
    end: 0,
    days: null,
  };
  return { ...scopeOfStretches(base, stretches), days: null };
}
