import { startTestApi, type TestApi } from '../../support/api.ts';

/** api 57: money and access never go elsewhere because a request uses the word of another route. */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const NOW = '2026-12-01T00:00:00Z';
const key = { name: 'k', type: 'private_key', permissions: ['event:read'] };
const cancellation = { cancellation_type: 'immediate' };

describe('400: did you mean', () => {
  test.each([
    ['POST', '/refunds', { payment_id: 'p', refund_target: 'BACK_TO_SOURCE' }, 'target'],
    ['POST', '/refunds', { payment_id: 'p', credit_amount: '5' }, 'amount'],
    ['POST', '/invoices/i/void', { target: 'BACK_TO_SOURCE' }, 'refund_target'],
    ['POST', '/invoices/i/void', { refunded_amount: '5' }, 'amount'],
    ['PUT', '/invoices/i/payment', { payment_status: 'SUCCEEDED', amount_paid: '5' }, 'amount'],
    [
      'POST',
      '/wallets/w/debit',
      { transaction_reason: 'MANUAL_BALANCE_DEBIT', amount: '5' },
      'credits',
    ],
    ['POST', '/wallets/w/top-up', { credits_to_add: '5', expires_at: NOW }, 'expiry_date_utc'],
    ['POST', '/subscriptions/s/cancel', { ...cancellation, effective_date: NOW }, 'cancel_at'],
    ['POST', '/subscriptions/s/pause', { resume_at: NOW }, 'pause_end'],
    ['DELETE', '/subscriptions/addon', { effective_from: NOW }, 'effective_date'],
    ['DELETE', '/subscriptions/lineitems/l', { end_date: NOW }, 'effective_from'],
    ['DELETE', '/prices/p', { effective_date: NOW }, 'end_date'],
    ['DELETE', '/creditgrants/g', { end_date: NOW }, 'effective_date'],
    ['POST', '/payments', { payment_provider: 'stripe' }, 'payment_gateway'],
    ['POST', '/secrets/api/keys', { ...key, customer_id: 'c' }, 'external_customer_id'],
    ['POST', '/secrets/api/keys', { ...key, expiry_date: NOW }, 'expires_at'],
    ['POST', '/coupons', { name: 'c', expires_at: NOW }, 'redeem_before'],
    ['POST', '/subscriptions', { commitment_overage_factor: '2' }, 'overage_factor'],
    ['POST', '/subscriptions', { invoicing_customer_external_id: 'c' }, 'inheritance'],
    [
      'POST',
      '/subscriptions',
      { external_customer_ids_to_inherit_subscription: ['c'] },
      'inheritance',
    ],
  ] as const)('%s %s %j', async (method, route, sent, meant) => {
    const { status, body } = await api.call(method, `/v1${route}`, sent);
    const path = Object.keys(sent).at(-1)!;
    const message = `is not a field of this request; did you mean "${meant}"?`;
    expect([status, body.code, body.details]).toEqual([
      400,
      'validation_error',
      [{ path, code: 'unknown_field', message }],
    ]);
  });
});

describe('ignored and named', () => {
  test.each([
    ['beside the word of the route', { cancel_at: NOW, effective_date: NOW }],
    ['without a value', { effective_date: null }],
  ])('the word of another route %s', async (_how, sent) => {
    const route = '/v1/subscriptions/s/cancel';
    const { status, headers } = await api.post(route, { ...cancellation, ...sent });
    expect([status, headers['x-ignored-fields']]).toEqual([404, 'effective_date']);
  });

  test('a key of the record that a PUT repeats', async () => {
    const { status, headers } = await api.put('/v1/prices/p', {
      amount: '5',
      end_date: NOW,
    });
    expect([status, headers['x-ignored-fields']]).toEqual([404, 'end_date']);
  });
});
