import { notFound } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { OpenPortalSession } from '../../../schemas/portal.ts';
import type { Page, Search } from '../../../schemas/search.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';

/** Valid sessions of end customers, newest first; optionally of one customer. */
export function listOpenSessions(
  db: Db,
  scope: Scope,
  filter: { readonly customer_id?: string | null; readonly search: Search },
  now: string,
): Promise<Page<OpenPortalSession>> {
  return findPage<OpenPortalSession>(db, {
    columns: db`
      id, tenant_id, environment_id, customer_id, expires_at, status, created_at, updated_at,
      created_by, updated_by`,
    from: db`portal_sessions`,
    where: db`${inScope(db, scope)} and status = 'published' and expires_at > ${now}
      ${filter.customer_id ? db`and customer_id = ${filter.customer_id}` : db``}`,
    search: filter.search,
  });
}

/** When a session ends. 404 if it is unknown in the scope. */
export async function getSessionEnd(db: Db, scope: Scope, id: string): Promise<string> {
  const [row] = await db<{ expires_at: string }[]>`
    select expires_at from portal_sessions where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Portal session', id);
  return row.expires_at;
}

/** Ends a session: its token is refused from now on. 404 if it is unknown in the scope. */
export async function endPortalSession(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const ended = await tx`
    update portal_sessions set ${tx({ status: 'archived', ...changed(deps, caller) })}
     where ${inScope(tx, caller.scope)} and id = ${id}`;
  if (ended.count === 0) throw notFound('Portal session', id);
}

/** Ends all sessions of a customer. */
export async function endSessionsOf(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  customerId: string,
): Promise<void> {
  await tx`
    update portal_sessions set ${tx({ status: 'archived', ...changed(deps, caller) })}
     where ${inScope(tx, caller.scope)} and customer_id = ${customerId} and status = 'published'
       and expires_at > ${isoTime(deps.clock.now())}`;
}
