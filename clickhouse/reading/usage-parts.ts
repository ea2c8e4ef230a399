import type { WatermarkVector } from '../../domain/metering/position.ts';
import type { ClickHouse, ReadOptions } from '../client.ts';
import type { RowBounds } from '../queries/row-bounds.ts';
import type { UniqueDay, UniqueQuestion, UniqueStretch } from '../queries/unique-counts.ts';
import type { RowStretch } from '../queries/usage-rows.ts';
import { pairKey, type UsagePair } from '../queries/usage-scope.ts';
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

  addDay(
    tally: UsageTally,
    cell: number,
    pair: UsagePair,
    bucket: { readonly start: number; readonly seal: bigint },
    expected: number,
  ): void {
    const question = this.#question(tally);
    this.expected[question]! += expected;
    if (expected === 0) return;
    const { external_customer_id, meter_version_id } = pair;
    const { start: bucket_start, seal } = bucket;
    this.days.push({ external_customer_id, meter_version_id, question, cell, bucket_start, seal });
  }

  addStretch(
    tally: UsageTally,
    cell: number,
    pair: UsagePair,
    piece: { readonly start: number; readonly end: number },
  ): void {
    const question = this.#question(tally);
    const { external_customer_id, meter_version_id } = pair;
    const { start, end } = piece;
    this.stretches.push({
      external_customer_id, meter_version_id, start, end, by_minute: false, question, cell,
    }); // prettier-ignore
  }

  #question(tally: UsageTally): number {
    let question = this.tallies.indexOf(tally);
    if (question >= 0) return question;
    question = this.tallies.length;
    this.tallies.push(tally);
    const { include, exclude, groups } = tally.plan;
    this.questions.push({ include, exclude, groups });
    this.expected.push(0);
    return question;
  }
}
