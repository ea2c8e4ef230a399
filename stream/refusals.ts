import { LOG_FAULT_TEXT, type LogFault } from '../domain/metering/log-identity.ts';
import type { LogBatch } from '../platform/event-log/event-log.ts';
import type { LogPartition } from '../postgres/tables/stream-progress.ts';

/** The partition waits for a process that can read the record; it is given up and retried. */
export class RecordOfNewerSchema extends Error {
  constructor({ partition, records }: LogBatch, index: number) {
    super(
      `Record ${records[index]!.offset} of partition ${partition} was written by a newer version; it waits for one.`,
    );
    this.name = 'RecordOfNewerSchema';
  }
}

/** The log of the partition is not the one that was read; an operator must decide how to continue. */
export class PartitionStopped extends Error {
  constructor({ epoch, partition }: LogPartition, fault: LogFault) {
    super(
      `Partition ${partition} of epoch ${epoch} is stopped: ${LOG_FAULT_TEXT[fault]}. ` +
        '`npm run maintain -- log` lists the ways to continue.',
    );
    this.name = 'PartitionStopped';
  }
}
