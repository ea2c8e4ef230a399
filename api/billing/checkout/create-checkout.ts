import { BillingError, invalidField, notFound } from '../../../domain/errors.ts';
import { isGated } from '../../../domain/invoicing/gated-invoice.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CheckoutRecord, CreateCheckoutBody } from '../../../schemas/checkout.ts';
import { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import { getCustomerByExternalId } from '../../customers/customers/repository.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { findActiveCheckout, getCheckout } from '../records/checkout-repository.ts';
import { getInvoice } from '../records/invoice-repository.ts';
import { createSubscription } from '../subscriptions/create-subscription.ts';
import { assertConnected, storeSession } from './store-session.ts';

/**
 * Opens a session for an invoice or for a new subscription. An active session with the same key is returned
 * again. 404 for an unknown customer or invoice.
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
  const key = body.idempotency_key ?? null;
  const known = key === null ? null : await findActiveCheckout(tx, caller.scope, key);
  if (known !== null) return repeated(known, body, customer.id);
  if (body.action === 'create_subscription')
    return await openSubscription(tx, deps, caller, body, customer.id);
  const { invoice_id } = body.configuration!.pay_invoice_params!;
  const invoice = await getInvoice(tx, caller.scope, invoice_id);
  if (invoice.customer_id !== customer.id || isGated(invoice))
    throw notFound('Invoice', invoice_id);
  return await storeSession(tx, deps, caller, body, {
    action: 'pay_invoice',
    invoice,
    target_key: invoice.id,
    configuration: { pay_invoice_params: { invoice_id } },
  });
}

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

/** The session of the same key, if it is of the same customer and target; 409 otherwise. */
export function repeated(
  known: CheckoutRecord,
  { action, configuration }: CreateCheckoutBody,
  customerId: string,
): CheckoutRecord {
  const target = {
    pay_invoice: configuration?.pay_invoice_params?.invoice_id,
    add_addon: configuration?.add_addon_params?.subscription_id,
    modify_subscription: configuration?.modify_subscription_params?.subscription_id,
    create_subscription: known.target_key,
    wallet_topup: undefined,
  }[action];
  const isSame =
    known.action === action && known.customer_id === customerId && known.target_key === target;
  if (!isSame) throw keyReused();
  return known;
}

function keyReused(): BillingError {
  const message = 'is used by a session of another invoice';
  return new BillingError('conflict', 'idempotency_key_reused', `idempotency_key: ${message}.`, [
    { path: 'idempotency_key', code: 'idempotency_key_reused', message },
  ]);
}
