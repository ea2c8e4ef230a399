import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const FAR = '2099-02-01T00:00:00.000Z';
const row = (display_name: string, amount: string, more: object = {}) => ({
  display_name,
  amount,
  quantity: '1',
  ...more,
});
const body = (customer: { id: string }, more: object = {}) => ({
  customer_id: customer.id,
  invoice_type: 'ONE_OFF',
  currency: 'usd',
  line_items: [row('A', '60'), row('B', '40')],
  ...more,
});
const create = async (more: object = {}) => {
  const customer = await catalog.customer();
  return await api.post('/v1/invoices', body(customer, more));
};
const coupon = async (terms: object) =>
  (await api.post('/v1/coupons', { name: 'C', cadence: 'once', ...terms })).body;
const percent = (percentage_off: string, more: object = {}) =>
  coupon({ type: 'percentage', percentage_off, ...more });
let rates = 0;
const taxRate = async (percentage_value = '21') =>
  (
    await api.post('/v1/taxes/rates', {
      name: 'VAT', code: `vat_${(rates += 1)}`, percentage_value, tax_rate_type: 'percentage',
    })
  ).body; // prettier-ignore
const events = (invoice: { id: string }) =>
  api.pool<{ event_type: string; payload: any }[]>`
    select event_type, payload from outbox where entity_id = ${invoice.id} order by sequence`;
const discounts = (invoice: any) =>
  invoice.line_items.map((line: any) => [line.line_item_discount, line.invoice_level_discount]);

