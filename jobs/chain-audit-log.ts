import { setTimeout as sleep } from 'node:timers/promises';
import { chainAuditLog, type ChainedPage } from '../postgres/audit/audit-chain.ts';
import type { Pool } from '../postgres/client.ts';
import { holdJobLease } from '../postgres/tables/job-leases.ts';
import type { Job } from './job.ts';

/** Pause after each page, as a multiple of the page's duration. */
const PAUSE = 3;

/**
 * Appends the audit log rows written since the last run to the tenants' chains (tenancy S25). It runs
 * after the writers and not in their transactions, so that no two requests of a tenant wait for each other. A
 * run ends with the first page that is not full, and rows written in the meantime wait for the next run.
 * Without this limit, at 500 creates a second, a run never ended: its pages had a few rows each. It pauses
 * between pages: without pauses, the run after five seconds of 500 creates a second kept both cores of a
 * small machine busy for 0.3 s, in which every request waited.
 */
export const chainAuditLogRows: Job<{ readonly pool: Pool }> = {
  name: 'chain-audit-log',
  // Frequent, so that a run is short: a minute of 500 writes a second is 30,000 rows at once.
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
      // Interrupted when the process drains; the next page checks the signal.
      await sleep(PAUSE * (performance.now() - began), undefined, { signal }).catch(() => {});
    }
  },
};
