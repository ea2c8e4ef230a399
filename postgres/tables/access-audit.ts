import type { AccessAction } from '../../schemas/audit-words.ts';
import type { Db } from '../client.ts';
import { jsonOf } from '../parameters.ts';
import type { Actor } from '../scoped-pool.ts';

/** A successful or failed attempt of a person to gain access. Never contains a password or a token. */
export interface Access {
  readonly action: AccessAction;
  readonly details: Readonly<Record<string, string | number>>;
  /** The actor, if it differs from the caller of the request. */
  readonly actor?: Actor;
}

/** Writes the access to the audit log of the person's tenant. */
export async function noteAccess(
  db: Db,
  person: { readonly id: string; readonly tenant_id: string },
  { action, details, actor }: Access,
): Promise<void> {
  await db`
    select audit_access(${person.tenant_id}, ${person.id}, ${action}, ${db.json(details)},
                        ${actor === undefined ? null : jsonOf(db, actor)}::jsonb)`;
}

/** The same for the account with the address. Nothing is written if no account has it. */
export async function noteAccessOf(
  db: Db,
  email: string,
  { action, details, actor }: Access,
): Promise<void> {
  await db`
    select audit_access(tenant_id, id, ${action}, ${db.json(details)},
                        ${actor === undefined ? null : jsonOf(db, actor)}::jsonb)
      from users
     where lower(email) = ${email.toLowerCase()} and status = 'published' and type = 'user'`;
}
