import type { Pool } from '../postgres/client.ts';
import { forgetExpired } from '../postgres/tables/forget-expired.ts';
import type { Job } from './job.ts';

/** Deletes temporary records: answers for repeats, failed logins, ended sessions, uploads, e-mails. */
export const forgetExpiredRecords: Job<{ readonly pool: Pool }> = {
  name: 'forget-expired-records',
  cron: '43 * * * *',
  async run({ pool }, { signal }) {
    const totals: Record<string, number> = {};
    for (;;) {
      const page = Object.entries(await forgetExpired(pool));
      for (const [kind, count] of page) totals[kind] = (totals[kind] ?? 0) + count;
      if (page.every(([, count]) => count === 0) || signal.aborted) return totals;
    }
  },
};
