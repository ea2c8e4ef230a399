import { startTestApi, type TestAnswer, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { checkoutKinds, planFor } from '../../support/checkout-kinds.ts';

/** money 11.10: while a session is active, the request that opened it is answered with it again. */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

interface Opening {
  readonly path: string;
  readonly body: any;
  readonly answer: TestAnswer;
}
let keys = 0;
let opening: Opening | null = null;

/** The API whose first request with a checkout gets a key. The request and its answer are kept in `opening`. */
const keyed = () => {
  const post = async (path: string, sent: any) => {
    if (sent?.checkout === undefined || opening !== null) return await api.post(path, sent);
    const body = { ...sent, checkout: { ...sent.checkout, idempotency_key: `key ${(keys += 1)}` } };
    const answer = await api.post(path, body);
    opening = { path, body, answer };
    return answer;
  };
  const postOk = async (path: string, sent: any) => (await post(path, sent)).body;
  return { ...api, post, postOk } as TestApi;
};

const recordOf = ({ body }: TestAnswer) => {
  const { checkout_session, ...record } = body;
  return { id: checkout_session?.id as string, record };
};

describe.each(checkoutKinds(keyed))('the key of a checkout of $name', ({ open }) => {
  test('the same request: the same session and the same answer; another one: 409; free afterwards', async () => {
    opening = null;
    const { session } = await open();
    const { path, body, answer } = opening!;
    const again = await api.post(path, body);
    expect(again.status).toBe(answer.status);
    expect(recordOf(again)).toEqual(recordOf(answer));

    const other = { ...body, checkout: { ...body.checkout, metadata: { other: 'yes' } } };
    expect(await api.post(path, other)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_reused', details: [{ path: 'checkout.idempotency_key' }] },
    });

    await api.post(`/v1/checkout/sessions/${session.id}/cancel`);
    const later = await api.post(path, body);
    expect([later.status, recordOf(later).id === session.id]).toEqual([answer.status, false]);
  });
});

test('two equal requests at once open one session', async () => {
  const { plan, customer } = await planFor(api, '30');
  const request = {
    ...{ plan_id: plan.id, customer_id: customer.id, currency: 'usd' },
    ...{ billing_period: 'MONTHLY', billing_period_count: 1, billing_cycle: 'anniversary' },
    checkout: { payment_provider: 'test', idempotency_key: 'double click' },
  };
  const answers = await Promise.all([1, 2, 3].map(() => api.post('/v1/subscriptions', request)));
  expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  expect(new Set(answers.map(({ body }) => body.checkout_session.id)).size).toBe(1);
});

test('the key of one route opens nothing on another route', async () => {
  const customer = await catalogOf(api).customer();
  const checkout = { payment_provider: 'test', idempotency_key: 'one key' };
  const invoice = {
    ...{ invoice_type: 'ONE_OFF', customer_id: customer.id, currency: 'usd' },
    line_items: [{ display_name: 'Work', amount: '30', quantity: '1' }],
  };
  expect((await api.post('/v1/invoices', { ...invoice, checkout })).status).toBe(201);
  const sent = { customer_id: customer.id, currency: 'usd' };
  const { body: wallet } = await api.post('/v1/wallets', sent);
  const topUp = await api.post(`/v1/wallets/${wallet.id}/top-up`, {
    ...{ credits_to_add: '30', transaction_reason: 'PURCHASED_CREDIT_INVOICED' },
    checkout,
  });
  expect([topUp.status, topUp.body.code]).toEqual([409, 'idempotency_key_reused']);
});
