import { createHash } from 'node:crypto';
import Stripe from 'stripe';
import { invalidField } from '../../domain/errors.ts';
import {
  GatewayUnavailable,
  refusedPayment,
  type ChargeRequest,
  type GatewayPayment,
  type PaymentGateway,
} from './gateway.ts';
import { fromStripeAmount, toStripeAmount } from './stripe-amount.ts';
import { verified, eventOf } from './stripe-events.ts';
import { stateOfIntent, stateOfSession, keptMethod, methodOf, ofRefund } from './stripe-states.ts';

export interface StripeConnection {
  readonly secret_key: string;
  readonly webhook_secret: string | null;
  /** A connected account that payments are made in; null: the account of the key. */
  readonly account: string | null;
  /** Unset: Stripe itself. Only the operator sets it, for tests. */
  readonly api_url?: string;
}

/** One request to Stripe, its one repetition included, holds a caller at most twice as long. */
const TIMEOUT_MS = 8_000;

const PAID_BY = { expand: ['payment_method'] };

const PAID_ON_PAGE = { expand: ['payment_intent.payment_method'] };

/**
 * Stripe: payment intents for cards, Checkout pages for links. Every request that changes something carries our
 * stored token as its idempotency key: Stripe answers a repetition with the first answer. A declined card is an
 * answer; a request without an answer is `GatewayUnavailable`.
 */
export function createStripeGateway(connection: StripeConnection): PaymentGateway {
  const { account, webhook_secret } = connection;
  const stripe = clientOf(connection);
  const livemode = /^[rs]k_live_/.test(connection.secret_key);
  const once = (token: string) => ({ idempotencyKey: token });

  const ofIntent = (intent: Stripe.PaymentIntent): GatewayPayment => ({
    gateway_payment_id: intent.id,
    tracking_id: intent.id,
    reference: intent.metadata['payment_id'] ?? null,
    state: stateOfIntent(intent),
    amount: fromStripeAmount(
      intent.status === 'succeeded' ? intent.amount_received : intent.amount,
      intent.currency,
    ),
    currency: intent.currency,
    livemode: intent.livemode,
    account,
    url: intent.next_action?.redirect_to_url?.url ?? null,
    method: keptMethod(intent),
    error: intent.last_payment_error?.message ?? null,
  });
  const ofSession = (session: Stripe.Checkout.Session): GatewayPayment => {
    const intent = typeof session.payment_intent === 'object' ? session.payment_intent : null;
    const intentId =
      typeof session.payment_intent === 'string' ? session.payment_intent : intent?.id;
    return {
      gateway_payment_id: session.id,
      tracking_id: intentId ?? null,
      reference: session.client_reference_id,
      state: stateOfSession(session),
      amount: fromStripeAmount(session.amount_total ?? 0, session.currency ?? 'usd'),
      currency: session.currency ?? '',
      livemode: session.livemode,
      account,
      url: session.url,
      method: intent === null ? null : keptMethod(intent),
      error: intent?.last_payment_error?.message ?? null,
    };
  };
  const readPayment = async (id: string): Promise<GatewayPayment> =>
    id.startsWith('cs_')
      ? ofSession(await stripe.checkout.sessions.retrieve(id, PAID_ON_PAGE))
      : ofIntent(await stripe.paymentIntents.retrieve(id, PAID_BY));

  return {
    provider: 'stripe',
    livemode,
    async ensureCustomer(payer) {
      if (payer.gateway_customer_id !== null) return payer.gateway_customer_id;
      const { name, email } = payer;
      // A corrected name or address is another request: Stripe repeats its refusal for a key that it knows.
      const key = createHash('sha256').update(JSON.stringify([payer.reference, name, email]));
      try {
        const { id } = await answered(() =>
          stripe.customers.create(
            {
              metadata: { customer_id: payer.reference },
              ...(name === null ? {} : { name }),
              ...(email === null ? {} : { email }),
            },
            once(`customer-${key.digest('hex')}`),
          ),
        );
        return id;
      } catch (error) {
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
        throw invalidField('customer', `Stripe: ${error.message}`);
      }
    },
    async charge(request) {
      const amount = toStripeAmount(request.amount, request.currency);
      if (amount === null)
        return refusedPayment({ livemode }, request, 'Stripe does not take this amount.');
      try {
        const intent = await answered(() =>
          stripe.paymentIntents.create(
            {
              amount,
              currency: request.currency,
              payment_method: request.method ?? '',
              confirm: true,
              metadata: { payment_id: request.reference, payment_token: request.token },
              ...(request.payer.gateway_customer_id === null
                ? {}
                : { customer: request.payer.gateway_customer_id }),
              ...(request.is_off_session ? { off_session: true } : {}),
              ...(request.saves_method ? { setup_future_usage: 'off_session' as const } : {}),
              ...redirects(request),
              ...PAID_BY,
            },
            once(request.token),
          ),
        );
        return ofIntent(intent);
      } catch (error) {
        const declined = error instanceof Stripe.errors.StripeCardError;
        if (declined && error.payment_intent !== undefined)
          return { ...ofIntent(error.payment_intent), state: 'failed', error: error.message };
        if (declined || error instanceof Stripe.errors.StripeInvalidRequestError)
          return refusedPayment({ livemode }, request, error.message);
        throw error;
      }
    },
    async createLink(request) {
      const unit_amount = toStripeAmount(request.amount, request.currency);
      if (unit_amount === null || request.success_url === null)
        return refusedPayment(
          { livemode },
          request,
          'Stripe does not take this amount or return address.',
        );
      const product_data = { name: `Payment ${request.reference}` };
      const { currency, success_url } = request;
      try {
        const session = await answered(() =>
          stripe.checkout.sessions.create(
            {
              mode: 'payment',
              line_items: [{ quantity: 1, price_data: { currency, unit_amount, product_data } }],
              client_reference_id: request.reference,
              success_url,
              ...(request.cancel_url === null ? {} : { cancel_url: request.cancel_url }),
              ...(request.payer.gateway_customer_id === null
                ? {}
                : { customer: request.payer.gateway_customer_id }),
              ...(request.collects_tax_id ? taxIdOf(request.payer.gateway_customer_id) : {}),
              payment_intent_data: {
                // Under another name than for a charge: the page, not its intent, is our payment.
                metadata: { page_of: request.reference },
                ...(request.saves_method ? { setup_future_usage: 'off_session' as const } : {}),
              },
            },
            once(request.token),
          ),
        );
        return ofSession(session);
      } catch (error) {
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
        return refusedPayment({ livemode }, request, error.message);
      }
    },
    findPayment: (id) => found(() => readPayment(id)),
    // The same token again is answered with the first page, so links need no search.
    async findPaymentByToken(token) {
      const query = `metadata['payment_token']:'${token}'`;
      const { data } = await answered(() => stripe.paymentIntents.search({ query, limit: 1 }));
      return data[0] === undefined ? null : await found(() => readPayment(data[0]!.id));
    },
    async cancelPayment(id) {
      try {
        if (id.startsWith('cs_')) await answered(() => stripe.checkout.sessions.expire(id));
        else await answered(() => stripe.paymentIntents.cancel(id));
      } catch (error) {
        // It is over already: its state says how.
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
      }
      return await answered(() => readPayment(id));
    },
    async keepMethod(id, { gateway_customer_id }) {
      try {
        const method = await answered(() =>
          stripe.paymentMethods.attach(id, { customer: gateway_customer_id ?? '' }),
        );
        return methodOf(method);
      } catch (error) {
        const isRefused =
          error instanceof Stripe.errors.StripeInvalidRequestError ||
          error instanceof Stripe.errors.StripeCardError;
        throw isRefused ? invalidField('gateway_method_id', `Stripe: ${error.message}`) : error;
      }
    },
    async forgetMethod(id) {
      try {
        await answered(() => stripe.paymentMethods.detach(id));
      } catch (error) {
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
      }
    },
    async refund(request) {
      const amount = toStripeAmount(request.amount, request.currency);
      try {
        const payment = await answered(() => readPayment(request.gateway_payment_id));
        const refund = await answered(() =>
          stripe.refunds.create(
            {
              payment_intent: payment.tracking_id ?? '',
              amount: amount ?? 0,
              metadata: { refund_id: request.reference },
            },
            once(request.token),
          ),
        );
        return ofRefund(refund, request.gateway_payment_id);
      } catch (error) {
        if (!(error instanceof Stripe.errors.StripeInvalidRequestError)) throw error;
        const { gateway_payment_id, reference } = request;
        const failed = { gateway_refund_id: null, gateway_payment_id, reference };
        return { ...failed, state: 'failed', amount: request.amount, error: error.message };
      }
    },
    findRefund: (id) => found(async () => ofRefund(await stripe.refunds.retrieve(id), '')),
    readEvent(raw, headers, nowMs) {
      const event = verified(stripe, raw, headers['stripe-signature'], webhook_secret, nowMs);
      if (event.livemode !== livemode || (event.account ?? null) !== account) return null;
      return eventOf(event);
    },
  };
}

