import type { Db, Transaction } from '../../../postgres/client.ts';

/** A sign-up whose address is not verified yet. The address is in lower case. */
export interface SignUp {
  readonly email: string;
  readonly tenant_name: string | null;
  readonly password_hash: string | null;
}

/** Inserts a sign-up. Times are ISO 8601. */
export async function insertSignUp(
  tx: Transaction,
  row: SignUp & { readonly id: string; readonly expires_at: string; readonly created_at: string },
): Promise<void> {
  await tx`insert into sign_ups ${tx(row)}`;
}

/** The pending sign-up; null if it is unknown or was completed. */
export async function findSignUp(db: Db, id: string | null): Promise<SignUp | null> {
  const [row] = await db<SignUp[]>`
    select email, tenant_name, password_hash from sign_ups where id = ${id}`;
  return row ?? null;
}

/** Whether the sign-up is pending. */
export async function hasSignUp(db: Db, id: string): Promise<boolean> {
  const [row] = await db`select 1 from sign_ups where id = ${id}`;
  return row !== undefined;
}

/** Deletes a completed sign-up. */
export async function deleteSignUp(tx: Transaction, id: string | null): Promise<void> {
  await tx`delete from sign_ups where id = ${id}`;
}
