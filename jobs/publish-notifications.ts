import { isoTime, type Clock } from '../platform/clock.ts';
import { failpoint } from '../platform/failpoint.ts';
import type { NotificationLog } from '../platform/event-log/notification-log.ts';
import { bodyOf } from '../platform/outbound/send-notification.ts';
import type { Pool } from '../postgres/client.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import { noteLogged, unloggedNotifications } from '../postgres/tables/outbox.ts';
import type { Job } from './job.ts';

export interface PublishNotificationsDeps {
  readonly pool: Pool;
  readonly clock: Clock;
  readonly notificationLog: NotificationLog;
}

/** Notifications per append. */
const PAGE = 500;

/**
 * Appends notifications to the log of notifications, in their order (money 17.6). They are marked after the
 * log has acknowledged them. If the process is killed in between, they are appended again with the same ids.
 * Runs only where the event log is on Kafka.
 */
export const publishNotifications: Job<PublishNotificationsDeps> = {
  name: 'publish-notifications',
  cron: '* * * * * *',
  async run({ pool, clock, notificationLog }, run) {
    const report = { published: 0 };
    while (!run.signal.aborted) {
      const page = await unloggedNotifications(pool, PAGE);
      if (page.length === 0) break;
      await notificationLog.append(
        page.map((row) => ({
          id: row.event_id,
          entity: `${row.entity_type}:${row.entity_id}`,
          value: bodyOf(row),
          headers: {
            event_type: row.event_type,
            tenant_id: row.tenant_id,
            environment_id: row.environment_id,
          },
        })),
      );
      failpoint('jobs.publish_notifications.before_commit');
      await pool.begin(async (tx) => {
        await holdJobLease(tx, run.lease);
        const sequences = page.map(({ sequence }) => sequence);
        await noteLogged(tx, sequences, isoTime(clock.now()));
      });
      report.published += page.length;
    }
    return report;
  },
};
