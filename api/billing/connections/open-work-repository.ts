import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

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
            or exists (select from payment_attempts a
                        where a.payment_id = p.id and a.gateway_idempotency_token is not null))
     order by p.id limit ${limit}`;
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
