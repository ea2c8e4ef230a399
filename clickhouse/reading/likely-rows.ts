import type { StateNeeds, UsagePart } from '../queries/usage-buckets.ts';
import type { RowStretch } from '../queries/usage-rows.ts';
import { soleCell } from '../queries/plan-query.ts';
import { pairKey, type UsagePair, type UsageScope } from '../queries/usage-scope.ts';
import type { LikelyTime } from './open-days.ts';
import { readRowParts } from './read-rows.ts';
import type { OpenBucket } from './read-sums.ts';
import type { ReadUsageDeps } from './usage-parts.ts';
import type { UsageTally } from './usage-tally.ts';

const DAY_MS = 86_400_000;

/** The rows of a pair in one likely open day that lie in one cell of a query. */
interface DayRows {
  /** Index of its range in the list. */
  readonly stretch: number;
  readonly cell: number;
}

/**
 * The single rows of the likely open time, read together with the marks that tell whether they are needed: this saves a
 * round of statements. Rows below the bounds are exact whatever is sealed, so a day that turns out to be open takes
 * them in place of its quarter hours; other days ignore them. A failed read covers nothing.
 */
export class LikelyRows {
  readonly #from: number;
  readonly #stretches: RowStretch[] = [];
  readonly #days = new Map<UsageTally, Map<string, DayRows>>();
  #parts: UsagePart[][] | null = null;

  constructor(tallies: readonly UsageTally[], { rows_from, end }: LikelyTime) {
    this.#from = rows_from;
    const numbers = new Map<string, number>();
    const firstDay = Math.floor(rows_from / DAY_MS) * DAY_MS;
    for (const tally of tallies) {
      const { query } = tally.plan;
      if (query.aggregation === 'COUNT_UNIQUE') continue;
      const own = new Map<string, DayRows>();
      this.#days.set(tally, own);
      const { meter_version_id } = query;
      for (const external_customer_id of new Set(query.external_customer_ids))
        for (let day = firstDay; day < end; day += DAY_MS) {
          const pair = { external_customer_id, meter_version_id };
          const found = this.#rowsOf(tally, pair, day, end, numbers);
          if (found !== null) own.set(keyOf(pair, day), found);
        }
    }
  }

  #rowsOf(
    { plan }: UsageTally,
    pair: UsagePair,
    day: number,
    likelyEnd: number,
    numbers: Map<string, number>,
  ): DayRows | null {
    const start = Math.max(this.#from, day, plan.start);
    const end = Math.min(day + DAY_MS, likelyEnd, plan.end);
    const cell = start < end ? soleCell(plan, start, end) : null;
    if (cell === null) return null;
    const key = `${start} ${end} ${pairKey(pair)}`;
    const stretch = numbers.get(key) ?? this.#stretches.length;
    if (stretch === this.#stretches.length) {
      numbers.set(key, stretch);
      this.#stretches.push({ ...pair, start, end, by_minute: false });
    }
    return { stretch, cell };
  }

  /** Reads the rows. Never rejects. */
  async read(deps: ReadUsageDeps, base: UsageScope, needs: StateNeeds): Promise<void> {
    const parts = this.#stretches.map((): UsagePart[] => []);
    try {
      await readRowParts(deps, base, this.#stretches, needs, (stretch, _slot, part) =>
        parts[stretch]!.push(part),
      );
      this.#parts = parts;
    } catch {
      // The round that follows reads what is needed, and fails for the same reason if that cannot be read.
    }
  }

  /**
   * Adds the rows of an open day. Returns the time from which on the day is complete: the start of a quarter hour, or
   * infinity if nothing was added.
   */
  addTo({ tally, pair, start }: OpenBucket): number {
    const day = this.#days.get(tally)?.get(keyOf(pair, start));
    if (this.#parts === null || day === undefined) return Infinity;
    for (const part of this.#parts[day.stretch]!)
      tally.add(day.cell, part, pair.external_customer_id);
    return Math.max(this.#from, start);
  }
}

const keyOf = (pair: UsagePair, day: number): string => `${day} ${pairKey(pair)}`;
