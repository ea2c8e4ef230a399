import type { BillingDeps } from '../../deps.ts';
import type { Db, Pool, Scope, Transaction } from '../../../postgres/client.ts';
import type { SecretBox } from '../../../platform/secret-box.ts';
import {
  findSealedSecrets,
  getSealedSecret,
  lockSealedSecret,
  SECRET_COLUMN,
  updateSealedSecret,
} from './repository.ts';

/**
 * The decrypted credentials of a published connection; null if it has none. For code that calls the provider.
 */
export async function connectionSecrets(
  db: Db,
  { secretBox }: Pick<BillingDeps, 'secretBox'>,
  scope: Scope,
  id: string,
): Promise<Record<string, string | number | boolean> | null> {
  const secret = await getSealedSecret(db, scope, id);
  if (secret === null) return null;
  const place = { tenant_id: scope.tenant_id, column: SECRET_COLUMN };
  return JSON.parse(secretBox.open(secret, place)) as Record<string, string>;
}

/**
 * Encrypts credentials of older keys again with the newest key, one row per transaction. Returns the number
 * processed, and the connections whose credentials cannot be decrypted. Safe while the product runs, and safe
 * to repeat.
 */
export async function resealSecrets(
  pool: Pool,
  secretBox: SecretBox,
): Promise<{ readonly resealed: number; readonly unreadable: readonly string[] }> {
  const rows = await findSealedSecrets(pool);
  const unreadable: string[] = [];
  let resealed = 0;
  for (const { id } of rows.filter((row) => secretBox.isOutdated(row.secret_data))) {
    const isResealed = await pool.begin((tx) => resealRow(tx, secretBox, id));
    if (isResealed) resealed += 1;
    else unreadable.push(id);
  }
  return { resealed, unreadable };
}

async function resealRow(tx: Transaction, secretBox: SecretBox, id: string): Promise<boolean> {
  const row = await lockSealedSecret(tx, id);
  if (row === null) return true;
  const place = { tenant_id: row.tenant_id, column: SECRET_COLUMN };
  let secret: string;
  try {
    secret = secretBox.open(row.secret_data, place);
  } catch {
    return false;
  }
  await updateSealedSecret(tx, id, secretBox.seal(secret, place));
  return true;
}
