import { notFound } from '../../../domain/errors.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { findPage } from '../../../postgres/search.ts';
import type { Correction } from '../../../schemas/correction.ts';
import type { Page, Search } from '../../../schemas/search.ts';

const columns = (db: Db) => db`
  id, tenant_id, environment_id, event_id, type, reason, request_id, logged_at, status,
  created_at, updated_at, created_by, updated_by`;

/** The correction. 404 if it is unknown or belongs to another scope. */
export async function getCorrection(db: Db, scope: Scope, id: string): Promise<Correction> {
  const [row] = await db<Correction[]>`
    select ${columns(db)} from corrections where ${inScope(db, scope)} and id = ${id}`;
  if (row === undefined) throw notFound('Correction', id);
  return row;
}

/** Corrections of every status unless one is requested. */
export function searchCorrections(
  db: Db,
  scope: Scope,
  filter: { correction_ids?: string[] | null; event_ids?: string[] | null; search: Search },
): Promise<Page<Correction>> {
  const { correction_ids, event_ids, search } = filter;
  return findPage<Correction>(db, {
    columns: columns(db),
    from: db`corrections`,
    where: db`${inScope(db, scope)}
      ${search.status === null ? db`` : db`and status = ${search.status}`}
      ${correction_ids?.length ? db`and id = any(${correction_ids})` : db``}
      ${event_ids?.length ? db`and event_id = any(${event_ids})` : db``}`,
    search,
  });
}

/** Stores the correction, or returns the existing one of the event. */
export async function keepCorrection(db: Db, correction: Correction): Promise<Correction> {
  await db`
    insert into corrections ${db(correction)}
    on conflict (tenant_id, environment_id, event_id) do nothing`;
  const [kept] = await db<Correction[]>`
    select ${columns(db)} from corrections
     where ${inScope(db, correction)} and event_id = ${correction.event_id}`;
  return kept!;
}

/**
 * Corrections not in the event log yet, oldest first, locked. Rows locked by another transaction are skipped.
 * Spans tenants: this is an internal job.
 */
export function lockUnlogged(tx: Transaction, limit: number): Promise<Correction[]> {
  return tx<Correction[]>`
    select ${columns(tx)} from corrections
     where logged_at is null
     order by created_at, id limit ${limit}
       for update skip locked`;
}

/** Stores that the corrections are in the event log. */
export async function noteLogged(
  tx: Transaction,
  corrections: readonly Correction[],
  at: string,
): Promise<void> {
  await tx`
    update corrections set logged_at = ${at}, updated_at = ${at}
     where id = any(${corrections.map(({ id }) => id)}::text[])`;
}
