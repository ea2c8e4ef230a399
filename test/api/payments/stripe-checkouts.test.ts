import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { checkoutKinds, type CheckoutKind } from '../../support/checkout-kinds.ts';
import { jobRunAt } from '../../support/job-run.ts';
import { startStripeServer, type StripeServer } from '../../support/stripe-server.ts';

/**
 * Everything that is bought through a checkout session, on a page of Stripe, with each thing that may happen to the
 * page: what Stripe received and did not pay back is in the books once, and the thing is given if and only if that
 * money is kept.
 */
const KEY = 'sk_test_of_this_test';
const SECRET = 'whsec_of_this_test';
const HOUR_MS = 3_600_000;
const checkout = { payment_provider: 'stripe', success_url: 'https://shop.example/thanks' };

let api: TestApi;
let stripe: StripeServer;
let connection: string;
beforeAll(async () => {
  stripe = await startStripeServer(KEY);
  api = await startTestApi({ stripeApiUrl: stripe.url });
});
beforeEach(async () => {
  const { body } = await api.post('/v1/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    encrypted_secret_data: { secret_key: KEY, webhook_secret: SECRET },
  });
  connection = body.id;
});
afterEach(async () => {
  stripe.meanwhile = async () => {};
  stripe.beforeAnswer = async () => {};
  await api.delete(`/v1/connections/${connection}`);
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});

interface Opened {
  readonly session: any;
  /** The id of the page at Stripe. */
  readonly page: string;
}

/** The event of the page, to the address of the connection. */
async function tell(page: string, made = stripe.event(COMPLETED, stripe.objects.get(page)!)) {
  const { tenant_id, environment_id } = api.scope;
  const { statusCode } = await api.app.inject({
    method: 'POST',
    url: `/v1/webhooks/stripe/${tenant_id}/${environment_id}/${connection}`,
    headers: {
      'content-type': 'application/json',
      'stripe-signature': stripe.sign(made.raw, SECRET, api.clock.now()),
    },
    payload: made.raw,
  });
  return statusCode;
}
const COMPLETED = 'checkout.session.completed';

const at = (milliseconds: number) =>
  jobRunAt(new Date(api.clock.now() + milliseconds).toISOString());
const expire = () => expireCheckouts.run(api.deps, at(HOUR_MS));
const statusOf = async ({ session }: Opened) =>
  (await api.get(`/v1/checkout/sessions/${session.id}`)).body.checkout_status;
const cancel = ({ session }: Opened) => api.post(`/v1/checkout/sessions/${session.id}/cancel`);
const isPage = (verb: string, path: string) => verb === 'POST' && path === '/v1/checkout/sessions';

interface Outcome {
  readonly name: string;
  readonly isBought: boolean;
  /** What happens while the page is being opened. */
  readonly opening?: () => void;
  happen(opened: Opened): Promise<void>;
}

