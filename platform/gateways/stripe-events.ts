import Stripe from 'stripe';
import type { GatewayEvent } from './gateway.ts';
import { badSignature } from './signature.ts';
import { fromStripeAmount } from './stripe-amount.ts';
import { idOf } from './stripe-states.ts';

/** Age of a signed request. */
const TOLERANCE_SECONDS = 300;

/** Checks the raw bytes before anything of them is read. */
export function verified(
  stripe: Stripe,
  raw: Buffer,
  header: string | string[] | undefined,
  secret: string | null,
  nowMs: number,
): Stripe.Event {
  if (secret === null || secret === '' || typeof header !== 'string') throw badSignature();
  const isFromTheFuture =
    Number(/(?:^|,)t=(\d{1,12})/.exec(header)?.[1]) * 1000 - nowMs > TOLERANCE_SECONDS * 1000;
  if (isFromTheFuture) throw badSignature();
  try {
    const { webhooks } = stripe;
    return webhooks.constructEvent(raw, header, secret, TOLERANCE_SECONDS, undefined, nowMs);
  } catch {
    throw badSignature();
  }
}

/** What an event is about; null for an event that changes no record of this product. */
export function eventOf(event: Stripe.Event): GatewayEvent | null {
  switch (event.type) {
    case 'payment_intent.succeeded':
    case 'payment_intent.payment_failed':
    case 'payment_intent.processing':
    case 'payment_intent.requires_action':
    case 'payment_intent.canceled': {
      const { id, metadata } = event.data.object;
      const reference = metadata['payment_id'] ?? null;
      return { kind: 'payment', event_id: event.id, gateway_payment_id: id, reference };
    }
    case 'checkout.session.completed':
    case 'checkout.session.expired':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed': {
      const { id, client_reference_id: reference } = event.data.object;
      return { kind: 'payment', event_id: event.id, gateway_payment_id: id, reference };
    }
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed': {
      const { id: gateway_refund_id, payment_intent } = event.data.object;
      const of = { event_id: event.id, gateway_payment_id: idOf(payment_intent), reference: null };
      return { ...of, kind: 'refund', gateway_refund_id };
    }
    case 'charge.dispute.closed': {
      const { id: dispute_id, payment_intent, status, amount, currency } = event.data.object;
      if (status !== 'lost') return null;
      const of = { event_id: event.id, gateway_payment_id: idOf(payment_intent), reference: null };
      return { ...of, kind: 'dispute', dispute_id, amount: fromStripeAmount(amount, currency) };
    }
    default:
      return null;
  }
}
