import { startTestApi, TEST_NOW, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';
import { completeBackfills, createUsageOracle } from '../../support/usage-oracle.ts';

const oracle = createUsageOracle();
let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi({ usageReader: oracle.reader });
  oracle.attach(api.pool);
  catalog = catalogOf(api);
});
afterAll(() => api.close());
beforeEach(() => api.clock.set(TEST_NOW));
/** An invoice with usage is final from the end of its period on. */
const periodEnds = () => api.clock.set(END);

const START = '2026-11-01T00:00:00.000Z';
const END = '2026-12-01T00:00:00.000Z';

/** A plan of 120 in advance, 60 in arrears, and calls at 0.02, subscribed from November on. */
async function subscribed(more: object = {}) {
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '120', { display_name: 'Base' });
  await catalog.fixed(plan, '60', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: START, ...more });
  return { plan, meter, customer, subscription };
}
const draftBody = (customer: { id: string }, subscription: { id: string }, more: object = {}) => ({
  invoice_type: 'SUBSCRIPTION',
  customer_id: customer.id,
  subscription_id: subscription.id,
  currency: 'usd',
  amount_due: '0',
  subtotal: '0',
  total: '0',
  period_start: START,
  period_end: END,
  billing_reason: 'SUBSCRIPTION_CYCLE',
  ...more,
});
const rows = (invoice: any) =>
  invoice.line_items.map((line: any) => [
    line.display_name,
    line.quantity,
    line.amount,
    line.period_start.slice(0, 10),
    line.period_end.slice(0, 10),
  ]);

