import type { LogFault } from '../../domain/metering/log-identity.ts';
import type { Db } from '../client.ts';
import type { LogPartition } from './stream-progress.ts';

/** A partition that is not read any further until a person decides how to continue. */
export interface StreamStop extends LogPartition {
  readonly fault: LogFault;
  /** Its progress: everything below has been processed. */
  readonly next_offset: string;
  readonly stopped_at: string;
}

/** Stops a partition; an existing stop keeps its reason. */
export async function noteStop(
  db: Db,
  { epoch, partition }: LogPartition,
  fault: LogFault,
): Promise<void> {
  await db`
    insert into stream_stops (epoch, partition, fault, next_offset)
    select ${epoch}, ${partition}, ${fault}, coalesce(max(next_offset), 0)
      from stream_progress where epoch = ${epoch} and partition = ${partition}
    on conflict do nothing`;
}

export function readStops(db: Db): Promise<StreamStop[]> {
  return db<StreamStop[]>`
    select epoch, partition, fault, next_offset, stopped_at from stream_stops
     order by epoch, partition`;
}

/** Ends a stop. The stream's next assignment of the partition checks the log again from scratch. */
export async function endStop(db: Db, { epoch, partition }: LogPartition): Promise<void> {
  await db`delete from stream_stops where epoch = ${epoch} and partition = ${partition}`;
}
