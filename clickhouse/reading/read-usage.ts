import { stateNeeds } from '../queries/usage-buckets.ts';
import { pairKey, type Range, type UsagePair, type UsageScope } from '../queries/usage-scope.ts';
import { readAllCustomers, type OpenPairs } from './read-all-customers.ts';
import { LikelyRows } from './likely-rows.ts';
import type { SeenQuarters } from './open-days.ts';
import { Pieces } from './pieces.ts';
import { readDays } from './read-days.ts';
import { goingByQuarters, readQuarters } from './read-quarters.ts';
import { readRowParts } from './read-rows.ts';
import type { OpenBucket } from './read-sums.ts';
import { readUniques } from './read-uniques.ts';
import {
  readBuckets,
  readDaysAndQuarters,
  type FoundBuckets,
  type PairBuckets,
} from './read-buckets.ts';
import { Remainder, UniqueParts, type CellStretch, type ReadUsageDeps } from './usage-parts.ts';
import { scopeOfTallies } from './scope-of-tallies.ts';
import { cellAt, soleCell, type PlannedQuery } from '../queries/plan-query.ts';
import type { UsageTally } from './usage-tally.ts';

const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;
const MINUTE_MS = 60_000;

/**
 * Adds the usage of one group of queries to their tallies: first usable days, then usable quarter hours of
 * the other days, then single rows for the rest. Each bucket is judged once, for all queries.
 */
export async function readUsage(
  deps: ReadUsageDeps,
  tallies: readonly UsageTally[],
): Promise<void> {
  const asked = tallies.filter((tally) => tally.plan.cells.length > 0);
  if (asked.length === 0) return;
  const rest = new Remainder();
  const base = scopeOfTallies(asked);
  const needs = stateNeeds(new Set(asked.map((tally) => tally.plan.query.aggregation)));
  const uniques = new UniqueParts();
  // Distinct values need a decision for each day. For a few pairs, all buckets are read at once, which saves
  // a statement; for many pairs, ClickHouse adds them up.
  const isWide = base.pairs === null || base.pairs.length > deps.fewPairs;
  const summed = isWide ? asked.filter(({ plan }) => !isUnique(plan)) : [];
  const byDays = summed.filter(({ plan }) => plan.uses_days);
  const byQuarters = goingByQuarters(summed);
  const isSummed = new Set([...byDays, ...byQuarters]);
  const judged = asked.filter((tally) => !isSummed.has(tally));
  const likely = isWide ? null : deps.openDays.likely(base);
  const likelyRows = likely === null ? null : new LikelyRows(judged, likely);
  const [openSummed, openJudged] = await Promise.all([
    readSummed(deps, base, byDays, byQuarters),
    judged.length === 0
      ? NONE
      : readJudgedDays(deps, scopeOfTallies(judged), judged, uniques, likely),
    likelyRows?.read(deps, base, needs),
  ]);
  await addOpenQuarters(openSummed.quarters, rest);
  const open = [...openSummed.days, ...openJudged.open];
  if (open.length > 0) {
    const scope = scopeOfOpenDays(base, open);
    const usesThem = open.some(({ tally }) => usesQuarters(tally.plan));
    const quarters =
      openJudged.quarters !== null && likely!.start <= scope.start && scope.end <= likely!.end
        ? openJudged.quarters
        : await readBuckets(deps, '15MIN', scope, usesThem ? needs : null);
    if (!isWide)
      deps.openDays.note(base, scope.days!, usesThem ? seenQuarters(open, quarters) : UNSEEN);
    const pieces = new Pieces();
    for (const day of open) {
      addQuarters(day, quarters, likelyRows?.addTo(day) ?? Infinity, rest, uniques);
      if (pieces.isDone()) await pieces.breathe();
    }
  }
  await readRowParts(deps, base, rest.stretches, needs, (stretch, slot, part) => {
    const { external_customer_id } = rest.stretches[stretch]!;
    for (const { tally, cell } of rest.takers[stretch]!) {
      tally.add(cell ?? cellAt(tally.plan.cells, slot), part, external_customer_id);
    }
  });
  await readUniques(deps, base, uniques);
}

/** Adds what ClickHouse adds up for many pairs or all customers; returns what it leaves open. */
async function readSummed(
  deps: ReadUsageDeps,
  { pairs }: UsageScope,
  byDays: readonly UsageTally[],
  byQuarters: readonly UsageTally[],
): Promise<OpenPairs> {
  if (pairs === null) return await readAllCustomers(deps, byDays, byQuarters);
  const [days, quarters] = await Promise.all([
    byDays.length === 0 ? [] : readDays(deps, scopeOfTallies(byDays), byDays),
    byQuarters.length === 0 ? [] : readQuarters(deps, scopeOfTallies(byQuarters), byQuarters),
  ]);
  return { days, quarters };
}