describe('POST /invoices with rows of the caller', () => {
  test.each(['ONE_OFF', 'CREDIT'])(
    '201: %s is issued at once, with a number and every field',
    async (invoice_type) => {
      const { status, body: invoice } = await create({
        invoice_type,
        line_items: [
          row('Setup', '100.5', { quantity: '2', metadata: { sku: 's1' } }),
          row('Support', '50.25', {
            period_start: '2026-01-01T00:00:00Z',
            period_end: '2026-02-01T00:00:00Z',
          }),
        ],
        subtotal: '150.75',
        total: '150.75',
        amount_due: '150.75',
        description: 'Work',
        metadata: { po: '7' },
        due_date: FAR,
        issue_date: '2026-11-20T00:00:00Z',
        period_start: '2026-01-01T00:00:00Z',
        period_end: '2026-02-01T00:00:00Z',
        billing_reason: 'MANUAL',
        invoice_pdf_url: 'https://files.test/i.pdf',
      });
      expect(status).toBe(201);
      expect(invoice).toMatchObject({
        invoice_type,
        invoice_status: 'FINALIZED',
        payment_status: 'PENDING',
        invoice_number: expect.stringMatching(/^INV-202611-\d{5}$/),
        billing_sequence: null,
        billing_period: '',
        version: 2,
        billing_reason: 'MANUAL',
        subtotal: '150.75',
        total: '150.75',
        amount_remaining: '150.75',
        description: 'Work',
        metadata: { po: '7' },
        due_date: FAR,
        issue_date: '2026-11-20T00:00:00.000Z',
        period_start: '2026-01-01T00:00:00.000Z',
        invoice_pdf_url: 'https://files.test/i.pdf',
        line_items: [
          {
            display_name: 'Setup',
            quantity: '2',
            amount: '100.5',
            metadata: { sku: 's1' },
            entity_type: '',
            price_type: '',
          },
          { display_name: 'Support', amount: '50.25', period_end: '2026-02-01T00:00:00.000Z' },
        ],
      });
      expect((await events(invoice)).map(({ event_type }) => event_type)).toEqual([
        'invoice.update.finalized',
      ]);
    },
  );

  test('201: a zero total is paid at once; a row may be negative; an amount alone is one row', async () => {
    expect(await create({ line_items: [row('Free', '0')] })).toMatchObject({
      status: 201,
      body: { total: '0', payment_status: 'SUCCEEDED', paid_at: expect.any(String) },
    });
    expect(
      await create({ line_items: [row('A', '10'), row('Goodwill', '-4')], total: '6' }),
    ).toMatchObject({ status: 201, body: { subtotal: '6', total: '6' } });
    expect(await create({ line_items: undefined, subtotal: '5', total: '5' })).toMatchObject({
      status: 201,
      body: { total: '5', line_items: [{ amount: '5', quantity: '1' }] },
    });
  });

  test('the due date comes from the setting of days when none is sent', async () => {
    const { body: invoice } = await create();
    expect(invoice.due_date).toBe('2026-11-22T12:00:00.000Z');
  });

  test.each`
    name                                      | more                                                                    | path
    ${'no type'}                              | ${{ invoice_type: undefined }}                                          | ${'invoice_type'}
    ${'no currency'}                          | ${{ currency: undefined }}                                              | ${'currency'}
    ${'an unknown currency'}                  | ${{ currency: 'zzz' }}                                                  | ${'currency'}
    ${'no rows and no amount'}                | ${{ line_items: [] }}                                                   | ${'line_items'}
    ${'a negative quantity'}                  | ${{ line_items: [row('A', '5', { quantity: '-1' })] }}                  | ${'line_items[0].quantity'}
    ${'more decimals than the currency'}      | ${{ line_items: [row('A', '5.001')] }}                                  | ${'line_items[0].amount'}
    ${'half a window'}                        | ${{ line_items: [row('A', '5', { period_start: FAR })] }}               | ${'line_items[0].period_end'}
    ${'rows below zero'}                      | ${{ line_items: [row('A', '-5')] }}                                     | ${'line_items'}
    ${'rows that do not sum to the subtotal'} | ${{ subtotal: '99' }}                                                   | ${'subtotal'}
    ${'another total'}                        | ${{ total: '99' }}                                                      | ${'total'}
    ${'another amount due'}                   | ${{ amount_due: '99' }}                                                 | ${'amount_due'}
    ${'text that is no address'}              | ${{ invoice_pdf_url: 'not a url' }}                                     | ${'invoice_pdf_url'}
    ${'due before now'}                       | ${{ due_date: '2020-01-01T00:00:00Z' }}                                 | ${'due_date'}
    ${'a reason of subscriptions'}            | ${{ billing_reason: 'SUBSCRIPTION_CYCLE' }}                             | ${'billing_reason'}
    ${'an unknown coupon'}                    | ${{ coupons: ['coupon_none'] }}                                         | ${'coupons[0]'}
    ${'a coupon of a row that is not there'}  | ${{ line_item_coupons: [{ coupon_id: 'c', line_item_id: 'price_x' }] }} | ${'line_item_coupons[0].line_item_id'}
    ${'an unknown tax code'}                  | ${{ tax_rate_overrides: [{ tax_rate_code: 'none', currency: 'usd' }] }} | ${'tax_rate_overrides[0].tax_rate_code'}
    ${'a tax in another currency'}            | ${{ tax_rate_overrides: [{ tax_rate_code: 'none', currency: 'eur' }] }} | ${'tax_rate_overrides[0].currency'}
    ${'a checkout without its provider'}      | ${{ checkout: {} }}                                                     | ${'checkout.payment_provider'}
  `('400: $name', async ({ more, path }) => {
    const answer = await create(more);
    expect(answer.status).toBe(400);
    expect(answer.body.details[0].path).toBe(path);
  });

  test('404: no such customer, subscription, price or tax rate; nothing is written', async () => {
    const before = await api.pool`select count(*) from invoices`;
    expect(await api.post('/v1/invoices', body({ id: 'cust_none' }))).toMatchObject({
      status: 404,
    });
    for (const more of [
      { subscription_id: 'subs_none' },
      { line_items: [row('A', '5', { price_id: 'price_none' })] },
      { line_items: [row('A', '5', { meter_id: 'meter_none' })] },
      { tax_rates: ['taxrate_none'] },
    ])
      expect(await create(more)).toMatchObject({ status: 404 });
    expect(await api.pool`select count(*) from invoices`).toEqual(before);
  });

  test('an idempotency_key names one invoice: a repeat answers it, another body is 409', async () => {
    const customer = await catalog.customer();
    const asked = body(customer, { idempotency_key: `k-${customer.id}` });
    const first = await api.post('/v1/invoices', asked);
    expect(await api.post('/v1/invoices', asked)).toMatchObject({
      status: 201,
      body: { id: first.body.id },
    });
    const other = { ...asked, description: 'other' };
    expect(await api.post('/v1/invoices', other)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_reused' },
    });
    const [count] = await api.pool`
      select count(*)::int as n from invoices where customer_id = ${customer.id}`;
    expect(count).toEqual({ n: 1 });
  });

  test('one subscription and period can have several one-offs', async () => {
    const plan = await catalog.plan();
    const customer = await catalog.customer();
    await catalog.fixed(plan, '5');
    const subscription = await catalog.subscribe(customer, plan);
    const asked = body(customer, {
      subscription_id: subscription.id,
      period_start: '2026-01-01T00:00:00Z',
      period_end: '2026-02-01T00:00:00Z',
      billing_reason: 'MANUAL',
    });
    for (const _ of [1, 2])
      expect(await api.post('/v1/invoices', asked)).toMatchObject({
        status: 201,
        body: { subscription_id: subscription.id, subscription_customer_id: customer.id },
      });
    const stranger = await catalog.customer();
    expect(await api.post('/v1/invoices', { ...asked, customer_id: stranger.id })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'customer_id' }] },
    });
  });
});

