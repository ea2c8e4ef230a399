import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { pageBelow } from '../../../postgres/page-below.ts';
import { jsonOf } from '../../../postgres/parameters.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { Erasure } from '../../../schemas/erasure.ts';
import type { Page, PageQuery } from '../../../schemas/search.ts';

type StoredErasure = Omit<Erasure, 'erased_events'> & { readonly erased_events: string | null };

const columns = (db: Db) => db`
  id, tenant_id, environment_id, customer_id, external_customer_id, reason, request_id, state,
  events_until, erased_at, erased_events, completed_at, status,
  created_at, updated_at, created_by, updated_by`;

const answerOf = (row: StoredErasure): Erasure => ({
  ...row,
  erased_events: row.erased_events === null ? null : Number(row.erased_events),
});

/** Erasures of a customer, newest first. */
export async function erasuresOf(db: Db, scope: Scope, customerId: string): Promise<Erasure[]> {
  const rows = await db<StoredErasure[]>`
    select ${columns(db)} from erasures
     where ${inScope(db, scope)} and customer_id = ${customerId}
     order by created_at desc, id desc`;
  return rows.map(answerOf);
}

/** One page of the erasures of a customer, newest first. */
export async function pageOfErasures(
  db: Db,
  scope: Scope,
  customerId: string,
  query: PageQuery,
): Promise<Page<Erasure>> {
  const page = await pageBelow<StoredErasure>(
    db,
    {
      columns: columns(db),
      table: 'erasures',
      where: db`${inScope(db, scope)} and customer_id = ${customerId}`,
      order: db`created_at desc, id desc`,
    },
    query,
  );
  return { ...page, items: page.items.map(answerOf) };
}

/** Stores that the erasure was requested. */
export async function insertErasure(db: Db, erasure: Erasure): Promise<void> {
  await db`insert into erasures ${db(erasure)}`;
}

/**
 * Open erasures, oldest first, of all tenants: requests, and those whose events were erased before
 * `erasedBefore`. After that time the log cannot bring the events back.
 */
export async function openErasures(
  db: Db,
  erasedBefore: string,
  limit: number,
): Promise<Erasure[]> {
  const rows = await db<StoredErasure[]>`
    select ${columns(db)} from erasures
     where state = 'requested' or (state = 'erased' and erased_at < ${erasedBefore})
     order by created_at, id limit ${limit}`;
  return rows.map(answerOf);
}

/** Stores how many copies were found before they are erased: afterwards they cannot be counted. */
export async function noteFound(db: Db, id: string, events: number): Promise<void> {
  await db`
    update erasures set erased_events = greatest(coalesce(erased_events, 0), ${events}::bigint)
     where id = ${id}`;
}

/** requested → erased → complete. */
export async function noteErased(
  db: Db,
  id: string,
  state: 'erased' | 'complete',
  at: string,
): Promise<void> {
  await db`
    update erasures
       set state = ${state}, updated_at = ${at},
           erased_at = coalesce(erased_at, ${at}),
           completed_at = case when ${state === 'complete'} then ${at}::timestamptz end
     where id = ${id}`;
}

/** Replaces the snapshot of the customer in every stored notification about it. */
export async function overwriteSnapshots(
  tx: Transaction,
  scope: Scope,
  customer: Customer,
): Promise<void> {
  await tx`
    update outbox set payload = jsonb_set(payload, '{customer}', ${jsonOf(tx, customer)})
     where ${inScope(tx, scope)} and entity_type = 'customer' and entity_id = ${customer.id}
       and payload ? 'customer'`;
}

/**
 * Removes the properties of the customer's rejected events from notifications that were written before `before`
 * (ISO, UTC); from all of them when null.
 */
export async function eraseRejected(
  db: Db,
  scope: Scope,
  externalCustomerId: string,
  before: string | null,
): Promise<void> {
  await db`
    update outbox set payload = jsonb_set(payload, '{event,properties}', 'null')
     where ${inScope(db, scope)} and entity_type = 'event'
       and payload #>> '{event,external_customer_id}' = ${externalCustomerId}
       and payload #> '{event,properties}' <> 'null'
       ${before === null ? db`` : db`and occurred_at < ${before}`}`;
}
