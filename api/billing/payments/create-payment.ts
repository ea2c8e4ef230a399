import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import { assertNotGated } from '../../../domain/invoicing/gated-invoice.ts';
import {
  assertCollectable,
  isOpenAfterRefund,
} from '../../../domain/invoicing/pay-from-wallets.ts';
import {
  assertAmountIn,
  assertNoCardNumber,
  assertPaymentAmount,
  initialPaymentStatus,
} from '../../../domain/invoicing/payments.ts';
import { decimal, ZERO } from '../../../domain/money.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { CreatePaymentBody, PaymentRecord } from '../../../schemas/payment.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { assertPurchaseOpen } from '../computing/complete-purchase.ts';
import {
  lockInvoiceToPay,
  reviseInvoicePayment,
  type LockedInvoice,
} from '../computing/revise-invoice-payment.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { insertPayment, paymentsOfInvoice } from '../records/payment-repository.ts';
import { paymentEvent } from '../records/payment-notification.ts';
import { assertReturnAddresses } from '../gateways/return-addresses.ts';
import { reserveAttempt } from './dispatch-payment.ts';
import { payWithCredits, walletFor } from './pay-with-credits.ts';
import { isCollected, sourceOf } from './payment-source.ts';
import { fingerprintOf, keyInUse, repeatedPayment } from './repeated-payment.ts';
import { movePaymentTo } from './settle-payment.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';

/** A created payment, or the earlier payment with the same key. */
export interface CreatedPayment {
  readonly payment: PaymentRecord;
  readonly isRepeat: boolean;
}

/**
 * Records a payment (money 8.1, 8.2). A processed OFFLINE payment settles in the same transaction, because
 * its money has already moved. A repeat with the same key returns the first payment and changes nothing.
 * `ofGate`: the payment of a checkout session, whose invoice is still a draft.
 */
export async function createPayment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreatePaymentBody,
  options: { readonly ofGate?: boolean } = {},
): Promise<CreatedPayment> {
  assertMethod(body);
  assertReceipt(body, deps.clock.now());
  await assertReturnAddresses(tx, caller.scope, body);
  const fingerprint = fingerprintOf(body);
  const key = body.idempotency_key ?? null;
  const known = await repeatedPayment(tx, caller, key, fingerprint);
  if (known !== null) return { payment: known, isRepeat: true };

  const locked =
    body.destination_type === 'INVOICE'
      ? await lockedInvoice(tx, caller, body.destination_id)
      : null;
  // The lock of the invoice waits for a concurrent request with the same key. It has committed by now.
  const first = await repeatedPayment(tx, caller, key, fingerprint);
  if (first !== null) return { payment: first, isRepeat: true };
  const customerId = locked?.invoice.customer_id ?? body.destination_id;
  if (locked === null) {
    assertAmountIn(body.currency, decimal(body.amount));
    await getCustomer(tx, caller.scope, customerId);
  } else await assertPayable(tx, caller, locked, body, options.ofGate === true);

  const wallet =
    locked === null || body.payment_method_type !== 'CREDITS'
      ? null
      : await walletFor(
          tx,
          deps,
          caller,
          locked.invoice,
          decimal(body.amount),
          body.payment_method_id ?? null,
        );
  const source = await sourceOf(tx, caller, body, customerId);
  const inserted = await insertPayment(tx, {
    ...newPayment(deps, caller, body, { customerId, fingerprint, wallet }),
    ...source,
  });
  if (inserted === null) {
    const winner = await repeatedPayment(tx, caller, key, fingerprint);
    if (winner === null) throw keyInUse();
    return { payment: winner, isRepeat: true };
  }
  await writeOutboxEvents(tx, [await paymentEvent(tx, 'payment.created', caller.scope, inserted)]);
  const invoice = locked && (await reviseInvoicePayment(tx, deps, caller, locked));
  if (isCollected(body.payment_method_type) || body.process_payment === false) {
    if (inserted.connection_id !== null && body.process_payment !== false)
      await reserveAttempt(tx, deps, caller, inserted);
    return { payment: inserted, isRepeat: false };
  }
  const found = { payment: inserted, locked: locked && { ...locked, invoice: invoice! } };
  const received = body.succeeded_at ? { succeeded_at: body.succeeded_at } : {};
  const settled =
    wallet === null
      ? await movePaymentTo(tx, deps, caller, found, 'SUCCEEDED', received)
      : await payWithCredits(tx, deps, caller, found);
  return { payment: settled, isRepeat: false };
}