describe('coupons of a one-off invoice (billing 7.3)', () => {
  test('10 % is spread over the rows, and redeemed once', async () => {
    const ten = await percent('10');
    const { body: invoice } = await create({ coupons: [ten.id], subtotal: '100', total: '100' });
    expect(invoice).toMatchObject({ total_discount: '10', total: '90' });
    expect(discounts(invoice)).toEqual([
      ['0', '6'],
      ['0', '4'],
    ]);
    expect(invoice.coupon_applications).toMatchObject([
      {
        coupon_id: ten.id,
        coupon_association_id: null,
        discounted_amount: '10',
        coupon_snapshot: { name: 'C', applied_to: 'invoice' },
      },
    ]);
    const { body: after } = await api.get(`/v1/coupons/${ten.id}`);
    expect(after.total_redemptions).toBe(1);
  });

  test('two coupons apply in the order given; a coupon of a row comes first', async () => {
    const ten = await percent('10');
    const five = await coupon({ type: 'fixed', amount_off: '5', currency: 'usd' });
    expect((await create({ coupons: [ten.id, five.id] })).body.total).toBe('85');
    expect((await create({ coupons: [five.id, ten.id] })).body.total).toBe('85.5');
    expect(
      (await create({ invoice_coupons: [{ coupon_id: ten.id }], total: '90' })).body.total,
    ).toBe('90');

    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '5');
    const { body: invoice } = await create({
      line_items: [row('A', '60', { price_id: price.id }), row('B', '40')],
      line_item_coupons: [{ coupon_id: ten.id, line_item_id: price.id }],
    });
    expect(discounts(invoice)).toEqual([
      ['6', '0'],
      ['0', '0'],
    ]);
  });

  test('a discount stops at the subtotal; a used-up or foreign coupon refuses the invoice', async () => {
    const all = await coupon({ type: 'fixed', amount_off: '500', currency: 'usd' });
    expect((await create({ coupons: [all.id] })).body).toMatchObject({
      total: '0',
      total_discount: '100',
      payment_status: 'SUCCEEDED',
    });
    const last = await percent('10', { max_redemptions: 1 });
    expect((await create({ coupons: [last.id] })).status).toBe(201);
    expect(await create({ coupons: [last.id] })).toMatchObject({
      status: 400,
      body: { details: [{ path: 'coupons[0]', code: 'coupon_redemption_limit_reached' }] },
    });
    const euros = await coupon({ type: 'fixed', amount_off: '5', currency: 'eur' });
    expect(await create({ coupons: [euros.id] })).toMatchObject({ status: 400 });
    const ten = await percent('10');
    expect(await create({ coupons: [ten.id, ten.id] })).toMatchObject({ status: 400 });
    expect((await api.get(`/v1/coupons/${ten.id}`)).body.total_redemptions).toBe(0);
  });
});

