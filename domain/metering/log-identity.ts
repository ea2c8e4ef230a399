/**
 * Whether the log that a reader finds is the one it has read before. A position names one event for
 * ever (metering 3); a log that lost its tail, or a database that was put back to an earlier state,
 * gives out offsets a second time. Reading on would lose the events of those offsets, or count them
 * under positions of others.
 */
export type LogFault =
  /** Records that were not handled have left the log. */
  | 'records_missing'
  /** The log ends before what was handled, stored or recorded. */
  | 'log_too_short'
  /** The last handled record is another one in this log. */
  | 'another_record'
  /** Rows of other events are stored under positions that the log gives out now. */
  | 'positions_used'
  /** A later epoch has been read, and records of this one are new. */
  | 'epoch_behind';

/** What a reader knows of one partition, from its own store. */
export interface HandledLog {
  /** Everything below has been handled. */
  readonly nextOffset: bigint;
  /** CRC-32 of the record before `nextOffset`; null: not known. */
  readonly lastCrc: number | null;
  /** The greatest offset whose rows are stored beyond `nextOffset`, by a batch that did not end; null: none. */
  readonly storedUpTo: bigint | null;
  /** Where a closed epoch was recorded to end; null: it is open, or nothing is recorded. */
  readonly recordedEnd: bigint | null;
}

/** What the log holds of the partition. */
export interface KeptLog {
  /** The first offset still kept. */
  readonly first: bigint;
  /** The offset the next record will get. */
  readonly next: bigint;
  /** CRC-32 of the record before the handled offset; null: it is no longer kept, or not read yet. */
  readonly lastCrc: number | null;
}

/** Why reading must not go on; null: this is the log that was read. */
export function logFault(handled: HandledLog, kept: KeptLog): LogFault | null {
  const { nextOffset, storedUpTo, recordedEnd } = handled;
  if (kept.first > nextOffset) return 'records_missing';
  if (kept.next < nextOffset) return 'log_too_short';
  if (recordedEnd !== null && kept.next < recordedEnd) return 'log_too_short';
  if (storedUpTo !== null && kept.next <= storedUpTo) return 'log_too_short';
  const isKnown = handled.lastCrc !== null && kept.lastCrc !== null;
  if (isKnown && handled.lastCrc !== kept.lastCrc) return 'another_record';
  return null;
}

/** What a sentence for a person says of a fault. */
export const LOG_FAULT_TEXT: Readonly<Record<LogFault, string>> = {
  records_missing: 'records that were not processed have left the log',
  log_too_short: 'the log ends before records that were processed',
  another_record: 'the log holds another record where the last processed one was',
  positions_used: 'the usage store holds other events at positions of this log',
  epoch_behind: 'the log is at an epoch before one that was processed',
};
