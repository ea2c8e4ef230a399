import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const FILE = 'encryption-key';

/**
 * The value of ENCRYPTION_KEY for an instance with embedded Postgres. Created at the first start, next to the
 * data that it encrypts, in a file that only this user may read. Without it the secrets of connections are
 * lost; a backup of the database does not contain it.
 */
export function encryptionKeyIn(dataDirectory: string): string {
  const file = join(dataDirectory, FILE);
  if (!existsSync(file))
    writeFileSync(file, `local:${randomBytes(32).toString('base64')}\n`, {
      mode: 0o600,
      flag: 'wx',
    });
  return readFileSync(file, 'utf8').trim();
}

/** The key that an earlier start created; null if there is none. */
export function keptEncryptionKey(dataDirectory: string): string | null {
  const file = join(dataDirectory, FILE);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : null;
}