describe('taxes of a one-off invoice (billing 8.1)', () => {
  test('by id and by code, after the discount', async () => {
    const vat = await taxRate();
    const ten = await percent('10');
    const { body: invoice } = await create({ coupons: [ten.id], tax_rates: [vat.id] });
    expect(invoice).toMatchObject({
      total_tax: '18.9',
      total: '108.9',
      taxes: [{ tax_rate_id: vat.id, taxable_amount: '90', tax_amount: '18.9' }],
      tax_summary: { exclusive_tax: '18.9', exemption: null },
    });
    const override = { tax_rate_code: vat.code, currency: 'usd', priority: 1, auto_apply: true };
    expect((await create({ tax_rate_overrides: [override] })).body.total).toBe('121');
    expect(await create({ tax_rate_overrides: [override], tax_rates: [vat.id] })).toMatchObject({
      status: 400,
    });
    const included = { ...override, tax_behavior: 'inclusive' };
    expect((await create({ tax_rate_overrides: [included] })).body).toMatchObject({
      total: '100',
      taxes: [{ tax_behavior: 'inclusive', taxable_amount: '82.64', tax_amount: '17.36' }],
      tax_summary: { inclusive_tax: '17.36', exclusive_tax: '0' },
    });
    const never = { ...override, auto_apply: false };
    expect(await create({ tax_rate_overrides: [never] })).toMatchObject({ status: 400 });
  });

  test('the taxes of the customer do not apply; an exempt customer pays none', async () => {
    const vat = await taxRate();
    const tax_rate_overrides = [{ tax_rate_code: vat.code, currency: 'usd', auto_apply: true }];
    const taxed = await catalog.customer({ tax_rate_overrides });
    expect((await api.post('/v1/invoices', body(taxed))).body).toMatchObject({
      total: '100',
      tax_summary: { exemption: { reason_code: 'no_tax_configured' } },
    });
    const exempt = await catalog.customer({ tax_treatment: 'exempt' });
    expect(
      (await api.post('/v1/invoices', body(exempt, { tax_rates: [vat.id] }))).body,
    ).toMatchObject({
      total: '100',
      taxes: [],
      tax_summary: { exemption: { reason_code: 'customer_exempt' } },
    });
  });
});

