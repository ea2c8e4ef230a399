import { audit } from './audit.ts';
import { auditWallets } from './audit-wallets.ts';
import type { MaintainCommand } from './command.ts';
import { doctor } from './doctor.ts';
import { freezeWallet, unfreezeWallet } from './freeze-wallet.ts';
import { log } from './log.ts';
import { rebuildBuckets } from './rebuild-buckets.ts';
import { replay } from './replay.ts';
import { resealSecrets } from './reseal-secrets.ts';
import { resetPassword } from './reset-password.ts';
import { resizeLog } from './resize-log.ts';
import { rotateSigningKey } from './rotate-signing-key.ts';
import { setAsideRecords } from './set-aside-records.ts';
import { verifyBuckets } from './verify-buckets.ts';

/** All commands, in the order of the list. */
export const COMMANDS: readonly MaintainCommand[] = [
  doctor,
  verifyBuckets,
  rebuildBuckets,
  replay,
  resizeLog,
  log,
  setAsideRecords,
  audit,
  auditWallets,
  resealSecrets,
  rotateSigningKey,
  resetPassword,
  freezeWallet,
  unfreezeWallet,
];

/** The list printed for an unknown command: one line per command. */
export function commandList(): string {
  const titled = COMMANDS.map(({ name, takes, summary }) => [`${name} ${takes}`.trim(), summary]);
  const width = Math.max(...titled.map(([title]) => title!.length));
  return titled.map(([title, summary]) => `  ${title!.padEnd(width)}  ${summary}\n`).join('');
}
