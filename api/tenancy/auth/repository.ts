import { notFound } from '../../../domain/errors.ts';
import type { Db, Transaction } from '../../../postgres/client.ts';

/** The fields of a person that password functions use. */
export interface Person {
  readonly id: string;
  readonly tenant_id: string;
  readonly email: string;
  readonly password_hash: string | null;
  readonly roles: string[];
}

const columns = (db: Db) => db`id, tenant_id, email, password_hash, roles`;

/** The person of a session, of every status. 404 if the tenant has no such account. */
export async function getPerson(
  db: Db,
  { tenant_id, user_id }: { readonly tenant_id: string; readonly user_id: string },
): Promise<Person> {
  const [person] = await db<Person[]>`
    select ${columns(db)} from users where tenant_id = ${tenant_id} and id = ${user_id}`;
  if (person === undefined) throw notFound('User', user_id);
  return person;
}

/** The active person with the address, in upper or lower case. Null if no account has it. */
export async function findPerson(db: Db, email: string): Promise<Person | null> {
  const [person] = await db<Person[]>`
    select ${columns(db)} from users
     where lower(email) = ${email.toLowerCase()} and status = 'published' and type = 'user'`;
  return person ?? null;
}

/** Locks the active person until the transaction ends. Null if there is none. */
export async function lockPerson(tx: Transaction, id: string): Promise<Person | null> {
  const [person] = await tx<Person[]>`
    select ${columns(tx)} from users
     where id = ${id} and status = 'published' and type = 'user'
       for update`;
  return person ?? null;
}

/** Locks the account. False if it is no longer active or its password is another than the given one. */
export async function lockPassword(
  tx: Transaction,
  { tenant_id, id, password_hash }: Person,
): Promise<boolean> {
  const [unchanged] = await tx`
    select 1 from users
     where tenant_id = ${tenant_id} and id = ${id} and status = 'published'
       and password_hash = ${password_hash}
       for update`;
  return unchanged !== undefined;
}

/** Stores the hash of a new password. The person is the author of the change. */
export async function updatePassword(
  tx: Transaction,
  id: string,
  password_hash: string,
  updated_at: string,
): Promise<void> {
  await tx`
    update users set ${tx({ password_hash, updated_at, updated_by: id })} where id = ${id}`;
}

/** Writes the counted failure of a hashed address and network again, unchanged: the commit waits for the disk. */
export async function touchLoginFailure(tx: Transaction, subject: Buffer): Promise<void> {
  await tx`update login_failures set failed_at = failed_at where subject = ${subject}`;
}

/** Times are ISO 8601. */
interface Created {
  readonly created_at: string;
  readonly updated_at: string;
}
interface CreatedBy extends Created {
  readonly created_by: string;
  readonly updated_by: string;
}

export interface TenantRows {
  readonly tenant: Created & { readonly id: string; readonly name: string };
  readonly user: CreatedBy & {
    readonly id: string;
    readonly tenant_id: string;
    readonly email: string;
    readonly type: 'user';
    readonly roles: string[];
    readonly password_hash: string | null;
  };
  readonly environment: CreatedBy & {
    readonly id: string;
    readonly tenant_id: string;
    readonly name: string;
    readonly type: 'development';
  };
}

/** Inserts a tenant, its first person and its first environment. */
export async function insertTenant(
  tx: Transaction,
  { tenant, user, environment }: TenantRows,
): Promise<void> {
  await tx`insert into tenants ${tx(tenant)}`;
  await tx`insert into users ${tx(user)}`;
  await tx`insert into environments ${tx(environment)}`;
}
