import type { EventLog } from '../platform/event-log/event-log.ts';
import type { Pool } from '../postgres/client.ts';
import { forgetOldProgress, readLogRetention } from '../postgres/tables/log-retention.ts';
import type { Job } from './job.ts';

export interface ExpireLogRecordsDeps {
  readonly pool: Pool;
  readonly eventLog: EventLog;
}

/**
 * Deletes records of every epoch that the stream passed more than 24 hours ago (metering 3). The bound only
 * grows and is read from committed progress, so a repeated or late truncation removes nothing that is needed.
 */
export const expireLogRecords: Job<ExpireLogRecordsDeps> = {
  name: 'expire-log-records',
  cron: '17 * * * *',
  async run({ pool, eventLog }, { signal }) {
    let partitions = 0;
    for (const { epoch } of await eventLog.epochs()) {
      const retention = await readLogRetention(pool, epoch);
      for (const { partition, offset } of retention.filter(({ offset }) => offset > 0n)) {
        if (signal.aborted) break;
        await eventLog.truncate(partition, offset, epoch);
        partitions += 1;
      }
    }
    await forgetOldProgress(pool);
    return { partitions };
  },
};
