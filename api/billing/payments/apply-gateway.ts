import { decimal } from '../../../domain/money.ts';
import { canMovePayment } from '../../../domain/states/payment.ts';
import type { PaymentStatus } from '../../../domain/states/payment-status.ts';
import type { GatewayPayment } from '../../../platform/gateways/gateway.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { hasFailedPurchase } from '../computing/complete-purchase.ts';
import { lockStoredPaymentWithInvoice, type LockedPayment } from '../computing/lock-payment.ts';
import { reviseInvoicePayment } from '../computing/revise-invoice-payment.ts';
import type { OpenGateway } from '../gateways/open-gateway.ts';
import { noteLateMoney } from '../records/checkout-repository.ts';
import { paymentEvent } from '../records/payment-notification.ts';
import { insertAttempt, insertPayment, updatePayment } from '../records/payment-repository.ts';
import { savePaymentMethod } from '../payment-methods/save-payment-method.ts';
import { creditForPayment, returnMoney } from '../refunds/return-money.ts';
import { movePaymentTo } from './settle-payment.ts';

/**
 * The payment after the report, the refunds that it caused, and why the report was set aside; null if it was
 * not.
 */
export interface Applied {
  readonly payment: PaymentRecord;
  readonly refunds: readonly RefundRecord[];
  readonly mismatch: string | null;
}

/**
 * Applies the gateway's state of a payment to ours. The state comes from the answer to a request, from an
 * event or from the job, in any order and any number of times (money 8.3). A state with another amount,
 * currency, account or mode (test or live) is set aside and changes no payment. Money for a payment that is
 * deleted, voided or failed is recorded as a new payment. Money for a void invoice, or for credits whose wallet was
 * closed, is refunded (money 8.4.7, 2.11.9).
 */
export async function applyGatewayPayment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  open: OpenGateway,
  paymentId: string,
  state: GatewayPayment,
): Promise<Applied> {
  const found = await lockStoredPaymentWithInvoice(tx, caller, paymentId);
  const { payment } = found;
  const mismatch = mismatchOf(open, payment, state);
  const at = changed(deps, caller);
  if (mismatch !== null) {
    const updated = await updatePayment(tx, caller.scope, payment.id, {
      error_message: mismatch,
      last_synced_at: at.updated_at,
      last_answered_at: at.updated_at,
      ...at,
    });
    return { payment: updated, refunds: [], mismatch };
  }
  const known = {
    gateway_payment_id: state.gateway_payment_id ?? payment.gateway_payment_id,
    gateway_tracking_id: state.tracking_id ?? payment.gateway_tracking_id,
    payment_url: state.url ?? payment.payment_url,
    last_synced_at: at.updated_at,
    last_answered_at: at.updated_at,
  };
  const isGivenUp =
    payment.status !== 'published' ||
    payment.payment_status === 'VOIDED' ||
    payment.payment_status === 'FAILED';
  if (isGivenUp && state.state === 'succeeded')
    return await recordLate(tx, deps, caller, found, state);
  const to = statusOf(payment, state);
  if (isGivenUp || !canMovePayment(payment.payment_status, to)) {
    const same = await updatePayment(tx, caller.scope, payment.id, { ...known, ...at });
    return { payment: same, refunds: [], mismatch: null };
  }
  const isNews =
    to !== payment.payment_status ||
    state.error !== payment.error_message ||
    !payment.gateway_payment_id;
  if (isNews && to !== 'PENDING') await noteAttempt(tx, deps, caller, payment, to, state);
  if (!isNews) {
    // The time of the question is all that is new: it decides when to ask again (money 8.2.4, 11.20).
    const { last_synced_at, last_answered_at } = known;
    const times = { last_synced_at, last_answered_at };
    const same = await updatePayment(tx, caller.scope, payment.id, times);
    return { payment: same, refunds: [], mismatch: null };
  }
  const moved = await movePaymentTo(tx, deps, caller, found, to, {
    ...known,
    error_message: state.error,
  });
  if (to === 'SUCCEEDED') await keepMethod(tx, deps, caller, open, moved, state);
  const refunds =
    to === 'SUCCEEDED' ? await returnUnowed(tx, deps, caller, moved, found.locked) : [];
  return { payment: moved, refunds, mismatch: null };
}

/** Saves the method that paid and makes it the default, if the payment asked for it (money 8.5). */
async function keepMethod(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  open: OpenGateway,
  payment: PaymentRecord,
  { method }: GatewayPayment,
): Promise<void> {
  if (!payment.save_card_and_make_default || method === null) return;
  const described = {
    connection_id: open.connection_id,
    payment_gateway: open.gateway.provider,
    method,
  };
  await savePaymentMethod(tx, deps, caller, payment.customer_id, described, { is_default: true });
}

