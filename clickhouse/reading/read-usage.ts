import { stateNeeds } from '../queries/usage-buckets.ts';
import { pairKey, type Range, type UsageScope } from '../queries/usage-scope.ts';
import { readAllCustomers, type OpenPairs } from './read-all-customers.ts';
import type { FewRows } from './few-rows.ts';
import { LikelyRows } from './likely-rows.ts';
import type { SeenQuarters } from './open-days.ts';
import { Pieces } from './pieces.ts';
import { readDays } from './read-days.ts';
import { goingByQuarters, readQuarters } from './read-quarters.ts';
import { addOpenQuarters, addQuarters, seenQuarters } from './open-quarters.ts';
import { readRowParts } from './read-rows.ts';
import type { OpenBucket } from './read-sums.ts';
import { readUniques } from './read-uniques.ts';
import {
  readBuckets,
  readDaysAndQuarters,
  type FoundBuckets,
  type PairBuckets,
} from './read-buckets.ts';
import { Remainder, UniqueParts, type ReadUsageDeps } from './usage-parts.ts';
import { scopeOfDays, scopeOfTallies } from './reading-scope.ts';
import { cellAt, soleCell, type PlannedQuery } from '../queries/plan-query.ts';
import type { UsageTally } from './usage-tally.ts';

const DAY_MS = 86_400_000;

/**
 * Adds the usage of one group of queries to their tallies: first usable days, then usable quarter hours of
 * the other days, then single rows for the rest. Each bucket is judged once, for all queries. The usage of a
 * few customers with few rows is read from the rows alone.
 */
export async function readUsage(
  deps: ReadUsageDeps & { readonly fewRows: FewRows },
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
  const isOfSums = !asked.some(({ plan }) => isUnique(plan));
  if (!isWide && isOfSums && (await deps.fewRows.read(deps, base, asked, needs))) return;
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
    const scope = scopeOfDays(
      base,
      open.map(({ pair, start }) => ({ ...pair, day: start })),
    );
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
