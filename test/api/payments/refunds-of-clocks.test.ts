import { ALL_JOBS } from '../../../jobs/all-jobs.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { runAtNow } from '../../support/job-run.ts';
import { payOffline } from '../../support/payments.ts';
import { startStripeServer, type StripeServer } from '../../support/stripe-server.ts';

/** Refunds of customers whose test clock is far from the time in which connections are deleted (money 9.5). */
const KEY = 'sk_test_of_this_test';
let api: TestApi;
let stripe: StripeServer;
let plan: { id: string };
beforeAll(async () => {
  stripe = await startStripeServer(KEY);
  api = await startTestApi({ stripeApiUrl: stripe.url });
  plan = await catalogOf(api).plan();
  await catalogOf(api).fixed(plan, '40');
});
afterAll(async () => {
  await api.close();
  await stripe.close();
});
afterEach(() => {
  stripe.loseAnswers = 0;
});

const read = async ({ id }: { id: string }) => (await api.get(`/v1/refunds/${id}`)).body;

/** A customer on a clock, with a payment by card and its connection. */
async function paidAt(now: string) {
  const connection = await api.postOk('/v1/connections', {
    name: 'Stripe',
    provider_type: 'stripe',
    encrypted_secret_data: { secret_key: KEY },
  });
  const clock = await api.postOk('/v1/test-clocks', { now });
  const catalog = catalogOf(api);
  const customer = await catalog.customer({ test_clock_id: clock.id });
  const { latest_invoice } = await catalog.subscribe(customer, plan, { start_date: now });
  const { body: payment } = await payOffline(api, latest_invoice, '40', {
    payment_method_type: 'CARD',
    payment_method_id: 'pm_card_visa',
    payment_gateway: 'stripe',
  });
  expect(payment).toMatchObject({ payment_status: 'SUCCEEDED' });
  return {
    connection,
    customer,
    refund: async () =>
      await api.postOk('/v1/refunds', { payment_id: payment.id, target: 'BACK_TO_SOURCE' }),
    async disconnect() {
      expect((await api.delete(`/v1/connections/${connection.id}`)).status).toBe(204);
    },
    async advance(ms: number) {
      const to = new Date(Date.parse(now) + ms).toISOString();
      expect((await api.post(`/v1/test-clocks/${clock.id}/advance`, { to })).status).toBe(202);
      const deps = { ...api.deps, readLogHeads: async () => ({}), streamWaitMs: 300 };
      const job = ALL_JOBS.find(({ name }) => name === 'advance-test-clocks')!;
      await runAtNow(api, job, deps as never);
      const { body } = await api.get(`/v1/test-clocks/${clock.id}`);
      expect(body).toMatchObject({ status: 'ready', now: to });
    },
  };
}

const CLOCKS = [
  ['ahead', '2031-01-01T00:00:00.000Z'],
  ['behind', '2024-01-01T00:00:00.000Z'],
] as const;

test.each(CLOCKS)('with the clock %s, a lost answer is asked for again', async (_, now) => {
  const { refund, advance, disconnect } = await paidAt(now);
  stripe.loseAnswers = 9;
  const asked = await refund();
  expect(asked.refund_status).toBe('PENDING');
  stripe.loseAnswers = 0;
  await advance(60_000);
  expect(await read(asked)).toMatchObject({ refund_status: 'SUCCEEDED' });
  await disconnect();
});

test.each(CLOCKS)(
  'with the clock %s, a refund that may have been sent stays open when its connection is gone',
  async (_, now) => {
    const { refund, advance, disconnect, customer } = await paidAt(now);
    stripe.loseAnswers = 9;
    const asked = await refund();
    await disconnect();
    await advance(600_000);
    expect(await read(asked)).toMatchObject({ refund_status: 'PENDING' });
    expect((await api.post(`/v1/refunds/${asked.id}/retry`)).status).toBe(400);
    expect((await api.get(`/v1/customers/${customer.id}/wallets`)).body).toEqual([]);
  },
);

test.each(CLOCKS)(
  'with the clock %s, a refund that was never sent fails when its connection is gone, and goes to the wallet',
  async (_, now) => {
    const { refund, advance, disconnect, connection } = await paidAt(now);
    const path = `/v1/connections/${connection.id}`;
    expect((await api.put(path, { encrypted_secret_data: null })).status).toBe(200);
    const asked = await refund();
    expect(asked.refund_status).toBe('PENDING');
    await disconnect();
    await advance(600_000);
    expect(await read(asked)).toMatchObject({ refund_status: 'FAILED' });
    const { status, body } = await api.post(`/v1/refunds/${asked.id}/retry`);
    expect([status, body.refund_status, body.amount]).toEqual([200, 'SUCCEEDED', '40']);
  },
);
