import { notFound } from '../../../domain/errors.ts';
import type { BillingDeps } from '../../deps.ts';
import {
  inScope,
  type Db,
  type Pool,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import type { SecretBox } from '../../../platform/secret-box.ts';
import { SECRET_COLUMN } from './repository.ts';

/**
 * The decrypted credentials of a published connection; null if it has none. For code that calls the provider.
 */
export async function connectionSecrets(
  db: Db,
  { secretBox }: Pick<BillingDeps, 'secretBox'>,
  scope: Scope,
  id: string,
): Promise<Record<string, string | number | boolean> | null> {
  const [row] = await db<{ secret_data: string | null }[]>`
    select secret_data from connections
     where ${inScope(db, scope)} and id = ${id} and status = 'published'`;
  if (row === undefined) throw notFound('Connection', id);
  if (row.secret_data === null) return null;
  const place = { tenant_id: scope.tenant_id, column: SECRET_COLUMN };
  return JSON.parse(secretBox.open(row.secret_data, place)) as Record<string, string>;
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
  const rows = await pool<{ id: string; secret_data: string }[]>`
    select id, secret_data from connections where secret_data is not null order by id`;
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
  const [row] = await tx<{ tenant_id: string; secret_data: string | null }[]>`
    select tenant_id, secret_data from connections where id = ${id} for update`;
  if (row === undefined || row.secret_data === null) return true;
  const place = { tenant_id: row.tenant_id, column: SECRET_COLUMN };
  let secret: string;
  try {
    secret = secretBox.open(row.secret_data, place);
  } catch {
    return false;
  }
  await tx`update connections set secret_data = ${secretBox.seal(secret, place)} where id = ${id}`;
  return true;
}