describe('POST /invoices', () => {
  test('201: the draft of a period: arrears and usage of it, advances of the next', async () => {
    const { meter, customer, subscription } = await subscribed();
    await oracle.use(meter, customer, '2026-11-10T00:00:00.000Z', '70');
    await oracle.use(meter, customer, '2026-11-30T23:59:59.999Z', '5.5');
    await oracle.use(meter, customer, END, '1000');
    const { status, body } = await api.post('/v1/invoices', draftBody(customer, subscription));
    expect(status).toBe(201);
    expect(body).toMatchObject({
      invoice_status: 'DRAFT',
      invoice_number: null,
      billing_sequence: 2,
      billing_reason: 'SUBSCRIPTION_CYCLE',
      subtotal: '181.51',
      total: '181.51',
      amount_due: '181.51',
      due_date: '2026-12-02T00:00:00.000Z',
    });
    expect(rows(body)).toEqual([
      ['Base', '1', '120', '2026-12-01', '2027-01-01'],
      ['Support', '1', '60', '2026-11-01', '2026-12-01'],
      ['Calls', '75.5', '1.51', '2026-11-01', '2026-12-01'],
    ]);
    expect(body.usage_snapshot.meter_version_ids).toHaveLength(1);
    expect(body.usage_snapshot.watermarks).toEqual({ 0: expect.stringMatching(/^\d+$/) });
  });

  test('201: a repeat answers the same draft; 409 once it is finalized; again after it is void', async () => {
    const { meter, customer, subscription } = await subscribed();
    const body = draftBody(customer, subscription);
    const first = await api.post('/v1/invoices', body);
    await oracle.use(meter, customer, '2026-11-10T00:00:00.000Z', '100');
    expect(await api.post('/v1/invoices', body)).toMatchObject({ status: 201, body: first.body });
    periodEnds();
    await api.post(`/v1/invoices/${first.body.id}/finalize`);
    expect(await api.post('/v1/invoices', body)).toMatchObject({
      status: 409,
      body: { code: 'already_exists' },
    });
    await api.post(`/v1/invoices/${first.body.id}/void`);
    const second = await api.post('/v1/invoices', body);
    expect(second).toMatchObject({ status: 201, body: { invoice_status: 'DRAFT' } });
    expect(second.body.id).not.toBe(first.body.id);
    expect(rows(second.body)[2]).toEqual(['Calls', '100', '2', '2026-11-01', '2026-12-01']);
  });

  test('201: without dates the running period', async () => {
    const { customer, subscription } = await subscribed();
    const { period_start: _, period_end: __, ...body } = draftBody(customer, subscription);
    expect(await api.post('/v1/invoices', body)).toMatchObject({
      status: 201,
      body: { period_start: START, period_end: END },
    });
  });

  test.each`
    name                        | more                                                               | path
    ${'no type'}                | ${{ invoice_type: undefined }}                                     | ${'invoice_type'}
    ${'no subscription'}        | ${{ subscription_id: undefined }}                                  | ${'subscription_id'}
    ${'another currency'}       | ${{ currency: 'eur' }}                                             | ${'currency'}
    ${'no period of it'}        | ${{ period_start: START, period_end: '2026-11-15T00:00:00.000Z' }} | ${'period_start'}
    ${'half a period'}          | ${{ period_end: undefined }}                                       | ${'period_end'}
    ${'a period in the future'} | ${{ period_start: END, period_end: '2027-01-01T00:00:00.000Z' }}   | ${'period_start'}
    ${'before its start'}       | ${{ period_start: '2026-10-01T00:00:00.000Z', period_end: START }} | ${'period_start'}
    ${'another reason'}         | ${{ billing_reason: 'MANUAL' }}                                    | ${'billing_reason'}
    ${'rows of your own'}       | ${{ line_items: [{ amount: '5' }] }}                               | ${'line_items'}
  `('400: $name', async ({ more, path }) => {
    const { customer, subscription } = await subscribed();
    const answer = await api.post('/v1/invoices', draftBody(customer, subscription, more));
    expect(answer.status).toBe(400);
    expect(answer.body.details[0].path).toBe(path);
  });

  test('the idempotency_key of a body: the first answer for the same body, 409 for another (billing 17.1)', async () => {
    const { customer, subscription } = await subscribed();
    const body = { ...draftBody(customer, subscription), idempotency_key: 'november' };
    const first = await api.post('/v1/invoices', body);
    expect(first).toMatchObject({ status: 201, body: { idempotency_key: 'november' } });
    periodEnds();
    await api.post(`/v1/invoices/${first.body.id}/finalize`);

    const again = await api.post('/v1/invoices', body);
    expect(again).toMatchObject({ status: 201, headers: { 'idempotent-replayed': 'true' } });
    expect(again.body).toEqual(first.body);
    const reused = { status: 409, body: { code: 'idempotency_key_reused' } };
    expect(await api.post('/v1/invoices', { ...body, metadata: { a: 'b' } })).toMatchObject(reused);
    const other = await subscribed();
    const foreign = {
      ...draftBody(other.customer, other.subscription),
      idempotency_key: 'november',
    };
    const refused = await api.post('/v1/invoices', foreign);
    expect(refused).toMatchObject(reused);
    expect(refused.body.details[0].path).toBe('idempotency_key');

    const { idempotency_key: _, ...unnamed } = body;
    const taken = { status: 409, body: { code: 'already_exists' } };
    expect(await api.post('/v1/invoices', unnamed)).toMatchObject(taken);
    // A header of the same text names something else, and a refusal keeps no key.
    const header = { 'idempotency-key': 'november' };
    expect(await api.post('/v1/invoices', unnamed, header)).toMatchObject(taken);
    const late = { ...unnamed, idempotency_key: 'late' };
    expect(await api.post('/v1/invoices', late)).toMatchObject(taken);
    await api.post(`/v1/invoices/${first.body.id}/void`);
    expect(await api.post('/v1/invoices', { ...unnamed, idempotency_key: '' })).toMatchObject({
      status: 201,
      body: { idempotency_key: null },
    });
    expect(await api.post('/v1/invoices', late)).toMatchObject({ status: 201 });
  });

  test('400: another customer; 404: unknown subscription', async () => {
    const { customer, subscription } = await subscribed();
    const other = await catalog.customer();
    expect(await api.post('/v1/invoices', draftBody(other, subscription))).toMatchObject({
      status: 400,
    });
    const nothing = { id: 'subs_00000000000000000000000000' };
    expect(await api.post('/v1/invoices', draftBody(customer, nothing))).toMatchObject({
      status: 404,
    });
  });

  test('a start bills no usage: while it cannot be read, subscriptions are created and activated', async () => {
    oracle.outage(true);
    try {
      const { subscription } = await subscribed();
      expect(rows(subscription.latest_invoice)).toEqual([
        ['Base', '1', '120', '2026-11-01', '2026-12-01'],
      ]);
      const { subscription: draft } = await subscribed({ subscription_status: 'draft' });
      const path = `/v1/subscriptions/${draft.id}/activate`;
      const activated = await api.post(path, { start_date: START });
      expect([activated.status, activated.body.latest_invoice?.total]).toEqual([200, '120']);
    } finally {
      oracle.outage(false);
    }
  });

  test('503 while usage cannot be read, or is not whole yet: no invoice', async () => {
    const { customer, subscription } = await subscribed();
    oracle.outage(true);
    const away = await api.post('/v1/invoices', draftBody(customer, subscription));
    oracle.outage(false);
    await api.pool`update meter_versions set backfill_state = 'replaying'`;
    const partial = await api.post('/v1/invoices', draftBody(customer, subscription));
    await completeBackfills(api.pool);
    for (const answer of [away, partial])
      expect(answer).toMatchObject({ status: 503, body: { code: 'usage_unavailable' } });
    const found = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
    expect(found.body.items.map(({ billing_reason }: any) => billing_reason)).toEqual([
      'SUBSCRIPTION_CREATE',
    ]);
  });
});

