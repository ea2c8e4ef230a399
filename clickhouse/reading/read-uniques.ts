import type { ReadUsageDeps, UniqueParts } from './usage-parts.ts';
import { readUniqueCount, uniqueCounts } from '../queries/unique-counts.ts';
import type { UsagePair, UsageScope } from '../queries/usage-scope.ts';
import { RowBinaryReader } from '../queries/row-binary.ts';
import { scopeOfDays } from './reading-scope.ts';
import { UsageMoved } from './usage-errors.ts';

const DAY_MS = 86_400_000;

/**
 * Counts distinct values over sealed days and rows together. A day that was sealed again after it was judged
 * no longer has its values under the old seal. Then fewer values are read than its bucket states, and the
 * read starts over.
 */
export async function readUniques(
  deps: ReadUsageDeps,
  base: UsageScope,
  parts: UniqueParts,
): Promise<void> {
  if (parts.days.length === 0 && parts.stretches.length === 0) return;
  const query = uniqueCounts({
    scope: scopeOfDays(base, daysOf(parts)),
    questions: parts.questions,
    days: parts.days,
    stretches: parts.stretches,
    bounds: deps.bounds,
  });
  const bytes = await deps.clickhouse.bytes(query, 'RowBinary', deps.options);
  const met = parts.expected.map(() => 0);
  for (const reader = new RowBinaryReader(bytes); !reader.done;) {
    const count = readUniqueCount(reader);
    met[count.answer]! += count.stored_count;
    parts.tallies[count.answer]!.addUniques(
      count.cell,
      count.group,
      count.unique_count,
      count.row_count,
    );
  }
  if (met.some((count, answer) => count !== parts.expected[answer])) throw new UsageMoved();
}

function* daysOf({ days, stretches }: UniqueParts): Generator<UsagePair & { day: number }> {
  for (const part of days) yield { ...part, day: part.bucket_start };
  for (const part of stretches)
    for (let day = Math.floor(part.start / DAY_MS) * DAY_MS; day < part.end; day += DAY_MS)
      yield { ...part, day };
}
