/** One epoch of the event log: the time between two resizes. */
export interface LogEpoch {
  readonly epoch: number;
  /** Number of partitions; fixed for the epoch's life. */
  readonly partitions: number;
  /**
   * End offset of each partition, by partition number; null while the epoch accepts records. A partition's
   * end
   * is null until the reader has compared the partition's records with what it has handled.
   */
  readonly ends: readonly (bigint | null)[] | null;
}

/** How far a reader has read. Missing partitions are at 0. */
export interface ReaderProgress {
  passed(epoch: number, partition: number): bigint;
  /** Whether records of the partition must be read again. */
  replays(epoch: number, partition: number): boolean;
}

/**
 * The epoch that a reader reads next: the oldest one that it has not drained (metering 3). A closed
 * epoch is drained when the reader's own progress has reached the noted end of every partition and no
 * partition must be replayed. The committed offsets in the log do not decide: a commit can be lost after
 * the reader saved its progress, or expire. `epochs` ascend; the last one is open.
 */
export function epochToRead(epochs: readonly LogEpoch[], progress: ReaderProgress): number {
  const undrained = epochs.find((epoch) => !isDrained(epoch, progress));
  return (undrained ?? epochs.at(-1)!).epoch;
}

function isDrained({ epoch, ends }: LogEpoch, progress: ReaderProgress): boolean {
  return (
    ends !== null &&
    ends.every(
      (end, partition) =>
        end !== null &&
        progress.passed(epoch, partition) >= end &&
        !progress.replays(epoch, partition),
    )
  );
}

/**
 * The epochs with the ends that the reader has noted, by `epoch/partition`; null where it has noted none.
 * Ends from the log are not used: the log may have lost its tail, and received other records, before the
 * epoch was closed.
 */
export function withNotedEnds(
  epochs: readonly LogEpoch[],
  noted: ReadonlyMap<string, { readonly end: bigint }>,
): LogEpoch[] {
  return epochs.map(({ epoch, partitions, ends }) => ({
    epoch,
    partitions,
    ends: ends?.map((_, partition) => noted.get(`${epoch}/${partition}`)?.end ?? null) ?? null,
  }));
}
