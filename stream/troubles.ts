const FRESH_MS = 30_000;

/**
 * Partitions that were assigned to this process and that it could not read. An error repeats every few
 * seconds while its cause lasts. If it does not repeat, another process has taken over, and the entry
 * expires.
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

  /** Partitions with a current error, ascending, with the reason. */
  current(): { readonly partition: number; readonly reason: string }[] {
    const since = this.#now() - FRESH_MS;
    return [...this.#byPartition]
      .filter(([, { at }]) => at >= since)
      .map(([partition, { error }]) => ({ partition, reason: error.message }))
      .sort((a, b) => a.partition - b.partition);
  }
}
