import { alreadyExists } from '../../../domain/errors.ts';
import { moveCheckout } from '../../../domain/states/checkout.ts';
import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { tableOf } from '../../../postgres/table.ts';
import { writeOutboxEvents, type OutboxEvent } from '../../../postgres/tables/outbox.ts';
import {
  livesBy,
  ownedBy,
  type ClockRef,
  type Timeline,
} from '../../../postgres/tables/test-clocks.ts';
import { CHECKOUT_COLUMNS, type CheckoutRecord } from '../../../schemas/checkout.ts';
import { endingOf } from './checkout-ending.ts';

const sessions = tableOf<CheckoutRecord>({
  name: 'checkout_sessions',
  noun: 'Checkout session',
  columns: (db) => columnList(db, CHECKOUT_COLUMNS),
  json: ['configuration', 'payment_provider_config', 'request_result', 'metadata'],
  taken: {
    checkout_sessions_target_key_key: (session) =>
      alreadyExists('checkout session', 'target', session.target_key!),
    checkout_sessions_idempotency_key_key: (session) =>
      alreadyExists('checkout session', 'idempotency_key', session.idempotency_key!),
  },
});

/** The session in any state. 404 if it is unknown or belongs to another scope. */
export const getCheckout = sessions.get;

/** Locks the session. The caller holds the locks of its invoice and payment. */
export const lockCheckout = sessions.lock;

/** 409 if the target has an active session. */
export const insertCheckout = sessions.insert;

/** Changes the given columns. 404 as for `getCheckout`. */
export const updateCheckout = sessions.change;

/** The active session with this key; null if there is none. */
export async function findActiveCheckout(
  db: Db,
  scope: Scope,
  key: string,
): Promise<CheckoutRecord | null> {
  const [row] = await db<CheckoutRecord[]>`
    select ${columnList(db, CHECKOUT_COLUMNS)} from checkout_sessions
     where ${inScope(db, scope)} and idempotency_key = ${key}
       and checkout_status in ('initiated', 'pending')`;
  return row ?? null;
}

/** The session with this id in any scope, for the bearer of its link; null if there is none. */
export async function findCheckoutOfLink(db: Db, id: string): Promise<CheckoutRecord | null> {
  const [row] = await db<CheckoutRecord[]>`
    select ${columnList(db, CHECKOUT_COLUMNS)} from checkout_sessions where id = ${id}`;
  return row ?? null;
}

/** Environments with sessions that are over by `at` and not ended yet. Spans tenants: for the job only. */
export async function scopesWithCheckoutsToExpire(db: Db, due: Timeline): Promise<Scope[]> {
  return await db<Scope[]>`
    select distinct tenant_id, environment_id from checkout_sessions
     where expires_at <= ${due.at} and checkout_status in ('initiated', 'pending')
       and ${livesBy(db, due, db`checkout_sessions.customer_id`)}
     order by 1, 2`;
}

/** A position in the order of sessions that are over: the next page begins after it. */
export interface ExpiryCursor {
  readonly expires_at: string;
  readonly id: string;
}

/** A page of the environment's sessions that are over and not ended yet, oldest first. */
export async function checkoutsToExpire(
  db: Db,
  scope: Scope,
  page: { readonly due: Timeline; readonly after: ExpiryCursor | null; readonly limit: number },
): Promise<ExpiryCursor[]> {
  const { due, after, limit } = page;
  return await db<ExpiryCursor[]>`
    select id, expires_at from checkout_sessions
     where ${inScope(db, scope)}
       and expires_at <= ${due.at} and checkout_status in ('initiated', 'pending')
       and ${livesBy(db, due, db`checkout_sessions.customer_id`)}
       ${after === null ? db`` : db`and (expires_at, id) > (${after.expires_at}, ${after.id})`}
     order by expires_at, id limit ${limit}`;
}

/** When checkout sessions of the clock's customers expire. */
export const checkoutExpiryTimes = (db: Db, clock: ClockRef): Fragment => db`
  select s.expires_at as at from customers c join checkout_sessions s on s.customer_id = c.id
   where ${ownedBy(db, clock, 's')} and s.checkout_status in ('initiated', 'pending')`;

/** The active session of a payment, locked; null if there is none. The caller holds the payment's lock. */
export async function lockActiveCheckoutOf(
  tx: Transaction,
  scope: Scope,
  paymentId: string,
): Promise<CheckoutRecord | null> {
  const [active] = await lockActiveCheckoutsOf(tx, scope, [paymentId]);
  return active ?? null;
}

/** The active sessions of the payments. */
export async function lockActiveCheckoutsOf(
  tx: Transaction,
  scope: Scope,
  paymentIds: readonly string[],
): Promise<CheckoutRecord[]> {
  return await tx<CheckoutRecord[]>`
    select ${columnList(tx, CHECKOUT_COLUMNS)} from checkout_sessions
     where ${inScope(tx, scope)} and checkout_payment_id = any (${paymentIds as string[]})
       and checkout_status in ('initiated', 'pending')
     order by id
       for update`;
}

