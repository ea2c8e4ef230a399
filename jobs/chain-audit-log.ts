import { chainAuditLog } from '../postgres/audit-chain.ts';
import type { Pool } from '../postgres/client.ts';
import { holdJobLease } from '../postgres/job-leases.ts';
import type { Job } from './job.ts';

/**
 * Appends what was written to the audit log since the last run to the tenants' chains (reliability, S25).
 * Behind the writers and not among them, so that no two requests of a tenant wait for each other.
 */
export const chainAuditLogRows: Job<{ readonly pool: Pool }> = {
  name: 'chain-audit-log',
  // Often, so that a run is short: a minute of 500 writes a second is 30,000 rows at once.
  cron: '*/5 * * * * *',
  async run({ pool }, { lease, signal }) {
    let rows = 0;
    for (;;) {
      const chained = await pool.begin(async (tx) => {
        await holdJobLease(tx, lease);
        return await chainAuditLog(tx);
      });
      rows += chained;
      if (chained === 0 || signal.aborted) return { rows };
    }
  },
};