const OUTCOMES: readonly Outcome[] = [
  {
    name: 'paid at once',
    isBought: true,
    async happen({ page }) {
      stripe.payPage(page);
      expect(await tell(page)).toBe(200);
    },
  },
  {
    name: 'paid, the event comes twice, then at the same time as a poll',
    isBought: true,
    async happen(opened) {
      const { page } = opened;
      stripe.payPage(page);
      const event = stripe.event(COMPLETED, stripe.objects.get(page)!);
      const told = await Promise.all([tell(page, event), tell(page, event), statusOf(opened)]);
      expect(told.slice(0, 2)).toEqual([200, 200]);
      expect(await tell(page, event)).toBe(200);
      expect(await tell(page)).toBe(200);
    },
  },
  {
    name: 'paid, no event: the job that ends the session finds the money',
    isBought: true,
    async happen({ page }) {
      stripe.payPage(page);
      await expire();
    },
  },
  {
    name: 'paid while the job closes the page',
    isBought: true,
    async happen({ page }) {
      stripe.meanwhile = async (verb, path) => {
        if (verb === 'POST' && path === `/v1/checkout/sessions/${page}/expire`)
          if (stripe.objects.get(page)!['status'] === 'open') stripe.payPage(page);
      };
      await expire();
      await tell(page);
    },
  },
  {
    name: 'paid while the customer cancels in another window',
    isBought: true,
    async happen(opened) {
      const { page } = opened;
      stripe.meanwhile = async (verb, path) => {
        if (verb === 'POST' && path === `/v1/checkout/sessions/${page}/expire`)
          if (stripe.objects.get(page)!['status'] === 'open') stripe.payPage(page);
      };
      await cancel(opened);
      await tell(page);
    },
  },
  {
    name: 'expired, and paid afterwards',
    isBought: false,
    async happen(opened) {
      const { page } = opened;
      await expire();
      expect([await statusOf(opened), stripe.objects.get(page)!['status']]).toEqual([
        'expired',
        'expired',
      ]);
      stripe.payPage(page);
      expect(await tell(page)).toBe(200);
      expect(await tell(page)).toBe(200);
    },
  },
  {
    name: 'cancelled, and paid afterwards',
    isBought: false,
    async happen(opened) {
      const { page } = opened;
      expect((await cancel(opened)).status).toBe(200);
      expect(stripe.objects.get(page)!['status']).toBe('expired');
      stripe.payPage(page);
      expect(await Promise.all([tell(page), tell(page)])).toEqual([200, 200]);
    },
  },
  {
    name: 'paid before the answer about the page, by its event',
    isBought: true,
    opening() {
      stripe.beforeAnswer = async (verb, path, { id }) => {
        if (!isPage(verb, path)) return;
        stripe.payPage(id);
        await tell(id);
      };
    },
    async happen(opened) {
      stripe.beforeAnswer = async () => {};
      await tell(opened.page);
    },
  },
  {
    name: 'not paid, the connection is deleted; paid afterwards',
    isBought: false,
    async happen(opened) {
      const { page } = opened;
      expect((await api.delete(`/v1/connections/${connection}`)).status).toBe(204);
      expect(stripe.objects.get(page)!['status']).toBe('expired');
      expect(await tell(page)).toBe(404);
    },
  },
  {
    name: 'paid, the connection is deleted before the event',
    isBought: true,
    async happen({ page }) {
      stripe.payPage(page);
      expect((await api.delete(`/v1/connections/${connection}`)).status).toBe(204);
      expect(await tell(page)).toBe(404);
    },
  },
];

/** Cents that Stripe has received for the page and not paid back. */
function keptAtStripe(page: string): number {
  const intent = stripe.objects.get(page)!['payment_intent'];
  const returned = [...stripe.objects.values()]
    .filter(({ object, payment_intent }) => object === 'refund' && payment_intent === intent?.id)
    .reduce((sum, { amount }) => sum + amount, 0);
  return (intent?.amount_received ?? 0) - returned;
}

/** What the books say about the invoice of the session. */
async function booked({ session }: Opened) {
  const [row] = await api.pool<any[]>`
    select i.invoice_status,
           (select count(*)::int from payments p where p.destination_id = i.id and p.succeeded_at is not null) as payments,
           (coalesce((select sum(p.amount) from payments p
                       where p.destination_id = i.id and p.succeeded_at is not null), 0)
            - coalesce((select sum(r.amount) from refunds r join payments p on p.id = r.payment_id
                         where p.destination_id = i.id and r.refund_status = 'SUCCEEDED'), 0))::float8 as kept
      from invoices i where i.id = ${session.checkout_invoice_id}`;
  return row;
}

/** Waits until all pending work has ended. */
async function settle() {
  for (const later of [600_000, HOUR_MS, 2 * HOUR_MS]) {
    await reconcilePayments.run(api.deps, at(later));
    await expireCheckouts.run(api.deps, at(later));
  }
}

const kinds: readonly CheckoutKind[] = checkoutKinds(() => api, checkout);

describe.each(kinds)('$name on a page of Stripe', ({ open }) => {
  test.each(OUTCOMES)('$name', async ({ isBought, opening, happen }) => {
    opening?.();
    const { session, done } = await open(opening !== undefined);
    const { body: payment } = await api.get(`/v1/payments/${session.checkout_payment_id}`);
    const opened = { session, page: payment.gateway_payment_id };
    await happen(opened);
    await settle();
    expect(await statusOf(opened)).toBe(isBought ? 'completed' : 'expired');
    expect(await done().catch(() => false)).toBe(isBought);
    expect(keptAtStripe(opened.page)).toBe(isBought ? 3_000 : 0);
    expect(await booked(opened)).toEqual(
      isBought
        ? { invoice_status: 'FINALIZED', payments: 1, kept: 30 }
        : { invoice_status: 'VOIDED', payments: expect.any(Number), kept: 0 },
    );
  });
});
