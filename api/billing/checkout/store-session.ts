import { invalidField } from '../../../domain/errors.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import { moveCheckout } from '../../../domain/states/checkout.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CheckoutParams, CheckoutRecord } from '../../../schemas/checkout.ts';
import type { BillingDeps, Gate } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { isAdapted } from '../gateways/adapted-providers.ts';
import { findGatewayConnection } from '../gateways/connection-repository.ts';
import { assertReturnAddresses } from '../gateways/return-addresses.ts';
import { createPayment } from '../payments/create-payment.ts';
import { insertCheckout } from '../records/checkout-repository.ts';

/** How long a session lasts (money 11.5). */
const LIFETIME_MS = 30 * 60 * 1000;

/**
 * Stores a session with the payment that it offers: the open amount of the gate's invoice. 400 for a provider
 * that is not connected and an address that is not allowed (money 11.7); 409
 * while the target has another active session.
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
  const { payment } = await createPayment(
    tx,
    deps,
    caller,
    {
      destination_type: 'INVOICE',
      destination_id: invoice.id,
      payment_method_type: 'PAYMENT_LINK',
      payment_method_id: null,
      payment_gateway: checkout.payment_provider,
      amount: invoice.amount_remaining,
      currency: invoice.currency,
      success_url: checkout.success_url ?? null,
      cancel_url: checkout.cancel_url ?? null,
      idempotency_key: `checkout-${record.id}`,
      metadata: { checkout_session_id: record.id },
    },
    { ofGate: isGated(invoice) },
  );
  const session: CheckoutRecord = {
    ...record,
    customer_id: invoice.customer_id,
    action: gate.action,
    checkout_status: moveCheckout(null, 'create'),
    payment_provider: checkout.payment_provider,
    target_key: gate.target_key,
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

/** 400 unless the provider is connected and this version can use it. */
export async function assertConnected(
  tx: Transaction,
  { scope }: Caller,
  provider: CheckoutParams['payment_provider'],
): Promise<void> {
  const connection = await findGatewayConnection(tx, scope, provider);
  if (connection === null || !isAdapted(connection.provider_type))
    throw invalidField('payment_provider', `${provider} is not connected`);
}
