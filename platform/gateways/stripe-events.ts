import { z } from 'zod';
import type Stripe from 'stripe';
import { matching, text } from '../../schemas/primitives.ts';
import type { GatewayEvent } from './gateway.ts';
import { badSignature } from './signature.ts';
import { fromStripeAmount } from './stripe-amount.ts';
import { idOf } from './stripe-states.ts';

/** Age of a signed request. */
const TOLERANCE_SECONDS = 300;

const id = matching(/^[\x21-\x7e]+$/, 255, 'must be an id');
/** Other systems of the tenant write this field too: a text that cannot be the id of a payment counts as null. */
const reference = id.nullish().catch(null);
const intentId = z.union([id, z.object({ id })]).nullable();

const Envelope = z.object({
  id,
  type: text(),
  livemode: z.boolean(),
  account: text().nullish(),
  data: z.object({ object: z.unknown() }),
});
export type StripeEvent = z.output<typeof Envelope>;

const Intent = z.object({ id, metadata: z.object({ payment_id: reference }).nullish() });
const Session = z.object({ id, client_reference_id: reference });
const Refund = z.object({ id, payment_intent: intentId });
const Dispute = z.object({
  ...{ id, status: text(), amount: z.int().nonnegative(), currency: text(3) },
  payment_intent: intentId,
});

/** Verifies the signature of the raw bytes, then parses them. 401 if they are not signed or not an event. */
export function verified(
  stripe: Stripe,
  raw: Buffer,
  header: string | string[] | undefined,
  secret: string | null,
  nowMs: number,
): StripeEvent {
  if (secret === null || secret === '' || typeof header !== 'string') throw badSignature();
  const isFromTheFuture =
    Number(/(?:^|,)t=(\d{1,12})/.exec(header)?.[1]) * 1000 - nowMs > TOLERANCE_SECONDS * 1000;
  if (isFromTheFuture) throw badSignature();
  return read(Envelope, constructed(stripe, raw, header, secret, nowMs));
}

function constructed(
  { webhooks }: Stripe,
  raw: Buffer,
  header: string,
  secret: string,
  nowMs: number,
): unknown {
  try {
    return webhooks.constructEvent(raw, header, secret, TOLERANCE_SECONDS, undefined, nowMs);
  } catch {
    throw badSignature();
  }
}

function read<Shape extends z.ZodType>(shape: Shape, value: unknown): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (!parsed.success) throw badSignature();
  return parsed.data;
}

/** What an event is about; null for an event that changes no record of this product. 401 if it cannot be read. */
export function eventOf({ id: event_id, type, data }: StripeEvent): GatewayEvent | null {
  switch (type) {
    case 'payment_intent.succeeded':
    case 'payment_intent.payment_failed':
    case 'payment_intent.processing':
    case 'payment_intent.requires_action':
    case 'payment_intent.canceled': {
      const { id, metadata } = read(Intent, data.object);
      const reference = metadata?.payment_id ?? null;
      return { kind: 'payment', event_id, gateway_payment_id: id, reference };
    }
    case 'checkout.session.completed':
    case 'checkout.session.expired':
    case 'checkout.session.async_payment_succeeded':
    case 'checkout.session.async_payment_failed': {
      const { id, client_reference_id } = read(Session, data.object);
      const reference = client_reference_id ?? null;
      return { kind: 'payment', event_id, gateway_payment_id: id, reference };
    }
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed': {
      const { id: gateway_refund_id, payment_intent } = read(Refund, data.object);
      const of = { event_id, gateway_payment_id: idOf(payment_intent), reference: null };
      return { ...of, kind: 'refund', gateway_refund_id };
    }
    case 'charge.dispute.closed': {
      const dispute = read(Dispute, data.object);
      if (dispute.status !== 'lost') return null;
      const amount = fromStripeAmount(dispute.amount, dispute.currency);
      const of = { event_id, gateway_payment_id: idOf(dispute.payment_intent), reference: null };
      return { ...of, kind: 'dispute', dispute_id: dispute.id, amount };
    }
    default:
      return null;
  }
}
