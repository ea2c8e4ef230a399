/** One epoch of the event log: the time between two resizes. */
export interface LogEpoch {
  readonly epoch: number;
  /** How many partitions it has; fixed for its life. */
  readonly partitions: number;
  /**
   * Where each partition ends, by partition number; null while the epoch takes records. The end of a
   * partition is null while the reader has not compared what it holds with what it has handled of it.
   */
  readonly ends: readonly (bigint | null)[] | null;
}

/** How far a reader has come. Missing partitions stand at 0. */
export interface ReaderProgress {
  passed(epoch: number, partition: number): bigint;
  /** Whether records of the partition must be read again. */
  replays(epoch: number, partition: number): boolean;
}

/**
 * The epoch that a reader reads next: the oldest one that it has not drained (metering 3). A closed
 * epoch is drained when the reader's own progress has reached the noted end of every partition and nothing
 * of it is to be replayed. What the log remembers of the reader does not decide: a commit may be lost
 * between the reader's progress and the log, or expire. `epochs` ascend; the last one is open.
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
 * The epochs with the ends that the reader has noted, by `epoch/partition`, and null where it has noted none.
 * The log's own word does not count before that: it may have lost its tail, and got other records, before
 * the epoch was closed.
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