function clientOf({ secret_key, account, api_url }: StripeConnection): Stripe {
  const url = api_url === undefined ? null : new URL(api_url);
  return new Stripe(secret_key, {
    timeout: TIMEOUT_MS,
    maxNetworkRetries: 1,
    telemetry: false,
    ...(account === null ? {} : { stripeAccount: account }),
    ...(url === null
      ? {}
      : {
          host: url.hostname,
          port: url.port,
          protocol: url.protocol === 'http:' ? 'http' : 'https',
        }),
  });
}

/**
 * A request that has no answer may have happened. That includes answers which say nothing of the payment: too many
 * requests, an error inside Stripe, a key that is no longer valid, the first request with the same token running.
 */
async function answered<Answer>(request: () => Promise<Answer>): Promise<Answer> {
  try {
    return await request();
  } catch (error) {
    const { errors } = Stripe;
    const isAnswer =
      error instanceof errors.StripeCardError || error instanceof errors.StripeInvalidRequestError;
    if (isAnswer || !(error instanceof errors.StripeError)) throw error;
    throw new GatewayUnavailable(`Stripe: ${error.type}`, { cause: error });
  }
}

/** Null if Stripe has no such object. */
async function found<Answer>(request: () => Promise<Answer>): Promise<Answer | null> {
  try {
    return await answered(request);
  } catch (error) {
    if (error instanceof Stripe.errors.StripeInvalidRequestError && error.statusCode === 404)
      return null;
    throw error;
  }
}

/** A customer who is there may be sent to a page of their bank, if they can come back. */
function redirects({ is_off_session, success_url }: ChargeRequest) {
  const isSent = !is_off_session && success_url !== null;
  return {
    automatic_payment_methods: {
      enabled: true,
      allow_redirects: isSent ? ('always' as const) : ('never' as const),
    },
    ...(isSent ? { return_url: success_url } : {}),
  };
}

/** Asks for the tax id. Stripe stores it with the name of the business, also of a customer that it knows. */
const taxIdOf = (customer: string | null): Stripe.Checkout.SessionCreateParams => ({
  tax_id_collection: { enabled: true },
  ...(customer === null ? {} : { customer_update: { name: 'auto' } }),
});
