const FRESH_MS = 30_000;

/**
 * Partitions that this process was given and could not read. A refusal is repeated every few seconds while
 * its cause lasts; one that is not repeated was another process's to solve and is forgotten.
 */
export class Troubles {
  readonly #now: () => number;
  readonly #byPartition = new Map<number, { readonly at: number; readonly error: Error }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  note(partition: number, error: Error): void {
    this.#byPartition.set(partition, { at: this.#now(), error });
  }

  /** A batch of the partition was processed. */
  solved(partition: number): void {
    this.#byPartition.delete(partition);
  }

  /** Partitions that are refused now, ascending, and why. */
  current(): { readonly partition: number; readonly reason: string }[] {
    const since = this.#now() - FRESH_MS;
    return [...this.#byPartition]
      .filter(([, { at }]) => at >= since)
      .map(([partition, { error }]) => ({ partition, reason: error.message }))
      .sort((a, b) => a.partition - b.partition);
  }
}