describe('POST /invoices/preview', () => {
  test('200: what the invoice would be; nothing is written, and it is the same twice', async () => {
    const { meter, customer, subscription } = await subscribed();
    await oracle.use(meter, customer, '2026-11-10T00:00:00.000Z', '70');
    const before = await api.pool`select count(*) from invoices`;
    const preview = () => api.post('/v1/invoices/preview', { subscription_id: subscription.id });
    const { status, body } = await preview();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      invoice_status: 'DRAFT',
      payment_status: 'PENDING',
      billing_reason: 'SUBSCRIPTION_CYCLE',
      invoice_number: null,
      idempotency_key: null,
      billing_sequence: null,
      version: 0,
      metadata: { is_preview: 'true' },
      total: '181.4',
      customer: { id: customer.id },
    });
    expect(rows(body)).toEqual([
      ['Base', '1', '120', '2026-12-01', '2027-01-01'],
      ['Support', '1', '60', '2026-11-01', '2026-12-01'],
      ['Calls', '70', '1.4', '2026-11-01', '2026-12-01'],
    ]);
    expect(rows((await preview()).body)).toEqual(rows(body));
    expect(await api.pool`select count(*) from invoices`).toEqual(before);
  });

  test('200: any window, both ends exact; zero rows can be left out', async () => {
    const { meter, customer, subscription } = await subscribed();
    await oracle.use(meter, customer, '2026-11-10T10:00:00.000Z', '7');
    await oracle.use(meter, customer, '2026-11-11T10:00:00.000Z', '4');
    const window = (start: string, end: string, more: object = {}) =>
      api.post('/v1/invoices/preview', {
        subscription_id: subscription.id, period_start: start, period_end: end, ...more,
      }); // prettier-ignore
    const calls = ({ body }: any) => rows(body).find(([name]: any) => name === 'Calls');
    expect(calls(await window('2026-11-10T10:00:00Z', '2026-11-11T10:00:00Z'))?.[1]).toBe('7');
    expect(calls(await window('2026-11-10T10:00:00.001Z', '2026-11-11T10:00:00.001Z'))?.[1]).toBe(
      '4',
    );
    const empty = await window('2026-11-20T00:00:00Z', '2026-11-21T00:00:00Z', {
      hide_zero_charges_line_items: true,
    });
    expect(calls(empty)).toBeUndefined();
  });

  test('200 after the period is invoiced: other invoices do not remove rows', async () => {
    const { customer, subscription } = await subscribed();
    const draft = await api.post('/v1/invoices', draftBody(customer, subscription));
    periodEnds();
    await api.post(`/v1/invoices/${draft.body.id}/finalize`);
    const { body } = await api.post('/v1/invoices/preview', { subscription_id: subscription.id });
    expect(rows(body)).toEqual(rows(draft.body));
  });

  test('404, 400, 503', async () => {
    const { subscription } = await subscribed();
    expect(await api.post('/v1/invoices/preview', { subscription_id: 'subs_0' })).toMatchObject({
      status: 404,
    });
    expect(await api.post('/v1/invoices/preview', {})).toMatchObject({ status: 400 });
    expect(
      await api.post('/v1/invoices/preview', {
        subscription_id: subscription.id,
        period_start: END,
        period_end: START,
      }),
    ).toMatchObject({ status: 400 });
    oracle.outage(true);
    expect(
      await api.post('/v1/invoices/preview', { subscription_id: subscription.id }),
    ).toMatchObject({ status: 503 });
    oracle.outage(false);
  });
});

