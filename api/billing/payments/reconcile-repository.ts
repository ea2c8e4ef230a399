import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import {
  type ClockRef,
  type Timeline,
  livesBy,
  ownedBy,
} from '../../../postgres/tables/test-clocks.ts';

/** The token of the newest attempt that has one; null if the payment was only recorded. */
export async function findGatewayToken(
  db: Db,
  scope: Scope,
  paymentId: string,
): Promise<string | null> {
  const [row] = await db<{ token: string }[]>`
    select gateway_idempotency_token as token from payment_attempts
     where ${inScope(db, scope)} and payment_id = ${paymentId}
       and gateway_idempotency_token is not null
     order by attempt_number desc limit 1`;
  return row?.token ?? null;
}

/**
 * A payment that was voided or deleted less than a day before its gateway was last asked: a page may have been paid
 * meanwhile, and the event about it may be lost.
 */
export const isWatched = (db: Db): Fragment => db`
  (p.status = 'published' and p.payment_status = 'VOIDED'
   and (p.last_synced_at is null or p.last_synced_at - p.voided_at < interval '24 hours')
   or p.status = 'archived' and p.payment_status in ('INITIATED', 'PENDING')
      and p.archived_at is not null
      and (p.last_synced_at is null or p.last_synced_at - p.archived_at < interval '24 hours'))`;

/** A request about the payment was prepared for its gateway: it was not only recorded. */
export const wasPrepared = (db: Db): Fragment => db`
  exists (select from payment_attempts a
           where a.payment_id = p.id and a.gateway_idempotency_token is not null)`;

/** A payment whose gateway has been asked and has not reported an outcome, or that is watched. */
const isUnanswered = (db: Db): Fragment => db`
  p.connection_id is not null
  and (p.status = 'published' and p.payment_status in ('INITIATED', 'PENDING', 'PROCESSING')
       or ${isWatched(db)})
  and ${wasPrepared(db)}`;

/**
 * The time after which the gateway is asked again. The first time is 30 seconds after the payment was made, voided or
 * deleted. Each later wait is as long as the time from then to the last question, at most a day. A payment that stays
 * open for a month is asked about 45 times instead of 86,400 times, and a test clock stops as often (money 8.2.4).
 */
const askAgainAfterLastSync = (db: Db): Fragment => {
  const since = db`coalesce(p.archived_at, p.voided_at, p.created_at)`;
  const last = db`greatest(p.last_synced_at, ${since})`;
  return db`${last} + greatest(interval '30 seconds', least(${last} - ${since}, interval '1 day'))`;
};

/** Environments with payments whose gateway is asked again. Spans tenants: for the job only. */
export async function scopesWithUnansweredPayments(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct p.tenant_id, p.environment_id from payments p
     where ${isUnanswered(db)} and ${askAgainAfterLastSync(db)} < ${due.at}
       and ${livesBy(db, due, db`p.customer_id`)}
     order by 1, 2`;
}

/** A page of the environment's payments whose gateway is asked again, with ids greater than `after`. */
export async function paymentsToReconcile(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: string; readonly limit: number },
): Promise<string[]> {
  const { due, after, limit } = page;
  const rows = await db<{ id: string }[]>`
    select p.id from payments p
     where ${inScope(db, scope, 'p')} and ${isUnanswered(db)}
       and ${askAgainAfterLastSync(db)} < ${due.at} and p.id > ${after}
       and ${livesBy(db, due, db`p.customer_id`)}
     order by p.id limit ${limit}`;
  return rows.map(({ id }) => id);
}

/** When gateways are asked again about payments of the clock's customers. */
export const unansweredTimes = (db: Db, clock: ClockRef): Fragment => db`
  select ${askAgainAfterLastSync(db)} as at
    from customers c join payments p on p.customer_id = c.id
   where ${ownedBy(db, clock, 'p')} and ${isUnanswered(db)}`;
