import type { Db, Transaction } from '../../../postgres/client.ts';

/** The start of a login at an identity provider. Times are ISO 8601. */
export interface SamlRequest {
  readonly id: string;
  readonly tenant_id: string;
  readonly relay_state: string;
  readonly expires_at: string;
  readonly created_at: string;
}

/** Deletes the requests of all tenants that expired at `now`. */
export async function deleteExpiredRequests(db: Db, now: string): Promise<void> {
  await db`delete from saml_requests where expires_at <= ${now}`;
}

/** Stores that the login was requested. */
export async function insertRequest(db: Db, request: SamlRequest): Promise<void> {
  await db`insert into saml_requests ${db(request)}`;
}

/** Deletes the request and returns its state; null if it is unknown, expired or already answered. */
export async function takeRequest(
  tx: Transaction,
  tenantId: string,
  id: string,
  now: string,
): Promise<string | null> {
  const [request] = await tx<{ relay_state: string }[]>`
    delete from saml_requests
     where id = ${id} and tenant_id = ${tenantId}
       and expires_at > ${now}
    returning relay_state`;
  return request?.relay_state ?? null;
}

/** Deletes the assertions of all tenants that expired at `now`. */
export async function deleteExpiredAssertions(tx: Transaction, now: string): Promise<void> {
  await tx`delete from saml_assertions where expires_at <= ${now}`;
}

/** Notes that the assertion is used. False if it was used before. */
export async function insertAssertion(
  tx: Transaction,
  row: { readonly tenant_id: string; readonly assertion_id: string; readonly expires_at: string },
): Promise<boolean> {
  const claimed = await tx`insert into saml_assertions ${tx(row)} on conflict do nothing`;
  return claimed.count > 0;
}

/** The active account of any tenant and type with the address (in lower case); null if none has it. */
export async function findAccount(
  tx: Transaction,
  email: string,
): Promise<{ readonly id: string; readonly tenant_id: string; readonly type: string } | null> {
  const [user] = await tx<{ id: string; tenant_id: string; type: string }[]>`
    select id, tenant_id, type from users
     where lower(email) = ${email} and status = 'published'`;
  return user ?? null;
}
