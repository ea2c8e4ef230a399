import { GatewayUnavailable, type GatewayEvent } from '../../../platform/gateways/gateway.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import { inCustomersTime } from '../../customers/test-clocks/in-customers-time.ts';
import { type Caller } from '../../conventions/record.ts';
import { gatewayUnavailable, type OpenGateway } from '../gateways/open-gateway.ts';
import {
  applyGatewayRefund,
  dispatchRefunds,
  recordOutsideRefund,
} from '../refunds/settle-refund.ts';
import { getPayment } from '../records/payment-repository.ts';
import { applyGatewayPayment } from './apply-gateway.ts';
import {
  claimEvent,
  noteOutcome,
  findPaymentOfEvent,
  findRefundOfEvent,
  type EventOutcome,
} from './gateway-event-repository.ts';

interface Handled extends EventOutcome {
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
  const paymentId = await findPaymentOfEvent(given.pool, open, event);
  const named = paymentId === null ? [] : [paymentId];
  const deps = await inCustomersTime(given.pool, given, open.scope, named);
  const work = await asked(deps, open, event, paymentId);
  const refunds = await deps.pool.begin(async (tx) => {
    const isFirst = await claimEvent(tx, deps, caller, open, event, paymentId);
    if (!isFirst) return [];
    const handled = await work(tx, caller);
    await noteOutcome(tx, open, event, handled);
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
    const paid = await paidBefore(deps, open, event, paymentId);
    if (event.kind === 'dispute')
      return async (tx, caller) => {
        const { id, refunds } = await paid(tx, caller);
        await recordOutsideRefund(tx, deps, caller, id, {
          gateway_refund_id: event.dispute_id,
          amount: event.amount,
          metadata: { dispute: event.dispute_id },
        });
        return { outcome: 'applied', reason: null, refunds };
      };
    const state = await open.gateway.findRefund(event.gateway_refund_id);
    if (state === null) return IGNORED;
    return async (tx, caller) => {
      const { id, refunds } = await paid(tx, caller);
      const refundId = event.gateway_refund_id;
      const ours = await findRefundOfEvent(tx, open, id, refundId, state.reference);
      if (ours !== null) await applyGatewayRefund(tx, deps, caller, ours, state);
      else if (state.state === 'succeeded')
        await recordOutsideRefund(tx, deps, caller, id, {
          gateway_refund_id: refundId,
          amount: state.amount,
          metadata: {},
        });
      return { outcome: 'applied', reason: null, refunds };
    };
  } catch (error) {
    throw error instanceof GatewayUnavailable ? gatewayUnavailable() : error;
  }
}

/** The payment that has the money of an event, and refunds that its arrival caused. */
type Paid = (
  tx: Transaction,
  caller: Caller,
) => Promise<{ readonly id: string; readonly refunds: readonly RefundRecord[] }>;

/**
 * Money leaves a payment after it has arrived, also if the gateway tells of both in the other order: a payment that has
 * not settled here is first read from the gateway. Money for one that was given up is a payment of its own.
 */
async function paidBefore(
  deps: BillingDeps,
  open: OpenGateway,
  { gateway_payment_id }: GatewayEvent,
  paymentId: string,
): Promise<Paid> {
  const { succeeded_at } = await getPayment(deps.pool, open.scope, paymentId);
  const state = succeeded_at !== null ? null : await open.gateway.findPayment(gateway_payment_id);
  if (state?.state !== 'succeeded') return async () => ({ id: paymentId, refunds: [] });
  return async (tx, caller) => {
    const applied = await applyGatewayPayment(tx, deps, caller, open, paymentId, state);
    return { id: applied.payment.id, refunds: applied.refunds };
  };
}
