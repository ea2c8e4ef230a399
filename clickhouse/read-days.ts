import type { WatermarkVector } from '../domain/metering/position.ts';
import {
  daySeals,
  readDaySum,
  readUnusableDay,
  sumDays,
  unusableDays,
  type DaySum,
  type SealVectors,
  type UnusableDay,
} from './queries/sealed-days.ts';
import { stateNeeds, type StateNeeds } from './queries/usage-buckets.ts';
import { pairKey, type UsagePair, type UsageScope } from './queries/usage-scope.ts';
import { RowBinaryReader } from './row-binary.ts';
import { readBuckets } from './usage-buckets.ts';
import { UsageMoved } from './usage-errors.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import { soleCell, type PlannedQuery } from './usage-plan.ts';
import type { UsageTally } from './usage-tally.ts';

const DAY_MS = 86_400_000;
const ceilDay = (ms: number) => Math.ceil(ms / DAY_MS) * DAY_MS;
const floorDay = (ms: number) => Math.floor(ms / DAY_MS) * DAY_MS;

/** A touched day of one pair that a question can not take from its bucket. */
export interface OpenDay {
  readonly tally: UsageTally;
  readonly pair: UsagePair;
  readonly start: number;
}

/**
 * Adds what sealed days hold to the tallies, added up where they lie, and answers the days that are
 * left: those that can not be used, and those that no cell holds whole. Ninety days of a thousand
 * customers are a million rows, and an answer some dozens.
 *
 * Two statements look at the days side by side, one at their marks and one at their sums. A day that
 * was sealed anew in between would be judged by one row and counted by another: each names the stored
 * rows it met by a sum of hashes, and when those differ the read starts over (`UsageMoved`).
 */
export async function readDays(
  deps: ReadUsageDeps,
  base: UsageScope,
  tallies: readonly UsageTally[],
): Promise<OpenDay[]> {
  const { clickhouse, options, sealed } = deps;
  const needs = stateNeeds(new Set(tallies.map((tally) => tally.plan.query.aggregation)));
  const edges = edgeDays(tallies);
  const [touchedEdges, seals] = await Promise.all([
    edges.length === 0
      ? []
      : readBuckets(deps, 'DAY', { ...base, days: edges }, null).then((found) => [
          ...found.values(),
        ]),
    clickhouse.rows<[string]>(daySeals(base), options),
  ]);
  const vectors = boundedBy(await sealed.vectorsOf(seals.map(([seal]) => BigInt(seal))), sealed.at);
  const sums = (without: readonly UnusableDay[]) =>
    readSums(deps, base, tallies, needs, vectors, without);
  const [judged, guess] = await Promise.all([
    clickhouse.bytes(unusableDays(base, vectors), 'RowBinary', options),
    sums([]),
  ]);
  const { unusable, usable } = judgedDays(judged);
  const stored = unusable.filter((day) => day.row_count > 0);
  const met = stored.length === 0 ? guess : await sums(stored);
  const total = met.reduce(
    ({ count, hash }, sum) => ({ count: count + sum.row_count, hash: hash + sum.row_hash }),
    { count: 0, hash: 0n },
  );
  if (total.count !== usable.count || BigInt.asUintN(64, total.hash) !== usable.hash)
    throw new UsageMoved();
  addSums(tallies, met);
  return [
    ...openDays(tallies, unusable, (plan, start) => isWhole(plan, start)),
    ...openDays(
      tallies,
      touchedEdges.flatMap((pair) => pair.buckets.map(({ start }) => ({ ...pair, start }))),
      (plan, start) => !isWhole(plan, start),
    ),
  ];
}

async function readSums(
  { clickhouse, options }: ReadUsageDeps,
  scope: UsageScope,
  tallies: readonly UsageTally[],
  needs: StateNeeds,
  vectors: SealVectors,
  without: readonly UnusableDay[],
): Promise<DaySum[]> {
  const places = tallies.flatMap(({ plan }) => [
    ...plan.groups,
    ...[plan.include, ...plan.exclude].flatMap((filters) => filters.map(({ index }) => index)),
  ]);
  const query = sumDays({
    scope,
    needs,
    borders: bordersOf(scope, tallies),
    tellsDimensions: places.some((place) => place >= 0),
    tellsSources: places.some((place) => place < 0),
    vectors,
    without,
  });
  const bytes = await clickhouse.bytes(query, 'RowBinary', options);
  const sums: DaySum[] = [];
  for (const reader = new RowBinaryReader(bytes); !reader.done;)
    sums.push(readDaySum(reader, needs));
  return sums;
}