/** Refuses combinations that no payment method accepts (money 8.1.2, 8.1.3). */
function assertMethod(body: CreatePaymentBody): void {
  const { payment_method_type: method } = body;
  if (body.payment_method_id) assertNoCardNumber(body.payment_method_id, 'payment_method_id');
  if (method === 'OFFLINE' && body.payment_method_id)
    throw invalidField('payment_method_id', 'an OFFLINE payment has no method');
  if ((method === 'ACH' || method === 'UPI') && !body.payment_method_id)
    throw invalidField('payment_method_id', `is required for ${method}`);
  if (method === 'PAYMENT_LINK' && !body.payment_gateway)
    throw invalidField('payment_gateway', 'is required for PAYMENT_LINK');
  if ((method === 'OFFLINE' || method === 'CREDITS') && body.payment_gateway)
    throw invalidField('payment_gateway', `a payment of type ${method} uses no gateway`);
  if ((method === 'OFFLINE' || method === 'CREDITS') && body.save_card_and_make_default === true)
    throw invalidField(
      'save_card_and_make_default',
      `a payment of type ${method} has no method to save`,
    );
  if (method === 'CREDITS' && body.destination_type !== 'INVOICE')
    throw invalidField('destination_type', 'must be INVOICE for a CREDITS payment');
  if (collectsTaxId(body) && (method !== 'PAYMENT_LINK' || body.payment_gateway !== 'stripe'))
    throw invalidField(
      'gateway_options.stripe.tax_id_collection_enabled',
      'is for a payment of type PAYMENT_LINK through the gateway stripe',
    );
}

/** Refuses a time of receipt that a payment cannot have (money 8.1.8). */
function assertReceipt(body: CreatePaymentBody, nowMs: number): void {
  if (body.succeeded_at == null) return;
  if (body.payment_method_type !== 'OFFLINE' || body.process_payment === false)
    throw invalidField('succeeded_at', 'is for an OFFLINE payment that is processed');
  if (Date.parse(body.succeeded_at) > nowMs)
    throw invalidField('succeeded_at', 'must not be in the future');
}

const collectsTaxId = ({ gateway_options }: CreatePaymentBody): boolean =>
  gateway_options?.stripe?.tax_id_collection_enabled === true;

/** An unknown invoice is 404; the rows are locked after that. */
async function lockedInvoice(
  tx: Transaction,
  caller: Caller,
  invoiceId: string,
): Promise<LockedInvoice> {
  await getInvoice(tx, caller.scope, invoiceId);
  return await lockInvoiceToPay(tx, caller, invoiceId);
}

/**
 * Refuses an invoice that cannot be paid, another currency, and more than the open amount (money 8.1.4 to
 * 8.1.6).
 */
async function assertPayable(
  tx: Transaction,
  caller: Caller,
  { invoice }: LockedInvoice,
  body: CreatePaymentBody,
  ofGate: boolean,
): Promise<void> {
  if (!ofGate) {
    assertNotGated(invoice);
    if (!isOpenAfterRefund(invoice)) assertCollectable(invoice);
    await assertPurchaseOpen(tx, caller.scope, invoice);
  }
  if (decimal(invoice.amount_remaining).lte(ZERO))
    throw invalidOperation('The invoice has nothing left to pay.', 'amount_remaining');
  if (body.currency !== invoice.currency)
    throw invalidField('currency', `must be the invoice's currency, ${invoice.currency}`);
  const payments = await paymentsOfInvoice(tx, caller.scope, invoice.id);
  assertPaymentAmount(
    decimal(body.amount),
    body.payment_method_type,
    {
      currency: invoice.currency,
      amount_remaining: invoice.amount_remaining,
      in_flight: payments.filter(({ payment_status: status }) => IN_FLIGHT.has(status)),
    },
    false,
  );
}

const IN_FLIGHT: ReadonlySet<string> = new Set(['INITIATED', 'PENDING', 'PROCESSING']);

function newPayment(
  deps: BillingDeps,
  caller: Caller,
  body: CreatePaymentBody,
  {
    customerId,
    fingerprint,
    wallet,
  }: {
    readonly customerId: string;
    readonly fingerprint: string;
    readonly wallet: WalletRow | null;
  },
): PaymentRecord {
  const method = body.payment_method_type;
  const implicit = `payment-${fingerprint}`;
  return {
    ...newRecord(deps, caller, 'pay'),
    destination_type: body.destination_type,
    destination_id: body.destination_id,
    customer_id: customerId,
    payment_method_type: method,
    payment_method_id:
      method === 'PAYMENT_LINK' ? null : (wallet?.id ?? body.payment_method_id ?? null),
    payment_gateway: body.payment_gateway ?? null,
    connection_id: null,
    gateway_payment_id: null,
    gateway_tracking_id: null,
    gateway_metadata: collectsTaxId(body) ? { tax_id_collection_enabled: 'true' } : {},
    amount: body.amount,
    currency: body.currency,
    payment_status: initialPaymentStatus(method, body.process_payment !== false),
    is_manual: false,
    track_attempts: method !== 'OFFLINE' && method !== 'CREDITS',
    payment_url: null,
    success_url: body.success_url ?? null,
    cancel_url: body.cancel_url ?? null,
    save_card_and_make_default: body.save_card_and_make_default ?? false,
    idempotency_key: body.idempotency_key ?? implicit,
    request_fingerprint: fingerprint,
    implicit_key: body.idempotency_key ? null : implicit,
    error_message: null,
    succeeded_at: null,
    failed_at: null,
    refunded_at: null,
    voided_at: null,
    last_synced_at: null,
    last_answered_at: null,
    archived_at: null,
    metadata: {
      ...body.metadata,
      // Older clients read the chosen wallet here (as the reference answers).
      ...(wallet === null || body.payment_method_id
        ? {}
        : { wallet_id: wallet.id, wallet_type: wallet.wallet_type }),
    },
  };
}
