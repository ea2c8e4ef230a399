import { Decimal, decimal, decimalText } from '../../../domain/money.ts';
import { refundCapacity } from '../../../domain/invoicing/refunds.ts';
import { moveRefund } from '../../../domain/states/refund.ts';
import {
  GatewayUnavailable,
  type GatewayRefund,
  type PaymentGateway,
} from '../../../platform/gateways/gateway.ts';
import { type Transaction } from '../../../postgres/client.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { lockPaymentWithInvoice } from '../computing/lock-payment.ts';
import { reviseInvoicePayment } from '../computing/revise-invoice-payment.ts';
import { isConnectionDeleted } from '../gateways/connection-repository.ts';
import { findGateway } from '../gateways/open-gateway.ts';
import { getPayment } from '../records/payment-repository.ts';
import {
  getRefund,
  lockRefund,
  noteRefundSent,
  refundsOfPayments,
  updateRefund,
} from '../records/refund-repository.ts';
import { recallRefundedCredits } from '../wallets/undo-purchase.ts';
import { refundEvent } from './refund-notification.ts';
import { CONNECTION_DELETED, movePaymentsByRefunds } from './return-money.ts';

/**
 * Sends a stored refund to its gateway, or reads its state if it was sent before (money 9.3). If the outcome
 * is unknown, or the connection is gone, the refund does not change and the job goes on (`reconcileRefund`).
 * Returns the refund.
 */