describe('PUT /invoices/{id}', () => {
  const put = (invoice: { id: string }, change: object) =>
    api.put(`/v1/invoices/${invoice.id}`, change);

  test('200: metadata is replaced, due date and address change, also when final', async () => {
    const { body: invoice } = await create({ metadata: { po: '7', a: 'b' } });
    const change = {
      metadata: { po: '8' },
      due_date: FAR,
      invoice_pdf_url: 'https://files.test/i.pdf',
    };
    expect(await put(invoice, change)).toMatchObject({
      status: 200,
      body: { ...change, invoice_number: invoice.invoice_number, total: '100' },
    });
    expect(await put(invoice, {})).toMatchObject({ status: 200, body: change });
    expect(await put(invoice, { due_date: null, invoice_pdf_url: '' })).toMatchObject({
      status: 200,
      body: { due_date: invoice.due_date, invoice_pdf_url: null, metadata: { po: '8' } },
    });
    expect((await events(invoice)).map(({ event_type }) => event_type)).toEqual([
      'invoice.update.finalized',
      'invoice.update',
      'invoice.update',
      'invoice.update',
    ]);
  });

  test.each`
    name                     | change
    ${'a past due date'}     | ${{ due_date: '2020-01-01T00:00:00Z' }}
    ${'no address'}          | ${{ invoice_pdf_url: 'not a url' }}
    ${'coupons when final'}  | ${{ apply_discount: true }}
    ${'an unknown file url'} | ${{ invoice_pdf_url: 'file:///etc/passwd' }}
  `('400: $name', async ({ change }) => {
    const { body: invoice } = await create();
    expect(await put(invoice, change)).toMatchObject({ status: 400 });
  });

  test('400 when it is void; 404 when it is unknown', async () => {
    const { body: invoice } = await create();
    await api.post(`/v1/invoices/${invoice.id}/void`);
    expect(await put(invoice, { metadata: {} })).toMatchObject({ status: 400 });
    expect(await put({ id: 'inv_none' }, { metadata: {} })).toMatchObject({ status: 404 });
  });

  test('a due date of a draft stays through computing and finalization', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '60', { invoice_cadence: 'ARREAR' });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: '2026-10-01T00:00:00Z',
    });
    const { body: draft } = await api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
      period_start: '2026-10-01T00:00:00Z',
      period_end: '2026-11-01T00:00:00Z',
    });
    await put(draft, { due_date: FAR });
    await api.post(`/v1/invoices/${draft.id}/compute`);
    await api.post(`/v1/invoices/${draft.id}/finalize`);
    expect((await api.get(`/v1/invoices/${draft.id}`)).body).toMatchObject({
      invoice_status: 'FINALIZED',
      due_date: FAR,
    });
  });

  test('apply_discount derives the coupons of a draft again, and its tax', async () => {
    const vat = await taxRate('20');
    const plan = await catalog.plan();
    await catalog.fixed(plan, '64', { invoice_cadence: 'ARREAR' });
    const customer = await catalog.customer({
      tax_rate_overrides: [{ tax_rate_code: vat.code, currency: 'usd', auto_apply: true }],
    });
    const off = await coupon({
      type: 'fixed', amount_off: '8', currency: 'usd', cadence: 'forever',
    }); // prettier-ignore
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: '2026-11-01T00:00:00Z',
      coupons: [off.id],
    });
    const { body: draft } = await api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
      period_start: '2026-11-01T00:00:00Z',
      period_end: '2026-12-01T00:00:00Z',
    });
    expect(draft).toMatchObject({ total_discount: '8', total_tax: '11.2', total: '67.2' });
    await api.pool`update coupon_associations set end_date = '2026-11-01T00:00:00Z'`;
    expect((await put(draft, { metadata: { a: 'b' } })).body.total).toBe('67.2');
    expect((await put(draft, { apply_discount: true })).body).toMatchObject({
      total_discount: '0',
      total_tax: '12.8',
      total: '76.8',
      coupon_applications: [],
      line_items: [{ id: draft.line_items[0].id, invoice_level_discount: '0' }],
    });
  });
});

describe('notifications on request', () => {
  test('comms/trigger and webhook/trigger send the invoice in its current state', async () => {
    const { body: invoice } = await create();
    expect(await api.post(`/v1/invoices/${invoice.id}/comms/trigger`)).toMatchObject({
      status: 200,
      body: { message: expect.any(String) },
    });
    const again = `/v1/invoices/${invoice.id}/webhook/trigger?event_name=`;
    expect(await api.post(`${again}invoice.update.payment`)).toMatchObject({
      status: 200,
      body: { event_name: 'invoice.update.payment' },
    });
    expect(await api.post(`${again}invoice.update`)).toMatchObject({ status: 400 });
    expect(await api.post(`/v1/invoices/${invoice.id}/webhook/trigger`)).toMatchObject({
      status: 400,
    });
    expect(await api.post('/v1/invoices/inv_none/comms/trigger')).toMatchObject({ status: 404 });
    const sent = await events(invoice);
    expect(sent.map(({ event_type }) => event_type)).toEqual([
      'invoice.update.finalized',
      'invoice.communication.triggered',
      'invoice.update.payment',
    ]);
    expect(sent[1]!.payload.invoice).toMatchObject({ id: invoice.id, total: '100' });
  });
});

