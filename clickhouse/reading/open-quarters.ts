import { cellAt, soleCell, type PlannedQuery } from '../queries/plan-query.ts';
import { pairKey } from '../queries/usage-scope.ts';
import type { SeenQuarters } from './open-days.ts';
import { Pieces } from './pieces.ts';
import type { FoundBuckets, PairBuckets } from './read-buckets.ts';
import type { OpenBucket } from './read-sums.ts';
import { Remainder, type CellStretch, type UniqueParts } from './usage-parts.ts';
import type { UsageTally } from './usage-tally.ts';

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const MINUTE_MS = 60_000;

/** What the quarter hours of open days tell about how far the sealer has come. */
export function seenQuarters(open: readonly OpenBucket[], quarters: FoundBuckets): SeenQuarters {
  let sealed_until: number | null = null;
  let open_from: number | null = null;
  for (const { pair, start } of open) {
    const buckets = quarters.get(pairKey(pair))?.buckets ?? [];
    for (let index = firstFrom(buckets, start); index < buckets.length; index += 1) {
      const bucket = buckets[index]!;
      if (bucket.start >= start + DAY_MS) break;
      if (bucket.rows === null) {
        open_from = Math.min(open_from ?? Infinity, bucket.start);
        break;
      }
      sealed_until = Math.max(sealed_until ?? 0, bucket.start + QUARTER_MS);
    }
  }
  return { sealed_until, open_from };
}

/**
 * Adds quarter hours that begin before `until` from their buckets and records what must be read from rows. Time
 * outside of touched buckets has no rows, so the unusable quarter hours of one cell are read in one range up to the
 * next usable one: a day that is not sealed yet is one range, not one for each quarter hour with usage.
 */
export function addQuarters(
  { tally, pair, start }: OpenBucket,
  quarters: ReadonlyMap<string, PairBuckets>,
  until: number,
  rest: Remainder,
  uniques: UniqueParts,
): void {
  const { plan } = tally;
  const countsUnique = plan.query.aggregation === 'COUNT_UNIQUE';
  const pieces: CellStretch[] = [];
  let unusable: CellStretch[] = [];
  const buckets = quarters.get(pairKey(pair))?.buckets ?? [];
  for (let index = firstFrom(buckets, start); index < buckets.length; index += 1) {
    const bucket = buckets[index]!;
    if (bucket.start >= Math.min(start + DAY_MS, until)) break;
    const from = Math.max(bucket.start, plan.start);
    const to = Math.min(bucket.start + QUARTER_MS, plan.end);
    if (from >= to) continue;
    const cell = soleCell(plan, bucket.start, bucket.start + QUARTER_MS);
    if (bucket.rows !== null && cell !== null && !countsUnique) {
      for (const row of bucket.rows) tally.add(cell, row, pair.external_customer_id);
      pieces.push(...bridged(unusable));
      unusable = [];
    } else {
      unusable.push(...stretchesWithin(plan, from, to, !countsUnique));
    }
  }
  for (const piece of [...pieces, ...bridged(unusable)]) {
    if (countsUnique) uniques.addStretch(tally, piece.cell!, pair, piece);
    else rest.add(tally, pair, piece);
  }
}

/** The first bucket at or after a time; buckets are sorted by time. */
function firstFrom(buckets: readonly { readonly start: number }[], start: number): number {
  let low = 0;
  let high = buckets.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (buckets[middle]!.start < start) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Records quarter hours of many pairs to be read from rows. */
export async function addOpenQuarters(open: readonly OpenBucket[], rest: Remainder): Promise<void> {
  const byPair = new Map<string, OpenBucket[]>();
  const numbers = new Map<UsageTally, number>();
  const breaks = new Pieces();
  for (const bucket of open) {
    const { tally, pair } = bucket;
    if (!numbers.has(tally)) numbers.set(tally, numbers.size);
    const key = `${numbers.get(tally)} ${pairKey(pair)}`;
    const known = byPair.get(key);
    if (known === undefined) byPair.set(key, [bucket]);
    else known.push(bucket);
    if (breaks.isDone()) await breaks.breathe();
  }
  for (const buckets of byPair.values()) {
    const { tally, pair } = buckets[0]!;
    const { plan } = tally;
    const pieces = buckets
      .sort((a, b) => a.start - b.start)
      .flatMap(({ start }) => {
        const from = Math.max(start, plan.start);
        return stretchesWithin(plan, from, Math.min(start + QUARTER_MS, plan.end), true);
      });
    for (const piece of joined(pieces)) rest.add(tally, pair, piece);
    if (breaks.isDone()) await breaks.breathe();
  }
}

/** Joins neighbouring pieces of one cell. */
function joined(pieces: readonly CellStretch[]): CellStretch[] {
  const result: CellStretch[] = [];
  for (const piece of pieces) {
    const last = result.at(-1);
    if (last !== undefined && last.end === piece.start && last.cell === piece.cell)
      result[result.length - 1] = { ...last, end: piece.end };
    else result.push(piece);
  }
  return result;
}

/** Joins pieces of one cell over the time between them, which has no rows. */
function bridged(pieces: readonly CellStretch[]): CellStretch[] {
  const result: CellStretch[] = [];
  for (const piece of joined(pieces)) {
    const last = result.at(-1);
    if (last !== undefined && last.cell === piece.cell && piece.cell !== null)
      result[result.length - 1] = { ...last, end: piece.end };
    else result.push(piece);
  }
  return result;
}

/** Cuts a range at the borders of cells, or keeps it whole if its minutes are summed separately. */
function stretchesWithin(
  plan: PlannedQuery,
  start: number,
  end: number,
  mayUseMinutes: boolean,
): CellStretch[] {
  const first = cellAt(plan.cells, start);
  const last = cellAt(plan.cells, end - 1);
  if (first === last) return [{ start, end, cell: first }];
  const pieces: CellStretch[] = [];
  let areMinutes = mayUseMinutes;
  for (let cell = first; cell <= last; cell += 1) {
    const at = plan.cells[cell]!;
    pieces.push({ start: Math.max(start, at.start), end: Math.min(end, at.end), cell });
    if (cell > first && at.start % MINUTE_MS !== 0) areMinutes = false;
  }
  return areMinutes ? [{ start, end, cell: null }] : pieces;
}