export async function dispatchRefund(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<RefundRecord> {
  const refund = await getRefund(deps.pool, caller.scope, id);
  const isOpen = refund.refund_status === 'PENDING' || refund.refund_status === 'PROCESSING';
  const payment = await getPayment(deps.pool, caller.scope, refund.payment_id);
  if (!isOpen || payment.connection_id === null || payment.gateway_payment_id === null)
    return refund;
  try {
    const open = await findGateway(deps, caller.scope, payment.connection_id);
    if (open === null) return refund;
    if (!(await noteRefundSent(deps.pool, caller.scope, id)))
      return await getRefund(deps.pool, caller.scope, id);
    const state = await stateAt(open.gateway, refund, payment.gateway_payment_id);
    if (state === null) return refund;
    return await deps.pool.begin((tx) => applyGatewayRefund(tx, deps, caller, refund, state));
  } catch (error) {
    if (!(error instanceof GatewayUnavailable)) throw error;
    return refund;
  }
}

/**
 * The same, by the job. A refund that was not sent before its connection was deleted fails; a person may then pay it
 * into the wallet (money 9.5, 9.6). One that may have been sent stays open: failing it could return the money twice.
 */
export async function reconcileRefund(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<RefundRecord> {
  const refund = await dispatchRefund(deps, caller, id);
  if (refund.refund_status !== 'PENDING' || refund.was_sent) return refund;
  const { connection_id, gateway_payment_id } = await getPayment(
    deps.pool,
    caller.scope,
    refund.payment_id,
  );
  if (
    connection_id === null ||
    !(await isConnectionDeleted(deps.pool, caller.scope, connection_id))
  )
    return refund;
  const state = neverSent(refund, gateway_payment_id ?? '');
  const isUnsent = ({ was_sent }: RefundRecord) => !was_sent;
  return await deps.pool.begin((tx) =>
    applyGatewayRefund(tx, deps, caller, refund, state, isUnsent),
  );
}

const stateAt = (
  gateway: PaymentGateway,
  refund: RefundRecord,
  gateway_payment_id: string,
): Promise<GatewayRefund | null> =>
  refund.gateway_refund_id === null
    ? gateway.refund({
        token: refund.gateway_idempotency_token ?? refund.id,
        reference: refund.id,
        gateway_payment_id,
        amount: refund.amount,
        currency: refund.currency,
      })
    : gateway.findRefund(refund.gateway_refund_id);

const neverSent = (refund: RefundRecord, gateway_payment_id: string): GatewayRefund => ({
  gateway_refund_id: null,
  gateway_payment_id,
  reference: refund.id,
  state: 'failed',
  amount: refund.amount,
  error: CONNECTION_DELETED,
});

/**
 * Sends every refund of the list that waits for a gateway, after the commit that stored them. What caused them is
 * done: a refund that cannot be sent now stays PENDING, and the job `reconcile-payments` repeats it.
 */
export async function dispatchRefunds(
  deps: BillingDeps,
  caller: Caller,
  refunds: readonly RefundRecord[],
): Promise<void> {
  for (const { id, refund_status } of refunds) {
    if (refund_status !== 'PENDING') continue;
    try {
      await dispatchRefund(deps, caller, id);
    } catch (error) {
      deps.log.warn({ err: error, refund_id: id }, 'refund not sent to its gateway; a job repeats');
    }
  }
}

const TRIGGER_OF = {
  pending: 'accept',
  succeeded: 'succeed',
  failed: 'fail',
  cancelled: 'cancel',
} as const;

/**
 * Applies the gateway's state of a refund to ours, if that is wanted of the locked refund. A refund settles once: a
 * second report changes nothing (money 9.4). Payment and invoice are derived again.
 */
export async function applyGatewayRefund(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { id, payment_id }: Pick<RefundRecord, 'id' | 'payment_id'>,
  state: GatewayRefund,
  isWanted: (refund: RefundRecord) => boolean = () => true,
): Promise<RefundRecord> {
  const { payment, locked } = await lockPaymentWithInvoice(tx, caller, payment_id);
  const refund = await lockRefund(tx, caller.scope, id);
  if (!isWanted(refund)) return refund;
  const to = moveRefund(refund.refund_status, TRIGGER_OF[state.state]);
  const change = changed(deps, caller);
  if (to === refund.refund_status && refund.gateway_refund_id !== null) return refund;
  const moved = await updateRefund(tx, caller.scope, id, {
    refund_status: to,
    gateway_refund_id: state.gateway_refund_id,
    ...(to === 'SUCCEEDED' ? { succeeded_at: change.updated_at } : {}),
    ...(to === 'FAILED' ? { failed_at: change.updated_at, failure_reason: state.error } : {}),
    ...(to === 'CANCELLED' ? { cancelled_at: change.updated_at, failure_reason: state.error } : {}),
    ...change,
  });
  if (to === 'SUCCEEDED')
    await writeOutboxEvents(tx, [refundEvent('refund.succeeded', caller.scope, moved)]);
  if (to === 'FAILED' || to === 'CANCELLED')
    await writeOutboxEvents(tx, [refundEvent('refund.failed', caller.scope, moved)]);
  const all = await refundsOfPayments(tx, caller.scope, [payment_id]);
  await movePaymentsByRefunds(tx, deps, caller, [payment], all);
  if (locked !== null) await reviseInvoicePayment(tx, deps, caller, locked);
  return moved;
}

/**
 * Records a refund that was made at the gateway, or a dispute (money 9.8, 9.9). The amount is at most the
 * rest of the payment. The same id at the gateway is recorded once. Credits that the payment has bought are taken
 * back as far as they are unspent (9.16).
 */
export async function recordOutsideRefund(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  paymentId: string,
  outside: {
    readonly gateway_refund_id: string;
    readonly amount: string;
    readonly metadata: Readonly<Record<string, string>>;
  },
): Promise<RefundRecord | null> {
  const { payment, locked } = await lockPaymentWithInvoice(tx, caller, paymentId);
  const earlier = await refundsOfPayments(tx, caller.scope, [paymentId]);
  const isKnown = earlier.some(
    ({ gateway_refund_id }) => gateway_refund_id === outside.gateway_refund_id,
  );
  const amount = Decimal.min(decimal(outside.amount), refundCapacity(payment, earlier));
  if (isKnown || amount.lte(0)) return null;
  const key = `gateway:${payment.connection_id ?? ''}:${outside.gateway_refund_id}`;
  const gone = { amount, key, isGone: true };
  if (locked !== null) await recallRefundedCredits(tx, deps, caller, locked.invoice, gone);
  const record = newRecord(deps, caller, 'refund');
  const refund: RefundRecord = {
    ...record,
    payment_id: paymentId,
    invoice_id: locked?.invoice.id ?? null,
    customer_id: payment.customer_id,
    credit_note_id: null,
    refund_target: 'BACK_TO_SOURCE',
    wallet_transaction_id: null,
    payment_gateway: payment.payment_gateway,
    gateway_refund_id: outside.gateway_refund_id,
    gateway_tracking_id: null,
    gateway_metadata: {},
    gateway_idempotency_token: null,
    was_sent: false,
    amount: decimalText(amount),
    currency: payment.currency,
    refund_status: moveRefund(null, 'record'),
    refund_reason: 'OTHER',
    idempotency_key: key,
    failure_reason: null,
    retry_of: null,
    initiated_at: record.created_at,
    succeeded_at: record.created_at,
    failed_at: null,
    cancelled_at: null,
    metadata: { ...outside.metadata },
  };
  await insertRows(tx, 'refunds', [refund]);
  await writeOutboxEvents(tx, [
    refundEvent('refund.created', caller.scope, refund),
    refundEvent('refund.succeeded', caller.scope, refund),
  ]);
  await movePaymentsByRefunds(tx, deps, caller, [payment], [...earlier, refund]);
  if (locked !== null) await reviseInvoicePayment(tx, deps, caller, locked);
  return refund;
}
