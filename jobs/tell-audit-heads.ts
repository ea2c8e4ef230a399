import { headWord, movedHeads } from '../postgres/audit/audit-heads.ts';
import { isoTime } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import type { Job } from './job.ts';

const DAY_MS = 86_400_000;

/**
 * Once a day says in the product's log how far the chains of the audit log reach, for each tenant of whom
 * something was written since the day before. The log is kept elsewhere, so that an end that was cut off
 * is missed there (tenancy S25): `maintain.js audit verify HEAD…` compares.
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
