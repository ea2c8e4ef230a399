import type { LogHead } from '../domain/metering/log-heads.ts';
import type { LogPartition } from '../postgres/tables/stream-progress.ts';

/**
 * How long records have waited without progress of their partition, measured between calls: the arrival time
 * of a record is not known, and the last progress of an idle partition may be old.
 */
export class StuckWatch {
  #seen = new Map<string, { readonly passed: bigint; readonly since: number }>();

  /** The longest wait in milliseconds; 0 when no records wait. */
  look(
    heads: readonly LogHead[],
    progress: readonly (LogPartition & { readonly nextOffset: bigint })[],
    now: number,
  ): number {
    const passedOf = new Map<string, bigint>(
      progress.map((at) => [`${at.epoch}/${at.partition}`, at.nextOffset]),
    );
    const seen = new Map<string, { passed: bigint; since: number }>();
    for (const { epoch, partition, next } of heads) {
      const key = `${epoch}/${partition}`;
      const passed = passedOf.get(key) ?? 0n;
      if (passed >= next) continue;
      const known = this.#seen.get(key);
      seen.set(key, known?.passed === passed ? known : { passed, since: now });
    }
    this.#seen = seen;
    return Math.max(0, ...[...seen.values()].map(({ since }) => now - since));
  }
}
