import { invalidField } from '../../../domain/errors.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import { moveCheckout } from '../../../domain/states/checkout.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CheckoutParams, CheckoutRecord } from '../../../schemas/checkout.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { PaymentMethod } from '../../../schemas/payment-method.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps, Gate } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { findGatewayConnection } from '../gateways/connection-repository.ts';
import { assertReturnAddresses } from '../gateways/return-addresses.ts';
import { createPayment } from '../payments/create-payment.ts';
import { insertCheckout, updateCheckout } from '../records/checkout-repository.ts';
import { findMethodToCharge } from './method-to-charge.ts';

/** How long a session lasts (money 11.5). */
const LIFETIME_MS = 30 * 60 * 1000;

/**
 * Stores a session with the payment of the open amount of the gate's invoice: a page, or the charge of a saved method
 * (money 11.22). 400 for a provider that is not connected and an address that is not allowed (11.7); 409 while the
 * target has another active session.
 */
export async function storeSession(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  checkout: CheckoutParams,
  gate: Gate,
): Promise<CheckoutRecord> {
  const { invoice } = gate;
  await assertConnected(tx, caller, checkout.payment_provider);
  await assertReturnAddresses(tx, caller.scope, checkout);
  const record = newRecord(deps, caller, 'cs');
  const method = await findMethodToCharge(tx, caller.scope, checkout, invoice);
  const isAutomatic =
    checkout.payment_provider_config?.collection_method === 'charge_automatically';
  const toPay = { ...checkout, id: record.id };
  const payment = await storePayment(tx, deps, caller, toPay, invoice, method, isAutomatic);
  const session: CheckoutRecord = {
    ...record,
    customer_id: invoice.customer_id,
    action: gate.action,
    checkout_status: moveCheckout(null, 'create'),
    payment_provider: checkout.payment_provider,
    target_key: gate.target_key,
    request_fingerprint: '',
    request_result: null,
    checkout_invoice_id: invoice.id,
    checkout_payment_id: payment.id,
    configuration: { ...gate.configuration },
    payment_provider_config: checkout.payment_provider_config ?? null,
    idempotency_key: checkout.idempotency_key ?? null,
    success_url: checkout.success_url ?? null,
    failure_url: checkout.failure_url ?? null,
    cancel_url: checkout.cancel_url ?? null,
    expires_at: isoTime(deps.clock.now() + LIFETIME_MS),
    completed_at: null,
    cancelled_at: null,
    failure_reason: null,
    metadata: checkout.metadata ?? {},
  };
  await insertCheckout(tx, session);
  return session;
}

/**
 * Stores the page on which the customer pays instead, after the charge of a saved method was declined (money 11.22).
 * The session stays active. The caller holds the locks of the session, the invoice and the declined payment.
 */
export async function offerPage(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  session: CheckoutRecord,
  invoice: InvoiceRecord,
): Promise<void> {
  const page = await storePayment(tx, deps, caller, session, invoice, null, true);
  await updateCheckout(tx, caller.scope, session.id, {
    checkout_payment_id: page.id,
    ...changed(deps, caller),
  });
}

/**
 * The charge of a saved method, or without one the page on which the customer pays. `isAutomatic`: the session asks for
 * a charge without the customer, so the page saves its method for the next one.
 */
async function storePayment(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  session: SessionToPay,
  invoice: InvoiceRecord,
  method: PaymentMethod | null,
  isAutomatic: boolean,
): Promise<PaymentRecord> {
  const how =
    method === null
      ? {
          payment_method_type: 'PAYMENT_LINK' as const,
          payment_method_id: null,
          success_url: session.success_url ?? null,
          cancel_url: session.cancel_url ?? null,
          save_card_and_make_default: isAutomatic,
        }
      : { payment_method_type: 'CARD' as const, payment_method_id: method.id };
  const { payment } = await createPayment(
    tx,
    deps,
    caller,
    {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      payment_gateway: session.payment_provider,
      amount: invoice.amount_remaining,
      currency: invoice.currency,
      idempotency_key: `checkout-${session.id}${method === null ? '' : '-charge'}`,
      metadata: { checkout_session_id: session.id },
      ...how,
    },
    { ofGate: isGated(invoice) },
  );
  return payment;
}

/** What a payment takes from its session. */
interface SessionToPay extends Pick<CheckoutParams, 'success_url' | 'cancel_url'> {
  readonly id: string;
  readonly payment_provider: CheckoutParams['payment_provider'];
}

/** 400 unless payments are taken over the provider. */
export async function assertConnected(
  tx: Transaction,
  { scope }: Caller,
  provider: CheckoutParams['payment_provider'],
): Promise<void> {
  if ((await findGatewayConnection(tx, scope, provider)) === null)
    throw invalidField('payment_provider', `${provider} is not connected`);
}