describe('POST /invoices/{id}/compute and /finalize', () => {
  test('200: a draft takes new usage up, its rows keep their ids; finalized it has a number', async () => {
    const { meter, customer, subscription } = await subscribed();
    const draft = (await api.post('/v1/invoices', draftBody(customer, subscription))).body;
    await oracle.use(meter, customer, '2026-11-10T00:00:00.000Z', '50');
    const computed = await api.post(`/v1/invoices/${draft.id}/compute?sync=true`);
    expect(computed).toMatchObject({
      status: 200,
      body: { skipped: false, invoice: { total: '181', version: 2 } },
    });
    expect(computed.body.invoice.line_items.map(({ id }: any) => id)).toEqual(
      draft.line_items.map(({ id }: any) => id),
    );
    const again = await api.post(`/v1/invoices/${draft.id}/compute`);
    expect(rows(again.body.invoice)).toEqual(rows(computed.body.invoice));

    periodEnds();
    const finalized = await api.post(`/v1/invoices/${draft.id}/finalize`);
    expect(finalized).toMatchObject({
      status: 200,
      body: { message: 'invoice finalized successfully' },
    });
    const read = (await api.get(`/v1/invoices/${draft.id}`)).body;
    expect(read).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'PENDING',
      invoice_number: expect.stringMatching(/^INV-202612-\d{5}$/),
      finalized_at: END,
      due_date: '2026-12-02T00:00:00.000Z',
      amount_remaining: '181',
      subscription: { id: subscription.id },
      customer: { id: customer.id },
    });
  });

  test('what is stored satisfies the formulas of an invoice', async () => {
    const [row] = await api.pool`
      select bool_and(i.subtotal = coalesce(l.amount, 0)) as subtotal,
             bool_and(i.total = greatest(i.subtotal - i.total_discount - i.total_prepaid_credits_applied + i.total_tax, 0)) as total,
             bool_and(i.amount_remaining = greatest(i.amount_due - i.amount_paid, 0)) as remaining,
             count(*) > 5 as enough
        from invoices i
        left join lateral (select sum(amount) as amount from invoice_line_items where invoice_id = i.id) l on true`;
    expect(row).toEqual({ subtotal: true, total: true, remaining: true, enough: true });
  });

  test('an exempt customer has no tax, and the invoice says why', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const customer = await catalog.customer({ tax_treatment: 'exempt' });
    const { latest_invoice } = await catalog.subscribe(customer, plan);
    expect(latest_invoice.tax_summary).toMatchObject({
      total_tax: '0',
      exemption: { reason_code: 'customer_exempt' },
    });
  });

  test('nothing due: finalized it is paid at once', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '0');
    await catalog.fixed(plan, '10', { invoice_cadence: 'ARREAR' });
    const { latest_invoice } = await catalog.subscribe(await catalog.customer(), plan);
    expect(latest_invoice).toMatchObject({ invoice_status: 'SKIPPED', invoice_number: null });
    expect(await api.post(`/v1/invoices/${latest_invoice.id}/finalize`)).toMatchObject({
      status: 200,
    });
  });

  test('400 for what is finalized or void, 404 for what is not there', async () => {
    const { customer, subscription } = await subscribed();
    const { id } = (await api.post('/v1/invoices', draftBody(customer, subscription))).body;
    periodEnds();
    await api.post(`/v1/invoices/${id}/finalize`);
    for (const action of ['finalize', 'compute'])
      expect(await api.post(`/v1/invoices/${id}/${action}`)).toMatchObject({
        status: 400,
        body: { code: 'invalid_operation' },
      });
    expect(await api.post(`/v1/invoices/${id}/void`, { metadata: { why: 'wrong' } })).toMatchObject(
      { status: 200 },
    );
    expect((await api.get(`/v1/invoices/${id}`)).body).toMatchObject({
      invoice_status: 'VOIDED',
      metadata: { why: 'wrong' },
    });
    for (const action of ['finalize', 'compute', 'void'])
      expect(await api.post(`/v1/invoices/${id}/${action}`)).toMatchObject({ status: 400 });
    for (const action of ['finalize', 'compute', 'void'])
      expect(await api.post(`/v1/invoices/inv_0/${action}`)).toMatchObject({ status: 404 });
  });

  test('503 while usage cannot be read: it stays a draft', async () => {
    const { customer, subscription } = await subscribed();
    const { id } = (await api.post('/v1/invoices', draftBody(customer, subscription))).body;
    oracle.outage(true);
    periodEnds();
    expect(await api.post(`/v1/invoices/${id}/finalize`)).toMatchObject({ status: 503 });
    oracle.outage(false);
    expect((await api.get(`/v1/invoices/${id}`)).body.invoice_status).toBe('DRAFT');
  });
});