/** How the gateway's payment differs from ours; null if it is ours. */
function mismatchOf(
  { account, gateway }: OpenGateway,
  payment: PaymentRecord,
  state: GatewayPayment,
): string | null {
  if (!decimal(state.amount).eq(decimal(payment.amount)))
    return `The gateway has an amount of ${state.amount}, not ${payment.amount}.`;
  if (state.currency.toLowerCase() !== payment.currency)
    return `The gateway has the currency ${state.currency}, not ${payment.currency}.`;
  if (state.livemode !== gateway.livemode)
    return 'The gateway has the payment in the other mode (test or live).';
  if (account !== null && state.account !== null && account !== state.account)
    return 'The gateway has the payment in another account.';
  return null;
}

/**
 * A declined attempt does not end a payment link: the customer may pay it again (money 8.3.6). A link that the gateway
 * refused to make has no page to pay on.
 */
function statusOf(payment: PaymentRecord, state: GatewayPayment): PaymentStatus {
  switch (state.state) {
    case 'succeeded':
      return 'SUCCEEDED';
    case 'processing':
      return 'PROCESSING';
    case 'failed':
      return payment.payment_method_type === 'PAYMENT_LINK' && state.gateway_payment_id !== null
        ? 'PENDING'
        : 'FAILED';
    case 'cancelled':
      return 'FAILED';
    case 'pending':
    case 'requires_action':
      return payment.payment_status === 'PROCESSING' ? 'PROCESSING' : 'PENDING';
  }
}

async function noteAttempt(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  payment: PaymentRecord,
  status: PaymentStatus,
  state: GatewayPayment,
): Promise<void> {
  await insertAttempt(tx, {
    ...newRecord(deps, caller, 'attempt'),
    payment_id: payment.id,
    payment_status: status,
    error_message: state.error,
    gateway_attempt_id: state.gateway_payment_id,
    gateway_idempotency_token: null,
    metadata: {},
  });
}

/**
 * Records money that arrived for a deleted, voided or failed payment as a new payment. It may overpay the
 * invoice.
 */
async function recordLate(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { payment, locked }: LockedPayment,
  state: GatewayPayment,
): Promise<Applied> {
  const at = changed(deps, caller);
  // The id at the gateway moves to the new payment.
  await updatePayment(tx, caller.scope, payment.id, { gateway_payment_id: null, ...at });
  const late: PaymentRecord = {
    ...payment,
    ...newRecord(deps, caller, 'pay'),
    payment_status: 'SUCCEEDED',
    idempotency_key: `late:${state.gateway_payment_id ?? payment.id}`,
    implicit_key: null,
    gateway_payment_id: state.gateway_payment_id,
    gateway_tracking_id: state.tracking_id,
    error_message: null,
    succeeded_at: at.updated_at,
    failed_at: null,
    voided_at: null,
    archived_at: null,
    last_synced_at: at.updated_at,
    last_answered_at: at.updated_at,
    metadata: { ...payment.metadata, late_payment_of: payment.id },
  };
  const inserted = await insertPayment(tx, late);
  if (inserted === null) return { payment, refunds: [], mismatch: null };
  await noteLateMoney(tx, caller.scope, payment.id, at);
  await writeOutboxEvents(tx, [
    await paymentEvent(tx, 'payment.created', caller.scope, inserted),
    await paymentEvent(tx, 'payment.success', caller.scope, inserted),
  ]);
  const refunds = await returnUnowed(tx, deps, caller, inserted, locked);
  if (locked !== null) await reviseInvoicePayment(tx, deps, caller, locked);
  return { payment: inserted, refunds, mismatch: null };
}

/**
 * Refunds money to its source that arrived for a void invoice, or for credits whose wallet was closed (money 8.4.7,
 * 2.11.9).
 */
async function returnUnowed(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  payment: PaymentRecord,
  locked: LockedPayment['locked'],
): Promise<RefundRecord[]> {
  if (locked === null) return [];
  const { invoice } = locked;
  if (invoice.invoice_status === 'VOIDED')
    return await returnLate(
      tx,
      deps,
      caller,
      payment,
      'The invoice was void when the money arrived.',
    );
  if (!(await hasFailedPurchase(tx, caller.scope, invoice))) return [];
  const reason = 'The wallet of the purchase was closed when the money arrived.';
  return await returnLate(tx, deps, caller, payment, reason);
}

const returnLate = (
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  payment: PaymentRecord,
  reason: string,
): Promise<RefundRecord[]> =>
  returnMoney(tx, deps, caller, [payment], {
    amount: decimal(payment.amount),
    target: 'BACK_TO_SOURCE',
    refund_reason: 'OTHER',
    invoice_id: payment.destination_type === 'INVOICE' ? payment.destination_id : null,
    credit_note_id: null,
    idempotency_key: `late:${payment.id}`,
    metadata: { reason },
    wallet: creditForPayment(payment),
  });
