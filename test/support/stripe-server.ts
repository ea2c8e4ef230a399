import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { randomBytes } from 'node:crypto';
import Stripe from 'stripe';

/**
 * A local server that speaks the part of Stripe's documented API that the adapter uses: form bodies, idempotency
 * keys, errors of the documented types. Cards are named for what they do, like Stripe's own test cards
 * (`pm_card_visa`, `pm_card_chargeDeclined`, `pm_card_authenticationRequired`).
 */
export interface StripeServer {
  readonly url: string;
  /** Requests that changed something, repeated ones included, oldest first. */
  readonly requests: readonly StripeRequest[];
  readonly objects: ReadonlyMap<string, Fields>;
  /** Answers to charges and refunds that are lost after the request has had its effect. */
  loseAnswers: number;
  /** Whether a search does not see charges yet: Stripe documents that they appear in it up to a minute later. */
  isSearchLate: boolean;
  /** Awaited before a request is answered: what happens elsewhere meanwhile. */
  meanwhile: (verb: string, path: string) => Promise<void>;
  /** Awaited after a request has had its effect, before it is answered. */
  beforeAnswer: (verb: string, path: string, answer: Fields) => Promise<void>;
  /** The customer pays on the page. */
  payPage(id: string): Fields;
  /** The customer confirms at their bank. */
  confirm(id: string): Fields;
  /** An event as Stripe signs and sends it. */
  event(type: string, object: Fields, more?: Fields): { raw: string; id: string };
  sign(raw: string, secret: string, atMs: number): string;
  close(): Promise<void>;
}

export interface StripeRequest {
  readonly method: string;
  readonly path: string;
  readonly key: string | undefined;
  readonly account: string | undefined;
  readonly version: string | undefined;
  readonly body: Readonly<Record<string, string>>;
}

type Fields = Record<string, any>;

class Refusal extends Error {
  readonly status: number;
  readonly error: Fields;
  constructor(status: number, error: Fields) {
    super(String(error['message']));
    this.status = status;
    this.error = error;
  }
}

