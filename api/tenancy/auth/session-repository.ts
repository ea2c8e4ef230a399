import type { z } from 'zod';
import { isoTime, type Clock } from '../../../platform/clock.ts';
import type { Db } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import { noteAccess } from '../../../postgres/tables/access-audit.ts';
import type { Page } from '../../../schemas/search.ts';
import type { PersonSession, PersonSessionSearch } from '../../../schemas/tenancy.ts';

/** Owner of the sessions. */
interface Owner {
  readonly tenant_id: string;
  readonly user_id: string;
}

/** The person's open sessions, newest first; `current` marks the session of the request. */
export function openSessions(
  db: Db,
  { tenant_id, user_id }: Owner,
  current: string,
  now: string,
  { search }: z.output<typeof PersonSessionSearch.query>,
): Promise<Page<PersonSession>> {
  return findPage<PersonSession>(db, {
    columns: db`
      id, created_at, coalesce(last_used_at, created_at) as last_used_at, expires_at, opened_by,
      ip, user_agent, id = ${current} as is_current`,
    from: db`sessions`,
    where: db`
      tenant_id = ${tenant_id} and user_id = ${user_id} and ended_at is null and expires_at > ${now}`,
    search,
  });
}

/**
 * Ends one session of the person, all but one, or all. Returns the number ended; each leaves a row in the
 * audit log.
 */
export async function endSessions(
  { pool, clock }: { readonly pool: Db; readonly clock: Clock },
  { tenant_id, user_id }: Owner,
  action: 'logged_out' | 'session_ended' | null,
  which: { readonly only: string } | { readonly but: string } | 'all',
): Promise<number> {
  const now = isoTime(clock.now());
  const chosen =
    which === 'all'
      ? pool``
      : 'only' in which
        ? pool`and id = ${which.only}`
        : pool`and id <> ${which.but}`;
  const ended = await pool<{ id: string }[]>`
    update sessions set ended_at = ${now}
     where tenant_id = ${tenant_id} and user_id = ${user_id}
       and ended_at is null and expires_at > ${now} ${chosen}
    returning id`;
  for (const { id: session_id } of action === null ? [] : ended)
    await noteAccess(
      pool,
      { id: user_id, tenant_id },
      {
        action: action!,
        details: { reason: 'own', session_id },
      },
    );
  return ended.length;
}
