/**
 * Whether the log is the one that the reader read before. A position names one event permanently
 * (metering 3). A log that lost its tail, or a database restored to an earlier state, assigns offsets a
 * second time. Reading on would lose the events at those offsets, or count them under positions of other
 * events.
 */
export type LogFault =
  /** Records left the log before they were handled. */
  | 'records_missing'
  /** The log ends before the offset that was handled, stored or recorded. */
  | 'log_too_short'
  /** The log has a different record at the last handled offset. */
  | 'another_record'
  /** Rows of other events are stored under positions that the log assigns now. */
  | 'positions_used'
  /** A later epoch has been read, but this epoch has new records. */
  | 'epoch_behind';

/** What a reader's own store holds about one partition. */
export interface HandledLog {
  /** Everything below has been handled. */
  readonly nextOffset: bigint;
  /** CRC-32 of the record before `nextOffset`; null means unknown. */
  readonly lastCrc: number | null;
  /** The greatest offset with rows stored beyond `nextOffset`, by an unfinished batch; null means none. */
  readonly storedUpTo: bigint | null;
  /** The recorded end of a closed epoch; null means open or not recorded. */
  readonly recordedEnd: bigint | null;
}

/** What the log holds for the partition. */
export interface KeptLog {
  /** The oldest offset in the log. */
  readonly first: bigint;
  /** The offset of the next record. */
  readonly next: bigint;
  /** CRC-32 of the record before the handled offset; null means no longer in the log, or not yet read. */
  readonly lastCrc: number | null;
}

/** Why reading must stop; null means the log is the one that was read before. */
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

/** Description of each fault in messages for people. */
export const LOG_FAULT_TEXT: Readonly<Record<LogFault, string>> = {
  records_missing: 'records that were not processed have left the log',
  log_too_short: 'the log ends before records that were processed',
  another_record: 'the log holds another record where the last processed one was',
  positions_used: 'the usage store holds other events at positions of this log',
  epoch_behind: 'the log is at an epoch before one that was processed',
};
