import { withArticle } from '../../../domain/article.ts';
import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import { isDeletable } from '../../../domain/invoicing/payments.ts';
import { assertReport } from '../../../domain/invoicing/reported-payment.ts';
import { decimal } from '../../../domain/money.ts';
import { movePayment } from '../../../domain/states/payment.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { PaymentRecord, UpdatePaymentBody } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, sent, type Caller } from '../../conventions/record.ts';
import { assertPurchaseOpen } from '../computing/complete-purchase.ts';
import { lockPaymentWithInvoice, type LockedPayment } from '../computing/lock-payment.ts';
import { reviseInvoicePayment } from '../computing/revise-invoice-payment.ts';
import { findSealedConnection, holdConnection } from '../gateways/connection-repository.ts';
import { paymentInProgress } from './close-payment.ts';
import { reserveAttempt } from './dispatch-payment.ts';
import { findPaymentMethod } from '../records/payment-method-repository.ts';
import { attemptsOf, updatePayment } from '../records/payment-repository.ts';
import { paymentEvent } from '../records/payment-notification.ts';
import { endCheckout } from './end-checkout.ts';
import { followCollection } from './follow-collection.ts';
import { payWithCredits } from './pay-with-credits.ts';
import { movePaymentTo } from './settle-payment.ts';

/**
 * Changes a payment, never its amount. The status follows the table of money 21. Only the gateway changes the
 * status of a payment of a connected gateway, and only refunds change a settled payment (money 8.3.1). A
 * gateway's payment id makes an INITIATED payment PENDING (8.3.2).
 */
export async function changePayment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: UpdatePaymentBody,
): Promise<PaymentRecord> {
  const found = await lockPaymentWithInvoice(tx, caller, id);
  const { payment } = found;
  const { payment_status: status, amount, ...fields } = body;
  if (amount != null && !decimal(amount).eq(payment.amount))
    throw invalidField('amount', 'the amount of a payment cannot be changed');
  const isLinked = body.gateway_payment_id != null && payment.payment_status === 'INITIATED';
  const to = status ?? (isLinked ? 'PENDING' : payment.payment_status);
  movePayment(payment.payment_status, to);
  const isOfGateway = await isMovedByGateway(tx, caller, payment);
  if (to !== payment.payment_status) assertMovable(payment, to, isOfGateway);
  if (to === 'SUCCEEDED' || to === 'OVERPAID') await assertStillSold(tx, caller, found);
  assertOwnFields(payment, body);
  await assertMethodOfCustomer(tx, caller, payment, body);
  assertReport(payment, body, to, { at: isoTime(deps.clock.now()), isOfGateway });
  return await movePaymentTo(tx, deps, caller, found, to, sent(fields) as Partial<PaymentRecord>);
}

/** 400 for a payment of credits whose wallet was closed meanwhile. */
async function assertStillSold(
  tx: Transaction,
  { scope }: Caller,
  { locked }: LockedPayment,
): Promise<void> {
  if (locked !== null) await assertPurchaseOpen(tx, scope, locked.invoice);
}

/** A gateway whose connection was deleted reports nothing more: a person tells what happened there (money 8.3.1). */
async function isMovedByGateway(
  tx: Transaction,
  { scope }: Caller,
  { connection_id: id }: PaymentRecord,
): Promise<boolean> {
  return id !== null && (await findSealedConnection(tx, scope, id)) !== null;
}

function assertMovable(
  payment: PaymentRecord,
  to: PaymentRecord['payment_status'],
  byGateway: boolean,
): void {
  if (byGateway) throw invalidField('payment_status', 'is set by the gateway of the payment');
  if (to === 'REFUNDED' || to === 'PARTIALLY_REFUNDED')
    throw invalidField('payment_status', `${to} follows from refunds: create a refund`);
  if (payment.payment_method_type === 'CREDITS' && to !== 'VOIDED' && to !== 'FAILED')
    throw invalidField('payment_status', 'a CREDITS payment is settled by processing it');
  if (to === 'VOIDED' && payment.succeeded_at !== null)
    throw invalidField('payment_status', 'a settled payment is not voided: create a refund');
}

/** Fields that a connected gateway writes. */
const GATEWAY_FIELDS = ['gateway_payment_id', 'payment_gateway', 'payment_method_id'] as const;

function assertOwnFields(payment: PaymentRecord, body: UpdatePaymentBody): void {
  if (payment.connection_id === null) return;
  for (const field of GATEWAY_FIELDS)
    if (body[field] !== undefined && body[field] !== payment[field])
      throw invalidField(field, 'is set by the gateway of the payment');
}

/** 400 for the saved method of another customer. The id that a method has at the gateway is any text (money 8.3.3). */
async function assertMethodOfCustomer(
  tx: Transaction,
  { scope }: Caller,
  payment: PaymentRecord,
  { payment_method_id: named }: UpdatePaymentBody,
): Promise<void> {
  const saved = named ? await findPaymentMethod(tx, scope, named) : null;
  if (saved !== null && saved.customer_id !== payment.customer_id)
    throw invalidField('payment_method_id', 'is not a saved payment method of the customer');
}

/** Archives a payment that has not settled (interface, other shown behaviors). */
export async function deletePayment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const { payment, locked } = await lockPaymentWithInvoice(tx, caller, id);
  if (!isDeletable(payment.payment_status))
    throw invalidOperation(
      `${withArticle(payment.payment_status)} payment cannot be deleted; void or refund it instead.`,
      'payment_status',
    );
  const change = changed(deps, caller);
  const archived = await updatePayment(tx, caller.scope, id, {
    status: 'archived',
    archived_at: change.updated_at,
    ...change,
  });
  const concerned = await endCheckout(tx, deps, caller, archived, locked, 'fail');
  await writeOutboxEvents(tx, [await paymentEvent(tx, 'payment.updated', caller.scope, archived)]);
  if (concerned === null) return;
  const invoice = await reviseInvoicePayment(tx, deps, caller, concerned);
  await followCollection(tx, caller.scope, archived, invoice, archived.updated_at);
}

/**
 * Executes a payment that was only recorded. A gateway payment is prepared here and sent afterwards
 * (`syncPayment`). 400 for a settled payment; 409 for a payment that waits for its gateway.
 */
export async function processPayment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<PaymentRecord> {
  const found = await lockPaymentWithInvoice(tx, caller, id);
  const { payment } = found;
  if (payment.payment_status !== 'INITIATED' && payment.payment_status !== 'PENDING')
    throw invalidOperation(
      `${withArticle(payment.payment_status)} payment cannot be processed.`,
      'payment_status',
    );
  await assertStillSold(tx, caller, found);
  if (payment.payment_method_type === 'CREDITS')
    return await payWithCredits(tx, deps, caller, found);
  if (payment.payment_method_type === 'OFFLINE')
    return await movePaymentTo(tx, deps, caller, found, 'SUCCEEDED');
  if (payment.connection_id === null)
    throw invalidOperation(
      'The gateway of the payment is not connected; report the outcome with PUT.',
      'payment_gateway',
    );
  if (payment.payment_status !== 'INITIATED' || (await attemptsOf(tx, caller.scope, id)).length > 0)
    throw paymentInProgress();
  if (!(await holdConnection(tx, caller.scope, payment.connection_id)))
    throw invalidOperation('The gateway of the payment is not connected.', 'payment_gateway');
  await reserveAttempt(tx, deps, caller, payment);
  return payment;
}
