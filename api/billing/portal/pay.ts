import { invalidField } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { CheckoutParams, CheckoutSession } from '../../../schemas/checkout.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type {
  PortalPayBody,
  PortalPayment,
  PortalTopUpBody,
} from '../../../schemas/portal-payments.ts';
import { runCommand } from '../../conventions/command.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { findGatewayConnection } from '../gateways/connection-repository.ts';
import { storeSession } from '../checkout/store-session.ts';
import { paymentAnswer } from '../payments/answers.ts';
import { createPayment } from '../payments/create-payment.ts';
import { syncPayment } from '../payments/dispatch-payment.ts';
import { findActiveCheckoutOf } from '../records/checkout-repository.ts';
import { getPaymentMethod } from '../records/payment-method-repository.ts';
import { topUpWallet, type ToppedUp } from '../wallets/top-up.ts';
import {
  getOwnWallet,
  getShownInvoice,
  withoutMetadata,
  type PortalCustomer,
} from './own-records.ts';

/**
 * Pays the open amount of one of the customer's invoices: a saved method is charged, otherwise a page is opened.
 * A second click while the page is open answers the same page. 404 for an invoice or a method of someone else.
 */
export async function payOwnInvoice(
  deps: BillingDeps,
  caller: Caller,
  customer: PortalCustomer,
  invoiceId: string,
  body: PortalPayBody,
): Promise<PortalPayment> {
  const invoice = await getShownInvoice(deps, customer, invoiceId);
  if (body.payment_method_id) {
    const payment = await chargeSaved(deps, caller, customer, invoice, body.payment_method_id);
    return { payment: await shownPayment(deps, caller, payment), checkout_session: null };
  }
  const checkout = await checkoutOf(deps.pool, caller.scope, body);
  const { id } = await runCommand(deps, 'checkout session', () =>
    Promise.resolve(
      async (tx) =>
        (await findActiveCheckoutOf(tx, caller.scope, invoice.id)) ??
        (await storeSession(tx, deps, caller, checkout, {
          action: 'pay_invoice',
          invoice,
          target_key: invoice.id,
          configuration: { pay_invoice_params: { invoice_id: invoice.id } },
        })),
    ),
  );
  const session = await deps.checkoutGates.offer(deps, caller, id);
  return { payment: withoutMetadata(session.payment!), checkout_session: shownSession(session) };
}

async function chargeSaved(
  deps: BillingDeps,
  caller: Caller,
  { customer_id }: PortalCustomer,
  invoice: { readonly id: string; readonly amount_remaining: string; readonly currency: string },
  methodId: string,
): Promise<PaymentRecord> {
  const method = await getPaymentMethod(deps.pool, caller.scope, customer_id, methodId);
  const { payment } = await runCommand(deps, 'payment', () =>
    Promise.resolve((tx) =>
      createPayment(tx, deps, caller, {
        destination_type: 'INVOICE',
        destination_id: invoice.id,
        payment_method_type: 'CARD',
        payment_method_id: method.id,
        payment_gateway: method.payment_gateway as 'test',
        amount: invoice.amount_remaining,
        currency: invoice.currency,
        idempotency_key: null,
        metadata: {},
      }),
    ),
  );
  const isNew = payment.connection_id !== null && payment.gateway_payment_id === null;
  return isNew ? await syncPayment(deps, caller, payment.id) : payment;
}

/**
 * Credits for one of the customer's wallets, which wait for their payment (interface, wallet). The key is the
 * customer's own: it meets no key of the tenant.
 */
export async function topUpOwnWallet(
  deps: BillingDeps,
  caller: Caller,
  customer: PortalCustomer,
  walletId: string,
  body: PortalTopUpBody,
): Promise<ToppedUp> {
  const wallet = await getOwnWallet(deps.pool, customer, walletId);
  const checkout = await checkoutOf(deps.pool, caller.scope, body);
  const key = body.idempotency_key;
  return await runCommand(deps, 'wallet', () =>
    Promise.resolve((tx) =>
      topUpWallet(
        tx,
        deps,
        caller,
        wallet.id,
        {
          credits_to_add: body.credits_to_add ?? null,
          amount: body.amount ?? null,
          transaction_reason: 'PURCHASED_CREDIT_INVOICED',
          idempotency_key: key ? `${customer.customer_id}/${key}` : null,
          description: null,
          metadata: {},
          checkout,
        },
        { isOfEndCustomer: true },
      ),
    ),
  );
}

/** The provider that is named, or the only one; addresses only if the tenant lists their origins (money 15.5). */
async function checkoutOf(
  db: Db,
  scope: Scope,
  {
    payment_provider,
    customer_not_present,
    ...addresses
  }: Pick<
    PortalPayBody,
    'payment_provider' | 'success_url' | 'failure_url' | 'cancel_url' | 'customer_not_present'
  >,
): Promise<CheckoutParams> {
  const found = await findGatewayConnection(db, scope, payment_provider ?? null);
  if (found === null)
    throw invalidField('payment_provider', 'is not connected, or several are: name one');
  const { success_url, failure_url, cancel_url } = addresses;
  const named = { success_url, failure_url, cancel_url };
  const { return_origins } = await readSetting(db, scope, 'checkout_config');
  for (const [field, address] of Object.entries(named))
    if (address && return_origins.length === 0)
      throw invalidField(field, 'needs return_origins in the setting checkout_config');
  const provider = { payment_provider: found.provider_type as 'test' };
  const payment_provider_config = {
    collection_method: customer_not_present === true ? 'charge_automatically' : 'send_invoice',
  } as const;
  return { ...provider, payment_provider_config, ...named, idempotency_key: null, metadata: {} };
}

const shownPayment = async (deps: BillingDeps, { scope }: Caller, payment: PaymentRecord) =>
  withoutMetadata(await paymentAnswer(deps.pool, scope, payment));

/** Without the tenant's notes and the stored request. */
export const shownSession = (session: CheckoutSession): CheckoutSession => ({
  ...withoutMetadata(session),
  configuration: {},
  payment_provider_config: null,
});
