import type { Pool } from '../postgres/client.ts';
import { forgetExpired } from '../postgres/tables/forget-expired.ts';
import type { Job } from './job.ts';

/** Deletes what was kept for a while only: answers for repeats, failed logins, ended sessions, uploads. */
export const forgetExpiredRecords: Job<{ readonly pool: Pool }> = {
  name: 'forget-expired-records',
  cron: '43 * * * *',
  async run({ pool }, { signal }) {
    const totals = { idempotency_keys: 0, login_failures: 0, sessions: 0, uploads: 0 };
    for (;;) {
      const page = await forgetExpired(pool);
      totals.idempotency_keys += page.idempotency_keys;
      totals.login_failures += page.login_failures;
      totals.sessions += page.sessions;
      totals.uploads += page.uploads;
      const deleted = page.idempotency_keys + page.login_failures + page.sessions + page.uploads;
      if (deleted === 0 || signal.aborted) return totals;
    }
  },
};
