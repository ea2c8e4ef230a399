import { invalidField, notFound } from '../../../domain/errors.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CheckoutRecord, CreateCheckoutBody } from '../../../schemas/checkout.ts';
import { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import { getCustomerByExternalId } from '../../customers/customers/repository.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { lockInvoiceToPay } from '../computing/revise-invoice-payment.ts';
import { getCheckout } from '../records/checkout-repository.ts';
import type { GatedRequest } from '../records/gated-command.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { createSubscription } from '../subscriptions/create-subscription.ts';
import { assertConnected, storeSession } from './store-session.ts';

/**
 * Opens a session for the open amount of an invoice, which is locked, or for a new subscription. 404 for an unknown
 * customer or invoice.
 */
export async function createCheckout(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateCheckoutBody,
): Promise<CheckoutRecord> {
  assertOpenable(body);
  const customer = await getCustomerByExternalId(tx, caller.scope, body.customer_external_id);
  await assertConnected(tx, caller, body.payment_provider);
  const customer_id = customer.id;
  if (body.action === 'create_subscription')
    return await openSubscription(tx, deps, caller, body, customer_id);
  const { invoice_id } = body.configuration!.pay_invoice_params!;
  const found = await getInvoice(tx, caller.scope, invoice_id);
  if (found.customer_id !== customer_id) throw notFound('Invoice', invoice_id);
  // The session asks for what is open once earlier payments and refunds have ended.
  const { invoice } = await lockInvoiceToPay(tx, caller, invoice_id);
  if (isGated(invoice)) throw notFound('Invoice', invoice_id);
  return await storeSession(tx, deps, caller, body, {
    action: 'pay_invoice',
    invoice,
    target_key: invoice.id,
    configuration: { pay_invoice_params: { invoice_id } },
  });
}

/** The request to `/checkout/sessions` (money 11.10). */
export const checkoutRequest = (body: CreateCheckoutBody): GatedRequest => ({
  ...{ path: '/checkout/sessions', body },
  ...{ key: body.idempotency_key, field: 'idempotency_key' },
});

/** A draft with its session. A subscription that costs nothing at its start needs none: 400 (money 11.7). */
async function openSubscription(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: CreateCheckoutBody,
  customer_id: string,
): Promise<CheckoutRecord> {
  const { customer_external_id: _, action: __, configuration, ...checkout } = body;
  const request = { ...configuration!.create_subscription_params, customer_id, checkout };
  const parsed = CreateSubscriptionBody.safeParse(request);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const path = ['configuration', 'create_subscription_params', ...issue!.path].join('.');
    throw invalidField(path, issue!.message);
  }
  const created = await createSubscription(tx, deps, caller, parsed.data);
  if (created.checkout_session_id === null)
    throw invalidField(
      'configuration.create_subscription_params',
      'nothing is due at the start; create the subscription without a checkout',
    );
  return await getCheckout(tx, caller.scope, created.checkout_session_id);
}

/** Refuses the action that its own route opens, and configurations without the action's parameters. */
export function assertOpenable({ action, configuration }: CreateCheckoutBody): void {
  if (action === 'wallet_topup')
    throw invalidField('action', `${action} is opened by its own route, with a checkout object`);
  const params = `${action}_params` as const;
  if (!configuration?.[params])
    throw invalidField(`configuration.${params}`, `is required for ${action}`);
}
