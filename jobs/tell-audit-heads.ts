import { headWord, movedHeads } from '../postgres/audit/audit-heads.ts';
import { isoTime } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import type { Job } from './job.ts';

const DAY_MS = 86_400_000;

/**
 * Writes the heads of the audit chains to the product's log once a day, for each tenant with new rows since
 * the day before. The log is stored elsewhere. Therefore `maintain.js audit verify HEAD…` detects a removed
 * end of a chain (tenancy S25).
 */
export const tellAuditHeads: Job<{ readonly pool: Pool; readonly log: Logger }> = {
  name: 'tell-audit-heads',
  cron: '17 0 * * *',
  async run({ pool, log }, { at }) {
    const heads = await movedHeads(pool, isoTime(Date.parse(at) - DAY_MS));
    for (const head of heads) log.info({ audit_head: headWord(head) }, 'audit head');
    return { heads: heads.length };
  },
};
