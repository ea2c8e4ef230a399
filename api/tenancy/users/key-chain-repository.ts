import { isoTime } from '../../../platform/clock.ts';
import type { Fragment, Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, type Caller } from '../../conventions/record.ts';

/**
 * Ends the keys and, transitively, the keys that they created (tenancy 52). Returns the ids of all ended keys,
 * which must be dropped from caches after the commit.
 */
export async function endKeys(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  ids: readonly string[],
): Promise<string[]> {
  const { tenant_id } = caller.scope;
  const ended: string[] = [];
  for (;;) {
    // Creating a key updates its creator's row: keys created before that row was ended are visible now.
    const keys = await tx<{ id: string }[]>`
      ${keysFrom(tx, tenant_id, ids)}
      update api_keys set ${tx({ status: 'archived', ...changed(deps, caller) })}
       where tenant_id = ${tenant_id} and status = 'published'
         and id in (select id from made)
      returning id`;
    if (keys.length === 0) return [...new Set([...ids, ...ended])];
    ended.push(...keys.map(({ id }) => id));
  }
}

/** Ends a key, and the keys that it created, at `endsAtMs` at the latest. Returns their ids. */
export async function endKeyAt(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  endsAtMs: number,
): Promise<string[]> {
  const { tenant_id } = caller.scope;
  const ends = isoTime(endsAtMs);
  const keys = await tx<{ id: string }[]>`
    ${keysFrom(tx, tenant_id, [id])}
    update api_keys set ${tx({ expires_at: ends, ...changed(deps, caller) })}
     where tenant_id = ${tenant_id} and status = 'published'
       and (expires_at is null or expires_at > ${ends})
       and id in (select id from made)
    returning id`;
  return keys.map((key) => key.id);
}

/** Whether `makerId` created the key `id`, directly or transitively. */
export async function isMadeBy(
  tx: Transaction,
  tenantId: string,
  makerId: string,
  id: string,
): Promise<boolean> {
  const [row] = await tx`
    ${keysFrom(tx, tenantId, [makerId])}
    select 1 from made where id = ${id} and id <> ${makerId}`;
  return row !== undefined;
}

/** The keys, and all keys created with them. */
const keysFrom = (tx: Transaction, tenantId: string, ids: readonly string[]): Fragment => tx`
  with recursive made as (
    select id from api_keys where tenant_id = ${tenantId} and id = any(${[...ids]})
    union
    select k.id from api_keys k join made m on k.minted_by = m.id where k.tenant_id = ${tenantId}
  )`;
