import { verifyAuditLog } from '../../postgres/audit/audit-chain.ts';
import { headOf, lostHeads, type AuditHead } from '../../postgres/audit/audit-heads.ts';
import { Misused, type MaintainCommand } from './command.ts';

function keptHeads(words: readonly string[]): AuditHead[] {
  if (words[0] !== 'verify') throw new Misused('takes the word verify, then kept heads if any');
  return words.slice(1).map((word) => {
    const head = headOf(word);
    if (head === null)
      throw new Misused(
        `takes heads as the log prints them, TENANT:NUMBER:HASH; "${word}" is not one`,
      );
    return head;
  });
}

export const audit: MaintainCommand = {
  name: 'audit',
  takes: 'verify [HEAD…]',
  summary: 'computes the chains of the audit log again; exit code 1 if a row was changed or lost',
  plan(words) {
    const heads = keptHeads(words).length;
    return `computes the chains of the audit log again and looks for ${heads} kept heads; changes nothing`;
  },
  async run({ runtime: { pool }, words, say }) {
    const lost = await lostHeads(pool, keptHeads(words));
    for (const head of lost) say(JSON.stringify(head));
    const { tenants, rows, broken, digest } = await verifyAuditLog(pool);
    for (const link of broken) say(JSON.stringify(link));
    const line = `verify tenants=${tenants} rows=${rows} broken=${broken.length} lost_heads=${lost.length} digest=${digest}`;
    return { line, ok: broken.length + lost.length === 0 };
  },
};
