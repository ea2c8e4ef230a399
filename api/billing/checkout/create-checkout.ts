import { BillingError, invalidField, notFound } from '../../../domain/errors.ts';
import { moveCheckout } from '../../../domain/states/checkout.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { CheckoutRecord, CreateCheckoutBody } from '../../../schemas/checkout.ts';
import { getCustomerByExternalId } from '../../customers/customers/repository.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { findGatewayConnection, isAdapted } from '../gateways/open-gateway.ts';
import { createPayment } from '../payments/create-payment.ts';
import { syncPayment } from '../payments/dispatch-payment.ts';
import {
  checkoutEvent,
  findActiveCheckout,
  getCheckout,
  insertCheckout,
  lockCheckout,
  updateCheckout,
} from '../records/checkout-repository.ts';
import { getInvoice } from '../records/invoice-repository.ts';

/** Lifetime of a session (money 11.5). */
const LIFETIME_MS = 30 * 60 * 1000;

/**
 * Stores a session and its payment of the open amount of one invoice. A repeat with the same key returns the
 * active session. 404 for an unknown customer or invoice; 400 for a provider that is not connected; 409 while
 * the invoice has another active session.
 */
export async function createCheckout(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateCheckoutBody,
): Promise<CheckoutRecord> {
  const invoiceId = invoiceIdOf(body);
  const customer = await getCustomerByExternalId(tx, caller.scope, body.customer_external_id);
  const connection = await findGatewayConnection(tx, caller.scope, body.payment_provider);
  if (connection === null || !isAdapted(connection.provider_type))
    throw invalidField('payment_provider', `${body.payment_provider} is not connected`);
  if (body.action === 'create_subscription' || invoiceId === null)
    throw invalidField('action', 'create_subscription is not offered yet; checkout an invoice');

  const key = body.idempotency_key ?? null;
  const known = key === null ? null : await findActiveCheckout(tx, caller.scope, key);
  if (known !== null) {
    if (known.checkout_invoice_id !== invoiceId) throw keyReused();
    return known;
  }
  const invoice = await getInvoice(tx, caller.scope, invoiceId);
  if (invoice.customer_id !== customer.id) throw notFound('Invoice', invoiceId);
  const record = newRecord(deps, caller, 'cs');
  const { payment } = await createPayment(tx, deps, caller, {
    destination_type: 'INVOICE',
    destination_id: invoiceId,
    payment_method_type: 'PAYMENT_LINK',
    payment_method_id: null,
    payment_gateway: body.payment_provider,
    amount: invoice.amount_remaining,
    currency: invoice.currency,
    success_url: body.success_url ?? null,
    cancel_url: body.cancel_url ?? null,
    idempotency_key: `checkout-${record.id}`,
    metadata: { checkout_session_id: record.id },
  });
  const session: CheckoutRecord = {
    ...record,
    customer_id: customer.id,
    action: body.action,
    checkout_status: moveCheckout(null, 'create'),
    payment_provider: body.payment_provider,
    target_key: invoiceId,
    checkout_invoice_id: invoiceId,
    checkout_payment_id: payment.id,
    configuration: { ...body.configuration },
    payment_provider_config: body.payment_provider_config ?? null,
    idempotency_key: key,
    success_url: body.success_url ?? null,
    failure_url: body.failure_url ?? null,
    cancel_url: body.cancel_url ?? null,
    expires_at: isoTime(deps.clock.now() + LIFETIME_MS),
    completed_at: null,
    cancelled_at: null,
    failure_reason: null,
    metadata: body.metadata ?? {},
  };
  await insertCheckout(tx, session);
  return session;
}

/**
 * Refuses actions that have a route of their own, and configurations without the parameters of the action.
 */
function invoiceIdOf({ action, configuration }: CreateCheckoutBody): string | null {
  if (action !== 'create_subscription' && action !== 'pay_invoice')
    throw invalidField('action', `${action} is opened by its own route, with a checkout object`);
  const params = `${action}_params` as const;
  if (!configuration?.[params])
    throw invalidField(`configuration.${params}`, `is required for ${action}`);
  return action === 'pay_invoice' ? configuration.pay_invoice_params!.invoice_id : null;
}

/**
 * Reads the payment of an active session from the gateway, and stores the address of its page once it exists.
 * Changes nothing while the gateway does not answer (money 11.21).
 */
export async function syncCheckout(
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<CheckoutRecord> {
  const session = await getCheckout(deps.pool, caller.scope, id);
  const isActive = session.checkout_status === 'initiated' || session.checkout_status === 'pending';
  if (!isActive || session.checkout_payment_id === null) return session;
  const payment = await syncPayment(deps, caller, session.checkout_payment_id);
  if (payment.payment_url === null) return await getCheckout(deps.pool, caller.scope, id);
  return await deps.pool.begin(async (tx) => {
    const now = await lockCheckout(tx, caller.scope, id);
    if (now.checkout_status !== 'initiated') return now;
    const offered = await updateCheckout(tx, caller.scope, id, {
      checkout_status: moveCheckout(now.checkout_status, 'offer_payment'),
      ...changed(deps, caller),
    });
    await writeOutboxEvents(tx, [
      checkoutEvent('checkout.session.initiated', caller.scope, offered),
    ]);
    return offered;
  });
}

function keyReused(): BillingError {
  const message = 'is used by a session of another invoice';
  return new BillingError('conflict', 'idempotency_key_reused', `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code: 'idempotency_key_reused', message },
  ]);
}