describe('reading invoices', () => {
  test('200: search by what an invoice has', async () => {
    const { customer, subscription } = await subscribed();
    const draft = (await api.post('/v1/invoices', draftBody(customer, subscription))).body;
    const search = async (body: object) =>
      (await api.post('/v1/invoices/search', body)).body.items.map(({ id }: any) => id);
    const opening = subscription.latest_invoice.id;
    const all = await search({ customer_id: customer.id });
    expect(all.sort()).toEqual([draft.id, opening].sort());
    expect(
      await search({ external_customer_id: customer.external_id, invoice_status: ['DRAFT'] }),
    ).toEqual([draft.id]);
    expect(
      await search({ subscription_id: subscription.id, billing_reason: 'SUBSCRIPTION_CREATE' }),
    ).toEqual([opening]);
    expect(await search({ subscription_id: subscription.id, amount_due_gt: '150' })).toEqual([
      draft.id,
    ]);
    expect(await search({ subscription_id: subscription.id, period_start_gte: END })).toEqual([]);
    expect(await search({ invoice_ids: [opening] })).toEqual([opening]);
    const listed = await api.get(
      `/v1/invoices?subscription_id=${subscription.id}&invoice_status=FINALIZED`,
    );
    expect(listed.body).toMatchObject({ items: [{ id: opening }], pagination: { total: 1 } });
    const bare = await api.post('/v1/invoices/search', {
      invoice_ids: [draft.id],
      skip_line_items: true,
    });
    expect(bare.body.items[0].line_items).toBeNull();
  });

  test.each(['limit', 'offset'])('400: %s out of bounds', async (field) => {
    expect(await api.post('/v1/invoices/search', { [field]: -1 })).toMatchObject({ status: 400 });
  });

  test('404 across environments', async () => {
    const { subscription } = await subscribed();
    const stranger = await api.newCaller();
    const { id, line_items } = subscription.latest_invoice;
    for (const path of [
      `/v1/invoices/${id}`,
      `/v1/invoices/${id}/lines/${line_items[0].id}/explanation`,
      `/v1/subscriptions/${subscription.id}`,
    ])
      expect(await stranger.get(path)).toMatchObject({ status: 404 });
    for (const action of ['finalize', 'compute', 'void'])
      expect(await stranger.post(`/v1/invoices/${id}/${action}`)).toMatchObject({ status: 404 });
    expect((await stranger.post('/v1/invoices/search', { invoice_ids: [id] })).body.items).toEqual(
      [],
    );
  });

  test('401 without a key, 403 without the permission', async () => {
    const reader = await api.newCaller({ roles: ['all_reader'], beside: api });
    const { subscription } = await subscribed();
    const { id } = subscription.latest_invoice;
    expect(await reader.get(`/v1/invoices/${id}`)).toMatchObject({ status: 200 });
    expect(await reader.post(`/v1/invoices/${id}/void`)).toMatchObject({ status: 403 });
    expect(
      await reader.post(`/v1/subscriptions/${subscription.id}/cancel`, {
        cancellation_type: 'immediate',
      }),
    ).toMatchObject({ status: 403 });
  });
});

describe('GET /invoices/{id}/lines/{line_id}/explanation', () => {
  test('200: the account that was written with the row, as JSON and as text', async () => {
    const { meter, customer, subscription } = await subscribed();
    await oracle.use(meter, customer, '2026-11-10T00:00:00.000Z', '70');
    const draft = (await api.post('/v1/invoices', draftBody(customer, subscription))).body;
    const path = `/v1/invoices/${draft.id}/lines/${draft.line_items[2].id}/explanation`;
    const { status, body } = await api.get(path);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      invoice_id: draft.id,
      explanation: {
        quantity: '70',
        amount: '1.4',
        steps: [
          { step: 'usage', quantity: '70', event_count: 1 },
          { step: 'rate' },
          { step: 'rounding', amount: '1.4' },
        ],
      },
      usage_queries: [
        {
          start: START,
          end: END,
          external_customer_ids: [customer.external_id],
          aggregation: 'SUM',
        },
      ],
      usage_snapshot: draft.usage_snapshot,
    });
    const text = await api.get(`${path}.txt`);
    expect(text.headers['content-type']).toContain('text/plain');
    expect(text.body).toContain('Calls');
    expect(text.body).toContain('1.4');
  });
});
