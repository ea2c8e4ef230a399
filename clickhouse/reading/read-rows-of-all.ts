import { readUsageOfTimes, usageOfTimes } from '../queries/usage-of-times.ts';
import { RowBinaryReader } from '../queries/row-binary.ts';
import { cellAt } from '../queries/plan-query.ts';
import { stateNeeds } from '../queries/usage-buckets.ts';
import type { UsageScope } from '../queries/usage-scope.ts';
import { Pieces } from './pieces.ts';
import { labelsOf } from './read-sums.ts';
import { monthOf } from './read-rows.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import type { UsageTally } from './usage-tally.ts';

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;

/**
 * Adds the rows of all customers in the quarter hours with the given starts (ascending), one statement for each month:
 * a month is one partition of the table.
 */
export async function readRowsOfAll(
  deps: ReadUsageDeps,
  base: UsageScope,
  quarters: readonly number[],
  tallies: readonly UsageTally[],
): Promise<void> {
  const needs = stateNeeds(new Set(tallies.map(({ plan }) => plan.query.aggregation)));
  const pieces = new Pieces();
  for (const starts of byMonth(quarters)) {
    const query = usageOfTimes({
      scope: {
        ...base,
        start: starts[0]!,
        end: starts.at(-1)! + QUARTER_MS,
        days: [...new Set(starts.map((start) => Math.floor(start / DAY_MS) * DAY_MS))],
      },
      quarters: starts,
      borders: bordersOf(starts, tallies),
      bounds: deps.bounds,
      needs,
      ...labelsOf(tallies),
    });
    const bytes = await deps.clickhouse.bytes(query, 'RowBinary', deps.options);
    for (const reader = new RowBinaryReader(bytes); !reader.done;) {
      const { meter_version_id, slot, ...part } = readUsageOfTimes(reader, needs);
      for (const tally of tallies) {
        const { query, cells, start, end } = tally.plan;
        if (query.meter_version_id === meter_version_id && slot >= start && slot < end)
          tally.add(cellAt(cells, slot), part, '');
      }
      if (pieces.isDone()) await pieces.breathe();
    }
  }
}

function byMonth(starts: readonly number[]): number[][] {
  const months: number[][] = [];
  for (const start of starts) {
    const last = months.at(-1);
    if (last !== undefined && monthOf(last[0]!) === monthOf(start)) last.push(start);
    else months.push([start]);
  }
  return months;
}

/** The starts of runs of quarter hours, and the borders of cells within them. */
function bordersOf(quarters: readonly number[], tallies: readonly UsageTally[]): number[] {
  const inside = new Set(quarters);
  const borders = new Set(quarters.filter((start) => !inside.has(start - QUARTER_MS)));
  // Queries of one grid share their cells.
  for (const cells of new Set(tallies.map(({ plan }) => plan.cells)))
    for (const { start, end } of cells)
      for (const border of [start, end])
        if (inside.has(Math.floor(border / QUARTER_MS) * QUARTER_MS)) borders.add(border);
  return [...borders].sort((left, right) => left - right);
}
