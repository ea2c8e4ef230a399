import * as z from 'zod';
import { CheckoutSession } from './checkout.ts';
import { PaymentMethod } from './payment-method.ts';
import { Payment } from './payment.ts';
import { id, optionalId, optionalOneOf, positiveDecimal, text } from './primitives.ts';
import { AutoTopUpBody } from './wallet-requests.ts';
import { WalletTransaction } from './wallet.ts';
import { CHECKOUT_PROVIDERS } from './words.ts';

const address = text(2_000).nullish();

/** How a customer of the portal pays. */
const payingFields = {
  /** Needed only if several gateways are connected. */
  payment_provider: optionalOneOf(CHECKOUT_PROVIDERS),
  /** Where the page leads afterwards: an origin of the setting `checkout_config`. */
  success_url: address,
  failure_url: address,
  cancel_url: address,
  /** True: the default saved method is charged; a page is opened only if that is not possible. */
  customer_not_present: z.boolean().nullish(),
};

/** With a saved method the open amount is charged at once; without one a payment page is opened. */
export const PortalPayBody = z
  .object({ ...payingFields, payment_method_id: optionalId })
  .meta({ id: 'PortalPay' });
export type PortalPayBody = z.output<typeof PortalPayBody>;

export const PortalPayment = z
  .object({
    payment: Payment,
    /** The page on which the customer pays; null if a saved method was charged. */
    checkout_session: CheckoutSession.nullable(),
  })
  .meta({ id: 'PortalPayment' });
export type PortalPayment = z.infer<typeof PortalPayment>;

export const PortalTopUpBody = z
  .object({
    ...payingFields,
    /** Takes precedence over `amount`, which is money. */
    credits_to_add: positiveDecimal.nullish(),
    amount: positiveDecimal.nullish(),
    idempotency_key: text(200).nullish(),
  })
  .meta({ id: 'PortalTopUp' });
export type PortalTopUpBody = z.output<typeof PortalTopUpBody>;

export const PortalTopUp = z
  .object({ wallet_transaction: WalletTransaction, checkout_session: CheckoutSession.nullable() })
  .meta({ id: 'PortalTopUpAnswer' });

/** The credits always wait for the payment of their invoice. */
export const PortalAutoTopUpBody = AutoTopUpBody.omit({ invoicing: true }).meta({
  id: 'PortalAutoTopUp',
});

/** A saved method without the ids of the tenant's connection. */
export const PortalPaymentMethod = PaymentMethod.pick({
  id: true,
  payment_gateway: true,
  method_type: true,
  brand: true,
  last4: true,
  exp_month: true,
  exp_year: true,
  is_default: true,
  created_at: true,
}).meta({ id: 'PortalPaymentMethod' });
export type PortalPaymentMethod = z.infer<typeof PortalPaymentMethod>;

export const PortalSaveMethodBody = z
  .object({
    gateway_method_id: id,
    payment_provider: optionalOneOf(CHECKOUT_PROVIDERS),
    is_default: z.boolean().nullish(),
  })
  .meta({ id: 'PortalSaveMethod' });

/** What the portal can offer: the gateways by which a customer pays. */
export const PortalIntegrations = z
  .object({ items: z.array(z.object({ provider: z.string(), livemode: z.boolean() })) })
  .meta({ id: 'PortalIntegrations' });