describe('POST /invoices/one-off/preview', () => {
  const stored = async () => {
    const [counts] = await api.pool`
      select (select count(*) from invoices)::int as invoices, (select count(*) from outbox)::int as events,
             (select sum(total_redemptions) from coupons)::int as redemptions,
             (select sum(credit_balance) from wallets)::text as credits`;
    return counts;
  };
  const terms = async () => {
    const customer = await catalog.customer();
    const wallet = { customer_id: customer.id, currency: 'usd', initial_credits_to_load: '30' };
    await api.postOk('/v1/wallets', wallet);
    const { id } = await percent('20');
    const { code } = await taxRate();
    return body(customer, {
      coupons: [id],
      tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd' }],
      line_items: [row('Calls', '60', { price_type: 'USAGE' }), row('Set-up', '40')],
      description: 'Work',
      metadata: { po: '7' },
    });
  };
  const preview = (sent: object) => api.post('/v1/invoices/one-off/preview', sent);

  test('answers what is then issued, and stores nothing', async () => {
    const sent = await terms();
    const before = await stored();
    const { status, body: shown } = await preview(sent);
    expect([status, await stored()]).toEqual([200, before]);
    expect(shown).toMatchObject({
      ...{ invoice_status: 'DRAFT', invoice_number: null, description: 'Work' },
      ...{ subtotal: '100', total_discount: '20', total: '66.8' },
      metadata: { po: '7', is_preview: 'true' },
      total_prepaid_credits_applied: '30',
      taxes: [{ percentage_value: '21' }],
    });
    expect(shown.customer.id).toBe(sent.customer_id);
    const issued = await api.postOk('/v1/invoices', sent);
    const rows = (invoice: any) =>
      invoice.line_items.map(({ id, created_at, invoice_id, ...row }: any) => row);
    const amounts = (invoice: any) =>
      ['total', 'amount_due', 'amount_remaining', 'total_prepaid_credits_applied', 'due_date'].map(
        (field) => invoice[field],
      );
    expect(amounts(issued)).toEqual(amounts(shown));
    expect(issued.total_prepaid_credits_applied).toBe('30');
    expect(rows(issued)).toHaveLength(2);
    expect(rows(issued).map(amountsOfRow)).toEqual(rows(shown).map(amountsOfRow));
    const next = await create();
    const number = (invoice: any) => Number(invoice.invoice_number.replace(/.*-/, ''));
    expect(number(next.body) - number(issued)).toBe(1);
  });

  test('is refused as the request is', async () => {
    const sent = await terms();
    const wrong = { ...sent, total: '99' };
    const [previewed, requested] = [await preview(wrong), await api.post('/v1/invoices', wrong)];
    expect([previewed.status, previewed.body.details]).toEqual([400, requested.body.details]);
    expect((await preview({ ...sent, customer_id: 'cust_none' })).status).toBe(404);
  });

  test.each([
    ['invoice_type', { invoice_type: 'SUBSCRIPTION' }],
    ['checkout', { checkout: { payment_provider: 'test' } }],
  ])('400: %s has no preview here', async (path, fields) => {
    const answer = await preview({ ...(await terms()), ...fields });
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });
});

const amountsOfRow = ({ display_name, quantity, amount, line_item_discount, ...row }: any) => [
  ...[display_name, quantity, amount, line_item_discount],
  ...[row.invoice_level_discount, row.prepaid_credits_applied],
];