interface JudgedDays {
  readonly open: readonly OpenBucket[];
  /** The quarter hours that were read together with the days; null if none were. */
  readonly quarters: FoundBuckets | null;
}

const NONE: JudgedDays = { open: [], quarters: null };

/** Days for queries that check each bucket, or that contain no whole day; and the quarter hours of the likely time. */
async function readJudgedDays(
  deps: ReadUsageDeps,
  base: UsageScope,
  tallies: readonly UsageTally[],
  uniques: UniqueParts,
  likely: Range | null,
): Promise<JudgedDays> {
  const needs = stateNeeds(new Set(tallies.map((tally) => tally.plan.query.aggregation)));
  const usesDays = tallies.some((tally) => tally.plan.uses_days);
  const reads =
    usesDays && likely !== null && tallies.some(({ plan }) => usesQuarters(plan))
      ? await readDaysAndQuarters(deps, base, likely, needs)
      : { DAY: await readBuckets(deps, 'DAY', base, usesDays ? needs : null), '15MIN': null };
  const open = tallies.flatMap((tally) =>
    [...pairsOf(tally.plan, reads.DAY)].flatMap((pair) => addDays(tally, pair, uniques)),
  );
  return { open, quarters: reads['15MIN'] };
}

/** Adds the days within one cell from their buckets and returns the remaining touched days. */
function addDays(tally: UsageTally, pair: PairBuckets, uniques: UniqueParts): OpenBucket[] {
  const { plan } = tally;
  const open: OpenBucket[] = [];
  for (const bucket of pair.buckets) {
    if (bucket.start + DAY_MS <= plan.start || bucket.start >= plan.end) continue;
    const cell = soleCell(plan, bucket.start, bucket.start + DAY_MS);
    if (bucket.rows === null || cell === null) {
      open.push({ tally, pair, start: bucket.start });
      continue;
    }
    for (const row of bucket.rows) tally.add(cell, row, pair.external_customer_id);
    if (isUnique(plan)) {
      const expected = bucket.rows.reduce((sum, row) => sum + row.unique_count, 0);
      uniques.addDay(tally, cell, pair, bucket, expected);
    }
  }
  return open;
}

const UNSEEN: SeenQuarters = { sealed_until: null, open_from: null };

/** What the quarter hours of open days tell about how far the sealer has come. */
function seenQuarters(open: readonly OpenBucket[], quarters: FoundBuckets): SeenQuarters {
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
function addQuarters(
  { tally, pair, start }: OpenBucket,
  quarters: ReadonlyMap<string, PairBuckets>,
  until: number,
  rest: Remainder,
  uniques: UniqueParts,
): void {
  const { plan } = tally;
  const countsUnique = isUnique(plan);
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
async function addOpenQuarters(open: readonly OpenBucket[], rest: Remainder): Promise<void> {
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

const isUnique = (plan: PlannedQuery): boolean => plan.query.aggregation === 'COUNT_UNIQUE';

function usesQuarters(plan: PlannedQuery): boolean {
  const size = plan.query.window?.bucket_size;
  return size !== 'MINUTE' && !isUnique(plan);
}

function* pairsOf(
  plan: PlannedQuery,
  found: ReadonlyMap<string, PairBuckets>,
): Generator<PairBuckets> {
  const { meter_version_id, external_customer_ids } = plan.query;
  if (external_customer_ids === null) {
    for (const pair of found.values()) if (pair.meter_version_id === meter_version_id) yield pair;
    return;
  }
  for (const external_customer_id of new Set(external_customer_ids)) {
    const pair = found.get(pairKey({ meter_version_id, external_customer_id }));
    if (pair !== undefined) yield pair;
  }
}

function scopeOfOpenDays(base: UsageScope, open: readonly OpenBucket[]): UsageScope {
  const pairs = new Map<string, UsagePair>();
  const days = new Set<number>();
  for (const { pair, start } of open) {
    pairs.set(pairKey(pair), pair);
    days.add(start);
  }
  const sorted = [...days].sort((a, b) => a - b);
  return {
    ...base,
    pairs: [...pairs.values()],
    start: sorted[0]!,
    end: sorted.at(-1)! + DAY_MS,
    days: sorted,
  };
}
