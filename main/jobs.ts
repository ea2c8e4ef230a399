import { createEventReader } from '../clickhouse/reading/event-reader.ts';
import { createEventEraser } from '../clickhouse/writing/event-eraser.ts';
import { createEventImport } from '../ingest/import-events.ts';
import { ALL_JOBS, jobDeps, type JobDeps } from '../jobs/all-jobs.ts';
import { jobMetrics } from '../platform/metrics.ts';
import { sendEmails, type SendEmailsDeps } from '../jobs/send-emails.ts';
import type { Job } from '../jobs/job.ts';
import {
  publishNotifications,
  type PublishNotificationsDeps,
} from '../jobs/publish-notifications.ts';
import { startScheduler } from '../jobs/scheduler.ts';
import { publicUrlOf } from '../platform/config.ts';
import { smtpMailer } from '../platform/mail/smtp.ts';
import { createEventFilters } from '../postgres/tables/event-filters.ts';
import { createCustomerTimes } from '../postgres/tables/test-clocks.ts';
import { STREAM_GROUP } from '../stream/consumer.ts';
import { runRole, type RunningRole } from './role.ts';
import { analyticsLimits, createRuntime, type Runtime } from './runtime.ts';

/** The scheduled work. Any number of processes may run it: one of them takes each tick. */
const runtime = createRuntime('jobs');
await runRole(runtime, () => start(runtime));

async function start(runtime: Runtime): Promise<RunningRole> {
  const { pool, log, instanceId } = runtime;
  const eventLog = await runtime.eventLog();
  const now = async (): Promise<string> => {
    const [row] = await pool<{ at: string }[]>`select clock_timestamp() as at`;
    return row!.at;
  };
  const importEvents = createEventImport({
    log: eventLog,
    clock: runtime.clock,
    customerTimes: createCustomerTimes(pool),
    filters: createEventFilters(pool, runtime.clock),
    limits: await importLimits(runtime),
  });
  const eventEraser = createEventEraser(runtime.clickhouse());
  const eventReader = createEventReader(runtime.clickhouse(), {
    analytics: analyticsLimits(runtime.config),
    turnsPerTenant: runtime.config.ANALYTICS_PER_TENANT,
  });
  const billing = await runtime.billingDeps();
  const deps = jobDeps(billing, eventLog, STREAM_GROUP, importEvents, {
    eventEraser,
    eventReader,
  });
  const { SMTP_URL, SMTP_FROM } = runtime.config;
  const mailer = SMTP_URL === undefined ? null : smtpMailer({ url: SMTP_URL, from: SMTP_FROM });
  const onReport = jobMetrics(runtime.registry);
  const runner = { pool, log, holder: instanceId, now, onReport };
  const publicUrl = publicUrlOf(runtime.config);
  const notificationLog = runtime.notificationLog();
  const jobs: Job<JobDeps & SendEmailsDeps & PublishNotificationsDeps>[] = [
    ...ALL_JOBS,
    ...(mailer === null ? [] : [sendEmails]),
    ...(notificationLog === null ? [] : [publishNotifications]),
  ];
  const scheduler = startScheduler(runner, jobs, {
    ...deps,
    publicUrl,
    // Jobs without their dependency are not in the list.
    mailer: mailer!,
    notificationLog: notificationLog!,
  });
  return {
    health: async () => ({ jobs: 'up' }),
    async drain() {
      await scheduler.stop();
      await mailer?.close();
      await runtime.close();
    },
  };
}

/**
 * Imports of files have a rate limit of their own, so that they do not slow down live events (metering 3).
 */
async function importLimits({ config, cache }: Runtime) {
  const perSecond = config.IMPORT_EVENTS_PER_SECOND;
  if (perSecond === 0) return null;
  return { limiter: (await cache()).limiter, perTenant: { perSecond, burst: perSecond } };
}
