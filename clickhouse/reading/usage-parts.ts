import type { WatermarkVector } from '../../domain/metering/position.ts';
import type { ClickHouse, ReadOptions } from '../client.ts';
import type { RowBounds } from '../queries/row-bounds.ts';
import type { UniqueDay, UniqueQuestion, UniqueStretch } from '../queries/unique-counts.ts';
import type { RowStretch } from '../queries/usage-rows.ts';
import { pairKey, type UsagePair } from '../queries/usage-scope.ts';
import { exclusionsOf } from '../queries/plan-query.ts';
import type { OpenDays } from './open-days.ts';
import type { UsageTally } from './usage-tally.ts';

/** Shared inputs of all statements of one read. */
export interface ReadUsageDeps {
  readonly clickhouse: ClickHouse;
  readonly bounds: RowBounds;
  readonly sealed: SealedVectors;
  /**
   * Up to this many pairs of customer and meter version, all days are read at once; beyond, ClickHouse adds
   * them up first.
   */
  readonly fewPairs: number;
  readonly openDays: OpenDays;
  readonly options: ReadOptions;
}

/** Inputs of the decision whether a bucket may be used; see `mayUseBucket`. */
export interface SealedVectors {
  /** Vectors of the given seals that were recorded when the watermarks were read. */
  vectorsOf(seals: readonly bigint[]): Promise<ReadonlyMap<bigint, WatermarkVector>>;
  /** Set when reading below an older vector: a bucket touched at or beyond it contains too much. */
  readonly at: WatermarkVector | null;
}

/** A range of time that is read from rows. */
export interface CellStretch {
  readonly start: number;
  readonly end: number;
  /** Null: several cells, with borders at whole minutes. */
  readonly cell: number | null;
}

/** Ranges of time to read from rows, each read once, however many queries need it. */
export class Remainder {
  readonly stretches: RowStretch[] = [];
  readonly takers: { tally: UsageTally; cell: number | null }[][] = [];
  readonly #numbers = new Map<string, number>();

  add(tally: UsageTally, pair: UsagePair, piece: CellStretch): void {
    const by_minute = piece.cell === null;
    const key = `${piece.start} ${piece.end} ${by_minute} ${pairKey(pair)}`;
    let number = this.#numbers.get(key);
    if (number === undefined) {
      number = this.stretches.length;
      this.#numbers.set(key, number);
      const { external_customer_id, meter_version_id } = pair;
      const { start, end } = piece;
      this.stretches.push({ external_customer_id, meter_version_id, start, end, by_minute });
      this.takers.push([]);
    }
    this.takers[number]!.push({ tally, cell: piece.cell });
  }
}

/** Inputs of COUNT_UNIQUE queries in addition to their tallies: distinct values cannot be added up. */
export class UniqueParts {
  readonly tallies: UsageTally[] = [];
  readonly questions: UniqueQuestion[] = [];
  readonly days: UniqueDay[] = [];
  readonly stretches: UniqueStretch[] = [];
  /** Number of stored values that each query must read. */
  readonly expected: number[] = [];
  readonly #numbers = new Map<string, number>();
  readonly #answers = new Map<UsageTally, number>();

  addDay(
    tally: UsageTally,
    cell: number,
    pair: UsagePair,
    bucket: { readonly start: number; readonly seal: bigint },
    expected: number,
  ): void {
    const question = this.#question(tally, cell, pair);
    if (question === null) return;
    this.expected[this.questions[question]!.answer]! += expected;
    if (expected === 0) return;
    const { external_customer_id, meter_version_id } = pair;
    const { start: bucket_start, seal } = bucket;
    const { whole } = tally.plan.cells[cell]!;
    this.days.push({
      external_customer_id, meter_version_id, question, cell: whole, bucket_start, seal,
    }); // prettier-ignore
  }

  addStretch(
    tally: UsageTally,
    cell: number,
    pair: UsagePair,
    piece: { readonly start: number; readonly end: number },
  ): void {
    const question = this.#question(tally, cell, pair);
    if (question === null) return;
    const { external_customer_id, meter_version_id } = pair;
    const { start, end } = piece;
    const { whole } = tally.plan.cells[cell]!;
    this.stretches.push({
      external_customer_id, meter_version_id, start, end, by_minute: false, question, cell: whole,
    }); // prettier-ignore
  }

  /** One question for each answer and each set of exclusions that applies; null if nothing can count. */
  #question(tally: UsageTally, cell: number, pair: UsagePair): number | null {
    const { plan } = tally;
    const applied = exclusionsOf(plan, cell, pair.external_customer_id);
    const excluded = applied.map((index) => plan.exclude_during[index]!.filters);
    if (excluded.some((filters) => filters.length === 0)) return null;
    const answer = this.#answer(tally);
    const key = `${answer} ${applied.join()}`;
    let question = this.#numbers.get(key);
    if (question === undefined) {
      question = this.questions.length;
      this.#numbers.set(key, question);
      const { include, exclude, groups } = plan;
      this.questions.push({ answer, include, exclude: [...exclude, ...excluded], groups });
    }
    return question;
  }

  #answer(tally: UsageTally): number {
    let answer = this.#answers.get(tally);
    if (answer === undefined) {
      answer = this.tallies.length;
      this.#answers.set(tally, answer);
      this.tallies.push(tally);
      this.expected.push(0);
    }
    return answer;
  }
}
