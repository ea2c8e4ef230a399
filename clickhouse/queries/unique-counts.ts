import type { ClickHouseQuery } from '../client.ts';
import type { RowBinaryReader } from './row-binary.ts';
import { rowsBelow, type RowBounds } from './row-bounds.ts';
import { STRETCHES, stretchParams, type RowStretch } from './usage-rows.ts';
import { inUsageScope, type UsagePair, type UsageScope } from './usage-scope.ts';

/** Filters and groups of one COUNT_UNIQUE query: indexes of dimensions, -1 for the source. */
export interface UniqueQuestion {
  /** Distinct values of the questions of one answer are counted together. */
  readonly answer: number;
  readonly include: readonly StoredFilter[];
  readonly exclude: readonly (readonly StoredFilter[])[];
  readonly groups: readonly number[];
}

export interface StoredFilter {
  readonly index: number;
  readonly values: ReadonlySet<string>;
}

/** A sealed day with unique values that count for a cell of a query. */
export interface UniqueDay extends UsagePair {
  readonly question: number;
  /** Index of a whole cell. */
  readonly cell: number;
  readonly bucket_start: number;
  readonly seal: bigint;
}

/** A range with rows that count for a cell of a query. */
export interface UniqueStretch extends RowStretch {
  readonly question: number;
  readonly cell: number;
}

/**
 * Distinct values per query, cell and group, over sealed days and rows together. Also returns how many stored
 * values were read, so that the caller can check that the days have not changed since it chose them.
 */
export function uniqueCounts(query: {
  readonly scope: UsageScope;
  readonly questions: readonly UniqueQuestion[];
  readonly days: readonly UniqueDay[];
  readonly stretches: readonly UniqueStretch[];
  readonly bounds: RowBounds;
}): ClickHouseQuery {
  const { scope, questions, days, stretches, bounds } = query;
  const stored = inUsageScope(scope, 'bucket_start');
  const within = inUsageScope(scope, 'timestamp');
  const below = rowsBelow(bounds, scope);
  return {
    sql: `
      select answer, cell,
             arrayMap(i -> labels[i], groups) as group_values,
             uniqExactIf(unique_hash, counts), countIf(counts and not stored), countIf(stored)
        from (select *,
                     arrayPushFront(dimensions, toString(source)) as labels,
                     arrayAll(f -> has(f.2, labels[f.1]), include)
                       and not arrayExists(fs -> arrayAll(f -> has(f.2, labels[f.1]), fs), exclude) as counts
                from (select question, cell, dimensions, source, unique_hash, true as stored
                        from (select external_customer_id, meter_version_id, bucket_start, dimensions, source, unique_hash, seal
                                from usage_uniques_per_day_v1 final
                               where ${stored.sql}) as kept
                       inner join (${DAYS}) as days
                       using (external_customer_id, meter_version_id, bucket_start, seal)
                      union all
                      select sq as question, sc as cell, dimensions, source, unique_hash, false as stored
                        from (select external_customer_id, meter_version_id, timestamp, dimensions, source, unique_hash
                                from meter_usage_v1 final
                               where ${within.sql} and ${below.sql}) as rows
                       inner join (select *, {stretch_questions:Array(UInt32)}[number + 1] as sq,
                                          {stretch_cells:Array(UInt32)}[number + 1] as sc
                                     from (${STRETCHES})) as stretches
                       using (external_customer_id, meter_version_id)
                       where timestamp >= stretch_start and timestamp < stretch_end) as met
               inner join (${QUESTIONS}) as questions using (question))
       group by answer, cell, group_values`,
    params: {
      ...stored.params,
      ...within.params,
      ...below.params,
      ...stretchParams(stretches),
      stretch_questions: stretches.map((stretch) => stretch.question),
      stretch_cells: stretches.map((stretch) => stretch.cell),
      day_customers: days.map((day) => day.external_customer_id),
      day_versions: days.map((day) => day.meter_version_id),
      day_starts: days.map((day) => day.bucket_start / 1000),
      day_seals: days.map((day) => day.seal),
      day_questions: days.map((day) => day.question),
      day_cells: days.map((day) => day.cell),
      question_numbers: questions.map((_, index) => index),
      question_answers: questions.map(({ answer }) => answer),
      // As JSON, because a parameter of nested empty arrays does not show its depth.
      includes: questions.map((question) => JSON.stringify(question.include.map(filterPair))),
      excludes: questions.map((question) =>
        JSON.stringify(question.exclude.map((all) => all.map(filterPair))),
      ),
      // Arrays start at 1 in ClickHouse, and the first label is the source.
      groupings: questions.map((question) =>
        JSON.stringify(question.groups.map((index) => index + 2)),
      ),
    },
  };
}

const DAYS = `
  select day.1 as external_customer_id, day.2 as meter_version_id,
         toDateTime(day.3, 'UTC') as bucket_start, day.4 as seal, day.5 as question, day.6 as cell
    from (select arrayJoin(arrayZip({day_customers:Array(String)}, {day_versions:Array(String)},
                   {day_starts:Array(UInt32)}, {day_seals:Array(UInt64)},
                   {day_questions:Array(UInt32)}, {day_cells:Array(UInt32)})) as day)`;

const QUESTIONS = `
  select q.1 as question,
         JSONExtract(q.2, 'Array(Tuple(UInt16, Array(String)))') as include,
         JSONExtract(q.3, 'Array(Array(Tuple(UInt16, Array(String))))') as exclude,
         JSONExtract(q.4, 'Array(UInt16)') as groups, q.5 as answer
    from (select arrayJoin(arrayZip({question_numbers:Array(UInt32)}, {includes:Array(String)},
                   {excludes:Array(String)}, {groupings:Array(String)},
                   {question_answers:Array(UInt32)})) as q)`;

const filterPair = (filter: StoredFilter) => [filter.index + 2, [...filter.values]];

export interface UniqueCount {
  readonly answer: number;
  readonly cell: number;
  readonly group: readonly string[];
  readonly unique_count: number;
  /** Events among the rows; the events of the days are in their buckets. */
  readonly row_count: number;
  /** Values read in sealed days, including those that do not pass the filters. */
  readonly stored_count: number;
}

export function readUniqueCount(reader: RowBinaryReader): UniqueCount {
  return {
    answer: reader.uint32(),
    cell: reader.uint32(),
    group: reader.strings(),
    unique_count: reader.count(),
    row_count: reader.count(),
    stored_count: reader.count(),
  };
}
