import { scalarText } from '../../domain/json-scalar.ts';
import type { UsageAnswer, UsageQuery } from '../../domain/metering/usage.ts';
import type { ClickHouse } from '../client.ts';
import type { QueryLimits } from '../query-limits.ts';
import { Pieces } from './pieces.ts';
import { rawGroups, readRawGroup, type RawSpec } from '../queries/raw-groups.ts';
import { stateNeeds } from '../queries/usage-buckets.ts';
import { RowBinaryReader } from '../queries/row-binary.ts';
import { GROUPS_MAX, isTooManyRows, refuseManyValues, tooManyGroups } from './usage-errors.ts';
import { cellAt, groupOf, planQuery } from '../queries/plan-query.ts';
import { UsageTally } from './usage-tally.ts';

/** Raw JSON values of one property with the same text: 5, 5.0 and "5". */
const SPELLINGS = 2;
/** Maximum number of groups in all windows. */
const ROWS_MAX = 100_000;

/**
 * Answers a usage query on any properties from raw events, by the rules of the meter version. The result
 * equals `aggregate` over the events that it meters. The meter must not have an expression.
 */
export async function answerFromEvents(
  clickhouse: ClickHouse,
  query: UsageQuery,
  spec: RawSpec,
  limits: QueryLimits,
): Promise<UsageAnswer> {
  refuseManyValues(
    query.filter_values,
    ...(query.excluded_filter_values ?? []),
    ...(query.excluded_during ?? []).map(({ filter_values }) => filter_values),
    ...spec.filters.map(({ key, values }) => ({ [key]: values })),
  );
  const names = [...new Set(query.group_by)].filter((name) => name !== 'source');
  // The statement applies the filters: its rows have passed them.
  const asked = { ...query, filter_values: {}, excluded_filter_values: [], excluded_during: [] };
  const plan = planQuery(asked, names, new Map());
  const tally = new UsageTally(plan);
  if (plan.cells.length === 0) return await tally.answer();

  const isUnique = query.aggregation === 'COUNT_UNIQUE';
  const needs = stateNeeds(new Set([query.aggregation]));
  const statement = rawGroups({ plan: { ...plan, query }, spec, names, needs });
  const groups = Math.min(GROUPS_MAX * SPELLINGS * plan.cells.length, ROWS_MAX);
  const bytes = await clickhouse
    .bytes(statement, 'RowBinary', { limits: { ...limits, groups } })
    .catch((error: unknown) => {
      throw isTooManyRows(error) && /GROUP BY/i.test(error.message) ? tooManyGroups() : error;
    });
  const pieces = new Pieces();
  for (const reader = new RowBinaryReader(bytes); !reader.done;) {
    const group = readRawGroup(reader, isUnique, needs);
    const cell = cellAt(plan.cells, group.cell);
    const dimensions = isUnique ? group.dimensions : group.dimensions.map(textOf);
    if (!isUnique) tally.add(cell, { ...group, dimensions }, '');
    else tally.addUniques(cell, groupOf(plan, group), group.unique_count, group.state.event_count);
    if (pieces.isDone()) await pieces.breathe();
  }
  return await tally.answer();
}

function textOf(raw: string): string {
  return raw === '' ? '' : (scalarText(JSON.parse(raw)) ?? '');
}
