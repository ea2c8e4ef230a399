import { GatewayUnavailable, type GatewayEvent } from '../../../platform/gateways/gateway.ts';
import { inScope, type Db, type Transaction } from '../../../postgres/client.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import { inCustomersTime } from '../../customers/test-clocks/in-customers-time.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { gatewayUnavailable, type OpenGateway } from '../gateways/open-gateway.ts';
import {
  applyGatewayRefund,
  dispatchRefunds,
  recordOutsideRefund,
} from '../refunds/settle-refund.ts';
import { applyGatewayPayment } from './apply-gateway.ts';

interface Handled {
  readonly outcome: 'applied' | 'set_aside' | 'ignored';
  readonly reason: string | null;
  readonly refunds: readonly RefundRecord[];
}

/**
 * Handles an event of a gateway with a verified signature. Each event id is handled once, in the transaction
 * of its effect. The state is read from the gateway before a final status is written, because events may be
 * late or out of order. An event about an unknown payment is stored and answered with success, so that the
 * gateway does not repeat it.
 */
export async function receiveGatewayEvent(
  given: BillingDeps,
  open: OpenGateway,
  event: GatewayEvent,
): Promise<void> {
  const caller: Caller = { scope: open.scope, user_id: '' };
  const paymentId = await paymentOf(given.pool, open, event);
  const named = paymentId === null ? [] : [paymentId];
  const deps = await inCustomersTime(given.pool, given, open.scope, named);
  const work = await asked(deps, open, event, paymentId);
  const refunds = await deps.pool.begin(async (tx) => {
    const isFirst = await claimEvent(tx, deps, caller, open, event, paymentId);
    if (!isFirst) return [];
    const handled = await work(tx, caller);
    await tx`
      update gateway_events set outcome = ${handled.outcome}, reason = ${handled.reason}
       where ${inScope(tx, open.scope)} and connection_id = ${open.connection_id}
         and event_id = ${event.event_id}`;
    return handled.refunds;
  });
  await dispatchRefunds(deps, caller, refunds);
}

type Work = (tx: Transaction, caller: Caller) => Promise<Handled>;
const IGNORED: Work = () =>
  Promise.resolve({
    outcome: 'ignored',
    reason: 'The event concerns no payment of this environment.',
    refunds: [],
  });

/** Reads the state from the gateway outside of any transaction. Returns the function that applies it. */
async function asked(
  deps: BillingDeps,
  open: OpenGateway,
  event: GatewayEvent,
  paymentId: string | null,
): Promise<Work> {
  if (paymentId === null) return IGNORED;
  try {
    if (event.kind === 'payment') {
      const state = await open.gateway.findPayment(event.gateway_payment_id);
      if (state === null) return IGNORED;
      return async (tx, caller) => {
        const applied = await applyGatewayPayment(tx, deps, caller, open, paymentId, state);
        const outcome = applied.mismatch === null ? 'applied' : 'set_aside';
        return { outcome, reason: applied.mismatch, refunds: applied.refunds };
      };
    }
    if (event.kind === 'dispute')
      return async (tx, caller) => {
        await recordOutsideRefund(tx, deps, caller, paymentId, {
          gateway_refund_id: event.dispute_id,
          amount: event.amount,
          metadata: { dispute: event.dispute_id },
        });
        return { outcome: 'applied', reason: null, refunds: [] };
      };
    const state = await open.gateway.findRefund(event.gateway_refund_id);
    if (state === null) return IGNORED;
    return async (tx, caller) => {
      const ours = await refundOf(tx, open, paymentId, event.gateway_refund_id, state.reference);
      if (ours !== null) await applyGatewayRefund(tx, deps, caller, ours, state);
      else if (state.state === 'succeeded')
        await recordOutsideRefund(tx, deps, caller, paymentId, {
          gateway_refund_id: event.gateway_refund_id,
          amount: state.amount,
          metadata: {},
        });
      return { outcome: 'applied', reason: null, refunds: [] };
    };
  } catch (error) {
    throw error instanceof GatewayUnavailable ? gatewayUnavailable() : error;
  }
}

/**
 * Our payment: by its id at the gateway, or by our reference if the gateway's answer has not been stored yet.
 */
async function paymentOf(
  db: Db,
  { scope, connection_id }: OpenGateway,
  event: GatewayEvent,
): Promise<string | null> {
  const [row] = await db<{ id: string }[]>`
    select id from payments
     where ${inScope(db, scope)} and connection_id = ${connection_id}
       and (gateway_payment_id = ${event.gateway_payment_id}
            or gateway_tracking_id = ${event.gateway_payment_id}
            or (gateway_payment_id is null and id = ${event.reference ?? ''}))
     order by gateway_payment_id nulls last limit 1`;
  return row?.id ?? null;
}

async function refundOf(
  db: Db,
  { scope }: OpenGateway,
  paymentId: string,
  gatewayRefundId: string,
  reference: string | null,
): Promise<Pick<RefundRecord, 'id' | 'payment_id'> | null> {
  const [row] = await db<Pick<RefundRecord, 'id' | 'payment_id'>[]>`
    select id, payment_id from refunds
     where ${inScope(db, scope)} and payment_id = ${paymentId}
       and (gateway_refund_id = ${gatewayRefundId} or id = ${reference ?? ''})`;
  return row ?? null;
}

/** False if the event was handled before. Waits for a transaction that is handling it now. */
async function claimEvent(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  open: OpenGateway,
  event: GatewayEvent,
  paymentId: string | null,
): Promise<boolean> {
  const row = {
    ...newRecord(deps, caller, 'event'),
    connection_id: open.connection_id,
    event_id: event.event_id,
    kind: event.kind,
    payment_id: paymentId,
    gateway_payment_id: event.gateway_payment_id,
    outcome: 'ignored',
    reason: null,
  };
  const inserted = await tx`
    insert into gateway_events ${tx(row)} on conflict (connection_id, event_id) do nothing
    returning id`;
  return inserted.length > 0;
}
