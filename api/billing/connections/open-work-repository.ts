import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { isWatched, wasPrepared } from '../payments/reconcile-repository.ts';

export interface WorkPage {
  /** Ids greater than this one. */
  readonly after: string;
  readonly limit: number;
}

/** A payment that its gateway may still settle. */
export interface OpenPayment {
  readonly id: string;
  /** The active checkout session that it pays; null if there is none. */
  readonly session_id: string | null;
  /** Whether the gateway has given it an id: not yet while it is being sent. */
  readonly is_known: boolean;
}

/**
 * A page of the payments that may be open at the gateway of a connection, by id. A payment that was only recorded never
 * reached it.
 */
export async function openPaymentsOf(
  db: Db,
  scope: Scope,
  connectionId: string,
  { after, limit }: WorkPage,
): Promise<OpenPayment[]> {
  return await db<OpenPayment[]>`
    select p.id, s.id as session_id, p.gateway_payment_id is not null as is_known
      from payments p
      left join checkout_sessions s
        on ${inScope(db, scope, 's')} and s.checkout_payment_id = p.id
       and s.checkout_status in ('initiated', 'pending')
     where ${inScope(db, scope, 'p')} and p.connection_id = ${connectionId}
       and p.status = 'published' and p.payment_status in ('INITIATED', 'PENDING', 'PROCESSING')
       and p.id > ${after}
       and (s.id is not null
            or ${wasPrepared(db)})
     order by p.id limit ${limit}`;
}

/** Voided and deleted payments that one deletion asks about. */
const WATCHED_MAX = 500;

/** A page of the voided and deleted payments whose pages may have been paid, by id: of the newest 500. */
export async function watchedPaymentsOf(
  db: Db,
  scope: Scope,
  connectionId: string,
  { after, limit }: WorkPage,
): Promise<OpenPayment[]> {
  return await db<OpenPayment[]>`
    select id, null as session_id, gateway_payment_id is not null as is_known
      from (select p.id, p.gateway_payment_id from payments p
             where ${inScope(db, scope, 'p')} and p.connection_id = ${connectionId}
               and ${isWatched(db)} and ${wasPrepared(db)}
             order by coalesce(p.archived_at, p.voided_at) desc, p.id limit ${WATCHED_MAX}) newest
     where id > ${after}
     order by id limit ${limit}`;
}

/** A page of the refunds that are open at the gateway of a connection, by id. */
export async function openRefundsOf(
  db: Db,
  scope: Scope,
  connectionId: string,
  { after, limit }: WorkPage,
): Promise<{ readonly id: string; readonly payment_id: string }[]> {
  return await db<{ id: string; payment_id: string }[]>`
    select r.id, r.payment_id
      from refunds r
      join payments p on ${inScope(db, scope, 'p')} and p.id = r.payment_id
     where ${inScope(db, scope, 'r')} and p.connection_id = ${connectionId}
       and r.refund_status in ('PENDING', 'PROCESSING') and r.id > ${after}
     order by r.id limit ${limit}`;
}
