import type { BillingSettings } from '../api/deps.ts';
import type { Pool } from '../postgres/client.ts';
import { forgetExpired } from '../postgres/tables/forget-expired.ts';
import type { Job } from './job.ts';

interface ForgetDeps {
  readonly pool: Pool;
  readonly settings?: Pick<BillingSettings, 'webhook_delivery_days'>;
}

/** Deletes temporary records: answers for repeats, failed logins, ended sessions, uploads, e-mails, deliveries. */
export const forgetExpiredRecords: Job<ForgetDeps> = {
  name: 'forget-expired-records',
  cron: '43 * * * *',
  async run({ pool, settings }, { signal }) {
    const totals: Record<string, number> = {};
    for (;;) {
      const page = Object.entries(await forgetExpired(pool, settings?.webhook_delivery_days));
      for (const [kind, count] of page) totals[kind] = (totals[kind] ?? 0) + count;
      if (page.every(([, count]) => count === 0) || signal.aborted) return totals;
    }
  },
};