export async function startStripeServer(secretKey: string): Promise<StripeServer> {
  const objects = new Map<string, Fields>();
  const requests: StripeRequest[] = [];
  const answers = new Map<string, { body: string; status: number; of: string }>();
  const state = {
    loseAnswers: 0,
    isSearchLate: false,
    meanwhile: async (_verb: string, _path: string) => {},
    beforeAnswer: async (_verb: string, _path: string, _answer: Fields) => {},
  };
  const id = (prefix: string) => `${prefix}_${randomBytes(12).toString('hex')}`;
  const keep = (object: Fields): Fields => {
    objects.set(object['id'], object);
    return object;
  };
  const get = (objectId: string): Fields => {
    const object = objects.get(objectId);
    if (object !== undefined) return object;
    const message = `No such object: '${objectId}'`;
    throw new Refusal(404, { type: 'invalid_request_error', code: 'resource_missing', message });
  };
  const refuse = (message: string): never => {
    throw new Refusal(400, { type: 'invalid_request_error', message });
  };

  function method(methodId: string): Fields {
    if (!/^pm_card_\w+$/.test(methodId)) return get(methodId);
    return (
      objects.get(methodId) ??
      keep({
        id: methodId,
        object: 'payment_method',
        type: 'card',
        customer: null,
        card: { brand: 'visa', last4: '4242', exp_month: 8, exp_year: 2031 },
      })
    );
  }

  function intent(body: Fields): Fields {
    const paid = method(body['payment_method']);
    if (body['off_session'] === 'true' && paid['customer'] === null)
      refuse('The payment method is not attached to a customer.');
    const made = keep({
      id: id('pi'),
      object: 'payment_intent',
      amount: Number(body['amount']),
      amount_received: 0,
      currency: body['currency'],
      customer: body['customer'] ?? null,
      livemode: false,
      metadata: nested(body, 'metadata'),
      next_action: null,
      last_payment_error: null,
      payment_method: paid,
      setup_future_usage: body['setup_future_usage'] ?? null,
      status: 'requires_confirmation',
    });
    const decline = (code: string) => {
      const error = { type: 'card_error', code, message: `Your card was declined: ${code}.` };
      Object.assign(made, { status: 'requires_payment_method', last_payment_error: error });
      throw new Refusal(402, { ...error, payment_intent: made });
    };
    if (paid['id'] === 'pm_card_chargeDeclined') decline('card_declined');
    if (paid['id'] === 'pm_card_authenticationRequired') {
      if (body['off_session'] === 'true') decline('authentication_required');
      made['status'] = 'requires_action';
      made['next_action'] = {
        type: 'redirect_to_url',
        redirect_to_url: {
          url: `https://bank.example/${made['id']}`,
          return_url: body['return_url'],
        },
      };
      return made;
    }
    return succeed(made);
  }
  const succeed = (made: Fields): Fields =>
    Object.assign(made, {
      status: 'succeeded',
      amount_received: made['amount'],
      next_action: null,
    });

  function session(body: Fields): Fields {
    if (!body['success_url']) refuse('Missing required param: success_url.');
    const total = Number(body['line_items[0][price_data][unit_amount]']);
    if (total < 50) refuse("The Checkout Session's total amount must be at least $0.50 usd.");
    const made = id('cs_test');
    return keep({
      id: made,
      object: 'checkout.session',
      amount_total: total,
      currency: body['line_items[0][price_data][currency]'],
      client_reference_id: body['client_reference_id'] ?? null,
      livemode: false,
      payment_intent: null,
      payment_status: 'unpaid',
      status: 'open',
      url: `https://checkout.example/${made}`,
      intent_data: nested(body, 'payment_intent_data'),
    });
  }

  function refund(body: Fields): Fields {
    const of = get(body['payment_intent']);
    const earlier = [...objects.values()].filter(
      (object) => object['object'] === 'refund' && object['payment_intent'] === of['id'],
    );
    const left = earlier.reduce((rest, each) => rest - each['amount'], of['amount_received']);
    if (Number(body['amount']) > left)
      refuse('Refund amount is greater than the unrefunded amount.');
    return keep({
      id: id('re'),
      object: 'refund',
      amount: Number(body['amount']),
      currency: of['currency'],
      payment_intent: of['id'],
      metadata: nested(body, 'metadata'),
      status: 'succeeded',
      failure_reason: null,
    });
  }

  /** One route per documented path. */
  function answer(verb: string, path: string, body: Fields): Fields {
    const [, kind, one, act] =
      /^\/v1\/(checkout\/sessions|\w+)(?:\/(\w+))?(?:\/(\w+))?$/.exec(path) ?? [];
    const call = `${verb} ${kind}${one === undefined || one === 'search' ? '' : '/:id'}${act === undefined ? '' : `/${act}`}${one === 'search' ? '/search' : ''}`;
    switch (call) {
      case 'POST customers':
        if (body['email']?.endsWith('.invalid')) refuse(`Invalid email address: ${body['email']}`);
        return keep({ id: id('cus'), object: 'customer', ...body });
      case 'POST payment_intents':
        return intent(body);
      case 'GET payment_intents/:id':
        return get(one!);
      case 'GET payment_intents/search': {
        const token = /'([^']+)'$/.exec(body['query'])?.[1];
        const data = [...objects.values()].filter(
          (object) => !state.isSearchLate && object['metadata']?.payment_token === token,
        );
        return { object: 'search_result', data, has_more: false, url: path };
      }
      case 'POST payment_intents/:id/cancel': {
        const made = get(one!);
        if (made['status'] === 'succeeded') refuse('You cannot cancel this PaymentIntent.');
        return Object.assign(made, { status: 'canceled' });
      }
      case 'POST payment_methods/:id/attach':
        return Object.assign(method(one!), { customer: get(body['customer'])['id'] });
      case 'POST payment_methods/:id/detach':
        return Object.assign(method(one!), { customer: null });
      case 'POST checkout/sessions':
        return session(body);
      case 'GET checkout/sessions/:id':
        return get(one!);
      case 'POST checkout/sessions/:id/expire': {
        const made = get(one!);
        if (made['status'] !== 'open') refuse('Only open sessions can be expired.');
        return Object.assign(made, { status: 'expired' });
      }
      case 'POST refunds':
        return refund(body);
      case 'GET refunds/:id':
        return get(one!);
      default:
        throw new Refusal(404, { type: 'invalid_request_error', message: `Unrecognized: ${call}` });
    }
  }

  const server = createServer((request, response) => {
    void read(request).then(async (text) => {
      const url = new URL(request.url!, 'http://stripe.test');
      const verb = request.method!;
      await state.meanwhile(verb, url.pathname);
      const body = Object.fromEntries(
        verb === 'GET' ? url.searchParams : new URLSearchParams(text),
      );
      const header = (name: string) => request.headers[name] as string | undefined;
      const key = header('idempotency-key');
      const send = (status: number, content: string) => {
        response.writeHead(status, { 'content-type': 'application/json', 'request-id': id('req') });
        response.end(content);
      };
      if (header('authorization') !== `Bearer ${secretKey}`) {
        const message = 'Invalid API Key provided.';
        return send(401, JSON.stringify({ error: { type: 'invalid_request_error', message } }));
      }
      if (verb !== 'GET')
        requests.push({
          method: verb,
          path: url.pathname,
          key,
          account: header('stripe-account'),
          version: header('stripe-version'),
          body,
        });
      const of = `${verb} ${url.pathname} ${text}`;
      const known = key === undefined ? undefined : answers.get(key);
      if (known !== undefined && known.of !== of) {
        const message = 'Keys for idempotent requests can only be used with the same parameters.';
        return send(400, JSON.stringify({ error: { type: 'idempotency_error', message } }));
      }
      const made = known ?? { ...perform(() => answer(verb, url.pathname, body)), of };
      if (key !== undefined) answers.set(key, made);
      await state.beforeAnswer(verb, url.pathname, JSON.parse(made.body) as Fields);
      const isLossy = /^\/v1\/(payment_intents|refunds)$/.test(url.pathname);
      if (verb !== 'GET' && isLossy && state.loseAnswers > 0) {
        state.loseAnswers -= 1;
        return response.destroy();
      }
      return send(made.status, made.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;

  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    objects,
    get loseAnswers() {
      return state.loseAnswers;
    },
    set loseAnswers(count) {
      state.loseAnswers = count;
    },
    get isSearchLate() {
      return state.isSearchLate;
    },
    set isSearchLate(late) {
      state.isSearchLate = late;
    },
    get meanwhile() {
      return state.meanwhile;
    },
    set meanwhile(work) {
      state.meanwhile = work;
    },
    get beforeAnswer() {
      return state.beforeAnswer;
    },
    set beforeAnswer(work) {
      state.beforeAnswer = work;
    },
    payPage(sessionId) {
      const page = get(sessionId);
      const { setup_future_usage } = page['intent_data'];
      const made = succeed(
        keep({
          ...page,
          id: id('pi'),
          object: 'payment_intent',
          amount: page['amount_total'],
          metadata: {},
          last_payment_error: null,
          payment_method: method('pm_card_visa'),
          setup_future_usage: setup_future_usage ?? null,
        }),
      );
      return Object.assign(page, {
        payment_intent: made,
        payment_status: 'paid',
        status: 'complete',
        url: null,
      });
    },
    confirm: (intentId) => succeed(get(intentId)),
    event(type, object, more = {}) {
      const made = id('evt');
      const data = { object: { ...object, payment_intent: idOf(object['payment_intent']) } };
      const event = { id: made, object: 'event', type, livemode: false, data, ...more };
      return { id: made, raw: JSON.stringify(event) };
    },
    sign: (payload, secret, atMs) =>
      new Stripe(secretKey).webhooks.generateTestHeaderString({
        payload,
        secret,
        timestamp: Math.floor(atMs / 1000),
      }),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const idOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as Fields)['id'] : value;

function perform(work: () => Fields): { body: string; status: number } {
  try {
    return { body: JSON.stringify(work()), status: 200 };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { body: JSON.stringify({ error: error.error }), status: error.status };
  }
}

/** The fields of `name[key]` in a form body. */
const nested = (body: Fields, name: string): Fields =>
  Object.fromEntries(
    Object.entries(body).flatMap(([field, value]) => {
      const inner = field.startsWith(`${name}[`) ? field.slice(name.length + 1, -1) : null;
      return inner === null ? [] : [[inner, value]];
    }),
  );

async function read(request: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  return Buffer.concat(parts).toString('utf8');
}