function judgedDays(bytes: Buffer) {
  const unusable: UnusableDay[] = [];
  let usable = { count: 0, hash: 0n };
  for (const reader = new RowBinaryReader(bytes); !reader.done;) {
    const day = readUnusableDay(reader);
    if (day.meter_version_id === '') usable = { count: day.row_count, hash: day.row_hash };
    else unusable.push(day);
  }
  return { unusable, usable };
}

/** A bucket that is read below an older vector must have no mark beyond either. */
function boundedBy(vectors: SealVectors, at: WatermarkVector | null): SealVectors {
  if (at === null) return vectors;
  const smaller = (vector: WatermarkVector): WatermarkVector =>
    Object.fromEntries(
      Object.entries(vector).map(([partition, position]) => {
        const bound = at[Number(partition)] ?? 0n;
        return [partition, position < bound ? position : bound];
      }),
    );
  return new Map([...vectors].map(([seal, vector]) => [seal, smaller(vector)]));
}

/** Where cells begin and end to hold whole days, and the scope's start. */
function bordersOf(scope: UsageScope, tallies: readonly UsageTally[]): number[] {
  const borders = new Set([scope.start]);
  for (const { plan } of tallies) {
    for (const { start, end } of plan.cells) {
      borders.add(ceilDay(start)).add(floorDay(end));
    }
  }
  return [...borders].sort((a, b) => a - b);
}

/** Days that some question cuts. */
function edgeDays(tallies: readonly UsageTally[]): number[] {
  const days = new Set<number>();
  for (const { plan } of tallies) {
    for (const { start, end } of plan.cells) {
      if (start % DAY_MS !== 0) days.add(floorDay(start));
      if (end % DAY_MS !== 0) days.add(floorDay(end));
    }
  }
  return [...days].sort((a, b) => a - b);
}

function addSums(tallies: readonly UsageTally[], sums: readonly DaySum[]): void {
  const byPair = new Map<string, DaySum[]>();
  for (const sum of sums) {
    const known = byPair.get(pairKey(sum));
    if (known === undefined) byPair.set(pairKey(sum), [sum]);
    else known.push(sum);
  }
  for (const tally of tallies) {
    const { cells, query } = tally.plan;
    for (const external_customer_id of new Set(query.external_customer_ids ?? [''])) {
      const own = byPair.get(
        pairKey({ meter_version_id: query.meter_version_id, external_customer_id }),
      );
      for (const sum of own ?? []) {
        const cell = wholeCell(tally.plan, sum.slot);
        if (cell !== null && cells[cell] !== undefined) tally.add(cell, sum);
      }
    }
  }
}

function openDays(
  tallies: readonly UsageTally[],
  days: readonly (UsagePair & { readonly start: number })[],
  isOpen: (plan: PlannedQuery, start: number) => boolean,
): OpenDay[] {
  const byVersion = new Map<string, (UsagePair & { readonly start: number })[]>();
  const byPair = new Map<string, (UsagePair & { readonly start: number })[]>();
  for (const day of days) {
    push(byVersion, day.meter_version_id, day);
    push(byPair, pairKey(day), day);
  }
  return tallies.flatMap((tally) => {
    const { plan } = tally;
    const { meter_version_id, external_customer_ids } = plan.query;
    const own =
      external_customer_ids === null
        ? (byVersion.get(meter_version_id) ?? [])
        : [...new Set(external_customer_ids)].flatMap(
            (external_customer_id) =>
              byPair.get(pairKey({ meter_version_id, external_customer_id })) ?? [],
          );
    return own
      .filter(({ start }) => start + DAY_MS > plan.start && start < plan.end && isOpen(plan, start))
      .map(({ external_customer_id, start }) => ({
        tally,
        pair: { external_customer_id, meter_version_id },
        start,
      }));
  });
}

function push<Value>(map: Map<string, Value[]>, key: string, value: Value): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [value]);
  else known.push(value);
}

const isWhole = (plan: PlannedQuery, start: number): boolean => wholeCell(plan, start) !== null;

/** The one cell that holds all of the UTC day, or null. */
function wholeCell(plan: PlannedQuery, start: number): number | null {
  return soleCell(plan, start, start + DAY_MS);
}
