import type { ClickHouseQuery } from '../client.ts';
import { Pieces } from './pieces.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import type { StateNeeds, UsagePart } from '../queries/usage-buckets.ts';
import {
  commonStarts,
  numbersOf,
  readRowsInRange,
  usageRowsInRanges,
} from '../queries/common-ranges.ts';
import {
  readUsageRows,
  usageRows,
  type RowStretch,
  type StretchPart,
} from '../queries/usage-rows.ts';
import { pairKey, type UsagePair, type UsageScope } from '../queries/usage-scope.ts';
import type { RowBounds } from '../queries/row-bounds.ts';
import { RowBinaryReader } from '../queries/row-binary.ts';

const DAY_MS = 86_400_000;
const STRETCHES_PER_STATEMENT = 20_000;

/**
 * Reads ranges from rows and passes on the sums of each, in parts. Neighbours are joined into one statement
 * per month: a month is one partition of the table, and one statement for distant ranges would read
 * everything between them. Without `byLabels`, the dimensions and source of the parts may be empty.
 */
export async function readRowParts(
  deps: ReadUsageDeps,
  base: UsageScope,
  stretches: readonly RowStretch[],
  needs: StateNeeds,
  take: (stretch: number, slot: number, part: UsagePart) => void,
  byLabels = true,
): Promise<void> {
  const byMonth = new Map<string, number[]>();
  stretches.forEach((stretch, index) => {
    const month = monthOf(stretch.start);
    const known = byMonth.get(month);
    if (known === undefined) byMonth.set(month, [index]);
    else known.push(index);
  });
  const pieces = new Pieces();
  for (const indexes of byMonth.values()) {
    for (let at = 0; at < indexes.length; at += STRETCHES_PER_STATEMENT) {
      const chosen = indexes.slice(at, at + STRETCHES_PER_STATEMENT);
      const part = chosen.map((index) => stretches[index]!);
      const { query, read } = statementOf(base, part, deps.bounds, needs, byLabels);
      const bytes = await deps.clickhouse.bytes(query, 'RowBinary', deps.options);
      for (const reader = new RowBinaryReader(bytes); !reader.done;) {
        const row = read(reader);
        const number = chosen[row.number]!;
        take(number, row.slot === 0 ? stretches[number]!.start : row.slot, row);
        if (pieces.isDone()) await pieces.breathe();
      }
    }
  }
}

interface RangesStatement {
  readonly query: ClickHouseQuery;
  read(reader: RowBinaryReader): StretchPart;
}

function statementOf(
  base: UsageScope,
  stretches: readonly RowStretch[],
  bounds: RowBounds,
  needs: StateNeeds,
  byLabels: boolean,
): RangesStatement {
  const scope = scopeOfStretches(base, stretches);
  const starts = commonStarts(stretches);
  if (starts === null)
    return {
      query: usageRows(scope, stretches, bounds, needs),
      read: (reader) => readUsageRows(reader, needs),
    };
  const numbers = numbersOf(stretches);
  return {
    query: usageRowsInRanges(scope, starts, bounds, needs, byLabels),
    read: (reader) => readRowsInRange(reader, needs, numbers),
  };
}

/** The scope reduced to the pairs and days of the ranges; without a list of the days if no day lies between them. */
export function scopeOfStretches(base: UsageScope, stretches: readonly RowStretch[]): UsageScope {
  const pairs = new Map<string, UsagePair>();
  const days = new Set<number>();
  let start = Infinity;
  let end = 0;
  for (const stretch of stretches) {
    const { external_customer_id, meter_version_id } = stretch;
    pairs.set(pairKey(stretch), { external_customer_id, meter_version_id });
    for (let day = Math.floor(stretch.start / DAY_MS) * DAY_MS; day < stretch.end; day += DAY_MS) {
      days.add(day);
    }
    start = Math.min(start, stretch.start);
    end = Math.max(end, stretch.end);
  }
  const hasGaps = days.size < Math.ceil(end / DAY_MS) - Math.floor(start / DAY_MS);
  return { ...base, pairs: [...pairs.values()], start, end, days: hasGaps ? [...days] : null };
}

export function monthOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 7);
}