/** Whether the active session of a payment was cancelled, or its time is over at `nowMs` (epoch milliseconds). */
export async function endsUnpaid(
  db: Db,
  scope: Scope,
  paymentId: string,
  nowMs: number,
): Promise<boolean> {
  const [active] = await db<Pick<CheckoutRecord, 'cancelled_at' | 'expires_at'>[]>`
    select cancelled_at, expires_at from checkout_sessions
     where ${inScope(db, scope)} and checkout_payment_id = ${paymentId}
       and checkout_status in ('initiated', 'pending')`;
  return active !== undefined && endingOf(active, new Date(nowMs).toISOString()) !== null;
}

/** Whether a session is paid by this payment. */
export async function paysCheckout(db: Db, scope: Scope, paymentId: string): Promise<boolean> {
  const found = await db`
    select from checkout_sessions where ${inScope(db, scope)} and checkout_payment_id = ${paymentId}`;
  return found.length > 0;
}

/**
 * Notes that money arrived for a session that had ended without it; the state stays (money 21.6). The caller holds
 * the payment's lock.
 */
export async function noteLateMoney(
  tx: Transaction,
  scope: Scope,
  paymentId: string,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<void> {
  const [ended] = await tx<CheckoutRecord[]>`
    select ${columnList(tx, CHECKOUT_COLUMNS)} from checkout_sessions
     where ${inScope(tx, scope)} and checkout_payment_id = ${paymentId}
       and checkout_status in ('failed', 'expired')
       for update`;
  if (ended === undefined) return;
  const checkout_status = moveCheckout(ended.checkout_status, 'receive_late_money');
  await updateCheckout(tx, scope, ended.id, { checkout_status, ...change });
}

/** The newest session that pays the invoice; null if there is none. */
export async function findCheckoutOfInvoice(
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<CheckoutRecord | null> {
  const [row] = await db<CheckoutRecord[]>`
    select ${columnList(db, CHECKOUT_COLUMNS)} from checkout_sessions
     where ${inScope(db, scope)} and checkout_invoice_id = ${invoiceId}
     order by created_at desc, id desc limit 1`;
  return row ?? null;
}

/** The active session about a wallet, a subscription or an invoice; null if there is none. */
export async function findActiveCheckoutOf(
  db: Db,
  scope: Scope,
  targetKey: string,
): Promise<CheckoutRecord | null> {
  const [row] = await db<CheckoutRecord[]>`
    select ${columnList(db, CHECKOUT_COLUMNS)} from checkout_sessions
     where ${inScope(db, scope)} and target_key = ${targetKey}
       and checkout_status in ('initiated', 'pending')`;
  return row ?? null;
}

/** Whether there is one. */
export async function hasActiveCheckout(db: Db, scope: Scope, targetKey: string): Promise<boolean> {
  return (await findActiveCheckoutOf(db, scope, targetKey)) !== null;
}

const EVENT_OF = {
  complete: 'checkout.session.completed',
  fail: 'checkout.session.failed',
  expire: 'checkout.session.expired',
} as const;

/** Ends a locked active session with its notification. A cancellation that the payment overtook is forgotten. */
export async function endActiveCheckout(
  tx: Transaction,
  scope: Scope,
  active: CheckoutRecord,
  outcome: 'complete' | 'fail' | 'expire',
  {
    reason,
    ...change
  }: {
    readonly reason: string;
    readonly updated_at: string;
    readonly updated_by: string;
  },
): Promise<void> {
  const checkout_status = moveCheckout(active.checkout_status, outcome);
  const ended = await updateCheckout(tx, scope, active.id, {
    checkout_status,
    ...(outcome === 'complete'
      ? { completed_at: change.updated_at, cancelled_at: null }
      : { failure_reason: reason }),
    ...change,
  });
  await writeOutboxEvents(tx, [await checkoutEvent(tx, EVENT_OF[outcome], scope, ended)]);
}

/** The notification of a session in its current state, with the page where its customer pays (money 17.3). */
export async function checkoutEvent(
  tx: Transaction,
  event_type: `checkout.session.${'initiated' | 'completed' | 'failed' | 'expired'}`,
  scope: Scope,
  session: CheckoutRecord,
): Promise<OutboxEvent & { readonly scope: Scope }> {
  return {
    scope,
    event_type,
    payload: {
      checkout_session: {
        id: session.id,
        environment_id: session.environment_id,
        customer_id: session.customer_id,
        action: session.action,
        checkout_status: session.checkout_status,
        payment_provider: session.payment_provider,
        checkout_invoice_id: session.checkout_invoice_id,
        checkout_payment_id: session.checkout_payment_id,
        payment_action: await paymentActionOf(tx, scope, session),
        expires_at: session.expires_at,
        completed_at: session.completed_at,
        cancelled_at: session.cancelled_at,
        failure_reason: session.failure_reason,
      },
    },
  };
}

/** Null for the test gateway: its page is ours, and no row may hold the secret of that address (money 11.30). */
async function paymentActionOf(
  tx: Transaction,
  scope: Scope,
  { payment_provider, checkout_payment_id }: CheckoutRecord,
): Promise<{ readonly type: 'payment_link'; readonly url: string } | null> {
  if (payment_provider === 'test' || checkout_payment_id === null) return null;
  const [payment] = await tx<{ payment_url: string | null }[]>`
    select payment_url from payments where ${inScope(tx, scope)} and id = ${checkout_payment_id}`;
  const url = payment?.payment_url ?? null;
  return url === null ? null : { type: 'payment_link', url };
}
