import type Stripe from 'stripe';
import type { GatewayMethod, GatewayPaymentState, GatewayRefund } from './gateway.ts';
import { fromStripeAmount } from './stripe-amount.ts';

/** The state of a payment intent in our words. */
export function stateOfIntent(intent: Stripe.PaymentIntent): GatewayPaymentState {
  switch (intent.status) {
    case 'succeeded':
      return 'succeeded';
    case 'canceled':
      return 'cancelled';
    case 'requires_action':
      return 'requires_action';
    case 'processing':
    case 'requires_capture':
      return 'processing';
    case 'requires_payment_method':
      return intent.last_payment_error == null ? 'pending' : 'failed';
    default:
      return 'pending';
  }
}

/** The state of a hosted payment page in our words. */
export function stateOfSession(session: Stripe.Checkout.Session): GatewayPaymentState {
  if (session.payment_status === 'paid') return 'succeeded';
  if (session.status === 'expired') return 'cancelled';
  return session.status === 'complete' ? 'processing' : 'pending';
}

/** The method of an intent that asked to keep it, once it is paid. */
export function keptMethod(intent: Stripe.PaymentIntent): GatewayMethod | null {
  const { payment_method: method, setup_future_usage } = intent;
  if (intent.status !== 'succeeded' || setup_future_usage !== 'off_session') return null;
  return typeof method === 'object' && method !== null ? methodOf(method) : null;
}

/** A payment method as stored: the card without its number. */
export const methodOf = (method: Stripe.PaymentMethod): GatewayMethod => ({
  gateway_method_id: method.id,
  method_type: method.type,
  brand: method.card?.brand ?? null,
  last4: method.card?.last4 ?? null,
  exp_month: method.card?.exp_month ?? null,
  exp_year: method.card?.exp_year ?? null,
});

/** A refund with its state in our words. */
export function ofRefund(refund: Stripe.Refund, gateway_payment_id: string): GatewayRefund {
  return {
    gateway_refund_id: refund.id,
    gateway_payment_id,
    reference: refund.metadata?.['refund_id'] ?? null,
    state: refundState(refund),
    amount: fromStripeAmount(refund.amount, refund.currency),
    error: ENDED.has(refund.status) ? (refund.failure_reason ?? refund.status) : null,
  };
}

const ENDED: ReadonlySet<string | null> = new Set(['failed', 'canceled']);

function refundState({ status }: Stripe.Refund): GatewayRefund['state'] {
  if (status === 'succeeded' || status === 'failed') return status;
  return status === 'canceled' ? 'cancelled' : 'pending';
}

/** The id of a payment intent that Stripe answers by id or as an object. */
export const idOf = (intent: string | { readonly id: string } | null): string =>
  typeof intent === 'string' ? intent : (intent?.id ?? '');
