import { createUsageStore } from '../clickhouse/create-usage-store.ts';
import { resealSecrets } from '../api/connections/secrets.ts';
import { rotateSigningKey } from '../platform/http/signing-keys.ts';
import { createSecretBox } from '../platform/secret-box.ts';
import { verifyAuditLog } from '../postgres/audit-chain.ts';
import { headOf, lostHeads, type AuditHead } from '../postgres/audit-heads.ts';
import { requestRebuild } from '../postgres/seals.ts';
import { requestReplay } from '../postgres/stream-replays.ts';
import { verifyBuckets } from '../stream/verify-buckets.ts';
import { createRuntime, type Runtime } from './runtime.ts';

/**
 * Work for a person's hands, beside a running product (POSTGRES_URL and CLICKHOUSE_URL say where it
 * is): `node dist/main/maintain.js COMMAND`. See docs/operations.md.
 */
const COMMANDS: Readonly<Record<string, (runtime: Runtime) => Promise<string>>> = {
  'verify-buckets': async ({ pool, clickhouse }) => {
    const check = await verifyBuckets({ pool, store: createUsageStore(clickhouse()) });
    for (const difference of check.differences)
      process.stdout.write(`${JSON.stringify(difference)}\n`);
    if (check.differences.length > 0) process.exitCode = 1;
    return `verify-buckets checked=${check.checked} differences=${check.differences.length}`;
  },
  'rebuild-buckets': async ({ pool }) => {
    await requestRebuild(pool);
    return 'rebuild-buckets: asked for; the sealer does it in its next cycles';
  },
  replay: async ({ pool }) => {
    const partitions = await requestReplay(pool);
    return `replay partitions=${partitions}: restart the stream; usage is unavailable until it is done`;
  },
  'reseal-secrets': async ({ config, pool }) => {
    const secretBox = createSecretBox(config.ENCRYPTION_KEY ?? []);
    const { resealed, unreadable } = await resealSecrets(pool, secretBox);
    for (const id of unreadable) process.stdout.write(`no key of ENCRYPTION_KEY opens ${id}\n`);
    if (unreadable.length > 0) process.exitCode = 1;
    return `reseal-secrets resealed=${resealed} unreadable=${unreadable.length}`;
  },
  'rotate-signing-key': async ({ pool, clock }) => {
    const id = await rotateSigningKey(pool, clock);
    return `rotate-signing-key key=${id}: sessions go on; the key before it ends in 20 minutes`;
  },
  audit: async ({ pool }) => {
    if (process.argv[3] !== 'verify') throw new Error('audit takes a word: verify [HEAD…]');
    const lost = await lostHeads(pool, process.argv.slice(4).map(keptHead));
    for (const head of lost) process.stdout.write(`${JSON.stringify(head)}\n`);
    if (lost.length > 0) process.exitCode = 1;
    const { tenants, rows, broken, digest } = await verifyAuditLog(pool);
    for (const link of broken) process.stdout.write(`${JSON.stringify(link)}\n`);
    if (broken.length > 0) process.exitCode = 1;
    return `audit verify tenants=${tenants} rows=${rows} broken=${broken.length} lost_heads=${lost.length} digest=${digest}`;
  },
  'resize-log': async (runtime) => {
    const partitions = Number(process.argv[3]);
    if (!Number.isInteger(partitions) || partitions < 1 || partitions > 1024)
      throw new Error('resize-log takes the new number of partitions, 1 to 1024');
    const log = await runtime.eventLog();
    const epoch = await log.resize(partitions);
    return `resize-log epoch=${epoch} partitions=${partitions}: the stream goes on when the old epoch is drained`;
  },
};

function keptHead(word: string): AuditHead {
  const head = headOf(word);
  if (head === null)
    throw new Error(`"${word}" is no head, as the log has them: TENANT:NUMBER:HASH`);
  return head;
}

const command = COMMANDS[process.argv[2] ?? ''];
if (command === undefined) {
  process.stderr.write(`Commands: ${Object.keys(COMMANDS).join(', ')} (see docs/operations.md)\n`);
  process.exit(2);
}
const runtime = createRuntime('maintain');
try {
  process.stdout.write(`${await command(runtime)}\n`);
} finally {
  await runtime.close();
}
