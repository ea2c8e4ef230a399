import { setTimeout as sleep } from 'node:timers/promises';
import { chainAuditLog, type ChainedPage } from '../postgres/audit/audit-chain.ts';
import type { Pool } from '../postgres/client.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Job } from './job.ts';

/** After each page nothing is done for this many times as long as it took. */
const PAUSE = 3;

/**
 * Appends what was written to the audit log since the last run to the tenants' chains (tenancy S25).
 * Behind the writers and not among them, so that no two requests of a tenant wait for each other.
 * It ends with the first page that is not full: what is written meanwhile waits for the next run, where a
 * run that went on until nothing was left never ended, with pages of a few rows, at 500 creates a second.
 * It gives way: without pauses, the run after five seconds of 500 creates a second kept both cores of a small
 * machine busy for 0.3 s, in which every request waited.
 */
export const chainAuditLogRows: Job<{ readonly pool: Pool }> = {
  name: 'chain-audit-log',
  // Often, so that a run is short: a minute of 500 writes a second is 30,000 rows at once.
  cron: '*/5 * * * * *',
  async run({ pool }, { lease, signal }) {
    let rows = 0;
    let after: string | null = null;
    for (;;) {
      const began = performance.now();
      const page: ChainedPage = await pool.begin(async (tx) => {
        await holdJobLease(tx, lease);
        return await chainAuditLog(tx, after);
      });
      rows += page.rows;
      after = page.next;
      if (after === null || signal.aborted) return { rows };
      // Cut short where the process drains; the next page then notices.
      await sleep(PAUSE * (performance.now() - began), undefined, { signal }).catch(() => {});
    }
  },
};
