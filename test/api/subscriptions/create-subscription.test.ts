import { startTestApi, TEST_NOW, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const START = '2026-11-01T00:00:00.000Z';
const END = '2026-12-01T00:00:00.000Z';
const post = (body: object) => api.post('/v1/subscriptions', body);

async function sold(more: object = {}) {
  const plan = await catalog.plan('Starter');
  const meter = await catalog.meter();
  const base = await catalog.fixed(plan, '120', { display_name: 'Base' });
  const calls = await catalog.usage(plan, meter, { display_name: 'Calls' });
  const customer = await catalog.customer(more);
  const body = (fields: object = {}) => ({
    customer_id: customer.id,
    plan_id: plan.id,
    currency: 'usd',
    billing_period: 'MONTHLY',
    start_date: START,
    ...fields,
  });
  return { plan, meter, base, calls, customer, body };
}
const lines = (subscription: any) =>
  subscription.line_items.map((line: any) => [line.display_name, line.price_type, line.quantity]);
const rows = (invoice: any) =>
  invoice.line_items.map((line: any) => [
    line.display_name,
    line.amount,
    line.period_start.slice(0, 10),
    line.period_end.slice(0, 10),
  ]);

describe('201', () => {
  test('an addon from a "now" of a moment ago begins with a subscription that begins now', async () => {
    const { body } = await sold();
    const { body: addon } = await api.post('/v1/addons', { name: 'A', lookup_key: 'begins-now' });
    await catalog.fixed(addon, '5', { entity_type: 'ADDON' });
    const from = (start_date: string) =>
      post(body({ start_date: undefined, addons: [{ addon_id: addon.id, start_date }] }));
    const before = (ms: number) => new Date(Date.parse(TEST_NOW) - ms).toISOString();
    const { status, body: created } = await from(before(2_000));
    expect(status).toBe(201);
    const path = `/v1/subscriptions/${created.id}/addons/associations`;
    const [association] = (await api.get(path)).body.items;
    expect(association.start_date).toBe(created.start_date);
    const refused = await from(before(120_000));
    expect([refused.status, refused.body.details[0].path]).toEqual([400, 'addons[0].start_date']);
  });

  test('fixed prices of the plan come before its usage prices, each kind in order of creation', async () => {
    const plan = await catalog.plan();
    const names = ['Usage 1', 'Fee 1', 'Usage 2', 'Fee 2'];
    for (const display_name of names)
      await (display_name.startsWith('Fee')
        ? catalog.fixed(plan, '1', { display_name })
        : catalog.usage(plan, await catalog.meter(), { display_name }));
    const subscription = await catalog.subscribe(await catalog.customer(), plan);
    const { body } = await api.get(`/v1/subscriptions/${subscription.id}`);
    expect(lines(body).map(([name]: string[]) => name)).toEqual([
      'Fee 1',
      'Fee 2',
      'Usage 1',
      'Usage 2',
    ]);
  });

  test('lines of the plan in its order, defaults, and the opening invoice issued at once', async () => {
    const { body, customer, plan, base } = await sold();
    const { status, body: created } = await post(body({ lookup_key: 'k', metadata: { a: 'b' } }));
    expect(status).toBe(201);
    expect(created).toMatchObject({
      customer_id: customer.id,
      plan_id: plan.id,
      subscription_status: 'active',
      subscription_type: 'standalone',
      billing_cadence: 'RECURRING',
      billing_cycle: 'anniversary',
      billing_period_count: 1,
      billing_anchor: START,
      start_date: START,
      end_date: null,
      current_period_start: START,
      current_period_end: END,
      collection_method: 'charge_automatically',
      payment_behavior: 'default_active',
      proration_behavior: 'none',
      line_item_grouping: 'per_charge_period',
      overage_factor: '1',
      enable_true_up: false,
      customer_timezone: 'UTC',
      timezone: 'UTC',
      pause_status: 'none',
      version: 1,
      lookup_key: 'k',
      metadata: { a: 'b' },
      plan: null,
      customer: null,
    });
    expect(lines(created)).toEqual([
      ['Base', 'FIXED', '1'],
      ['Calls', 'USAGE', '0'],
    ]);
    expect(created.line_items[0]).toMatchObject({
      entity_type: 'plan',
      entity_id: plan.id,
      plan_display_name: 'Starter',
      price_id: base.id,
      price: null,
      start_date: START,
      end_date: null,
    });
    expect(created.line_items[1]).toMatchObject({ meter_display_name: 'Calls' });
    expect(created.latest_invoice).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'PENDING',
      billing_reason: 'SUBSCRIPTION_CREATE',
      billing_sequence: 1,
      version: 4,
      total: '120',
      amount_remaining: '120',
      finalized_at: TEST_NOW,
    });
    expect(rows(created.latest_invoice)).toEqual([['Base', '120', '2026-11-01', '2026-12-01']]);
  });

  test('GET answers it with plan, customer and prices; search with the requested records', async () => {
    const { body, customer, plan, base } = await sold();
    const { id } = (await post(body())).body;
    const read = (await api.get(`/v1/subscriptions/${id}`)).body;
    expect(read).toMatchObject({
      customer: { id: customer.id },
      plan: { id: plan.id, prices: [{ type: 'USAGE', meter: { name: 'Calls' } }, { id: base.id }] },
      line_items: [{ price: { id: base.id, amount: '120' } }, { price: { type: 'USAGE' } }],
      latest_invoice: { billing_sequence: 1 },
    });
    const found = await api.post('/v1/subscriptions/search', { customer_id: customer.id });
    expect(found.body).toMatchObject({
      items: [{ id, line_items: null, plan: { id: plan.id }, customer: null }],
      pagination: { total: 1, limit: 50, offset: 50 },
    });
    const wide = await api.post('/v1/subscriptions/search', {
      external_customer_id: customer.external_id,
      expand: 'plan,customer,prices',
      with_line_items: true,
    });
    expect(wide.body.items[0]).toMatchObject({
      plan: { id: plan.id },
      customer: { id: customer.id },
      line_items: [{ price: { id: base.id } }, {}],
    });
    const listed = await api.get(`/v1/subscriptions?plan_id=${plan.id}&limit=1`);
    expect(listed.body.items).toHaveLength(1);
  });

  test('search shows active ones unless another status is named', async () => {
    const { body, customer } = await sold();
    await post(body({ payment_behavior: 'default_incomplete' }));
    const search = (more: object) =>
      api.post('/v1/subscriptions/search', { customer_id: customer.id, ...more });
    expect((await search({})).body.items).toHaveLength(0);
    expect((await search({ subscription_status: ['incomplete'] })).body.items).toHaveLength(1);
    expect(await search({ subscription_status: ['asleep'] })).toMatchObject({ status: 400 });
    expect(await search({ sort: [{ field: 'mood' }] })).toMatchObject({ status: 400 });
    expect(await search({ expand: 'phases' })).toMatchObject({ status: 400 });
  });

  test('the customer by external id; both references when they agree', async () => {
    const { body, customer } = await sold();
    const by = (fields: object) => post(body({ customer_id: undefined, ...fields }));
    expect(await by({ external_customer_id: customer.external_id })).toMatchObject({
      status: 201,
      body: { customer_id: customer.id },
    });
    expect(await post(body({ external_customer_id: customer.external_id }))).toMatchObject({
      status: 201,
    });
    expect(await post(body({ external_customer_id: 'somebody else' }))).toMatchObject({
      status: 400,
    });
  });

  test('usage alone: no opening invoice', async () => {
    const plan = await catalog.plan();
    await catalog.usage(plan, await catalog.meter());
    const created = await catalog.subscribe(await catalog.customer(), plan);
    expect(created).toMatchObject({ subscription_status: 'active', latest_invoice: null });
  });

  test.each`
    cycle            | period       | count | zone                  | start                         | periodEnd                     | anchor
    ${'calendar'}    | ${'MONTHLY'} | ${1}  | ${'UTC'}              | ${'2026-11-10T00:00:00.000Z'} | ${'2026-12-01T00:00:00.000Z'} | ${'2026-12-01T00:00:00.000Z'}
    ${'calendar'}    | ${'MONTHLY'} | ${1}  | ${'Asia/Kolkata'}     | ${'2026-10-31T18:30:00.000Z'} | ${'2026-11-30T18:30:00.000Z'} | ${'2026-10-31T18:30:00.000Z'}
    ${'calendar'}    | ${'MONTHLY'} | ${1}  | ${'America/New_York'} | ${'2026-11-10T00:00:00.000Z'} | ${'2026-12-01T05:00:00.000Z'} | ${'2026-12-01T05:00:00.000Z'}
    ${'anniversary'} | ${'MONTHLY'} | ${1}  | ${'UTC'}              | ${'2026-10-31T09:30:00.000Z'} | ${'2026-11-30T09:30:00.000Z'} | ${'2026-10-31T09:30:00.000Z'}
  `(
    '$cycle $period x$count in $zone from $start: first period to $periodEnd',
    async ({ cycle, zone, start, periodEnd, anchor }) => {
      const { body } = await sold({ timezone: zone });
      const created = (await post(body({ billing_cycle: cycle, start_date: start }))).body;
      expect(created).toMatchObject({
        customer_timezone: zone,
        billing_anchor: anchor,
        current_period_start: start,
        current_period_end: periodEnd,
      });
    },
  );

  test('the zone of the request wins over the customer, under both names', async () => {
    const { body } = await sold({ timezone: 'Asia/Kolkata' });
    expect((await post(body({ customer_timezone: 'Europe/Berlin' }))).body.timezone).toBe(
      'Europe/Berlin',
    );
    expect((await post(body({ timezone: 'Europe/Berlin' }))).body.customer_timezone).toBe(
      'Europe/Berlin',
    );
  });

  test('a stub is charged in full, or by its days with prorations', async () => {
    const { body } = await sold();
    const stub = { billing_cycle: 'calendar', start_date: '2026-11-21T00:00:00.000Z' };
    const whole = (await post(body(stub))).body;
    const prorated = (await post(body({ ...stub, proration_behavior: 'create_prorations' }))).body;
    expect(whole.latest_invoice.total).toBe('120');
    expect(prorated.latest_invoice.total).toBe('40');
  });

  test('a shorter price has to be named; its cells are rows of their own, or one row', async () => {
    const { body, base, calls, plan } = await sold();
    const quarter = await catalog.fixed(plan, '200', {
      billing_period: 'QUARTERLY',
      display_name: 'Quarter',
    });
    const quarterly = (more: object) => post(body({ billing_period: 'QUARTERLY', ...more }));
    expect(lines((await quarterly({})).body)).toEqual([['Quarter', 'FIXED', '1']]);
    const include_price_ids = [base.id, calls.id, quarter.id];
    const cells = (await quarterly({ include_price_ids })).body;
    expect(cells.include_price_ids).toEqual(include_price_ids);
    expect(rows(cells.latest_invoice)).toEqual([
      ['Base', '120', '2026-11-01', '2026-12-01'],
      ['Base', '120', '2026-12-01', '2027-01-01'],
      ['Base', '120', '2027-01-01', '2027-02-01'],
      ['Quarter', '200', '2026-11-01', '2027-02-01'],
    ]);
    const grouped = await quarterly({
      include_price_ids,
      line_item_grouping: 'per_billing_period',
    });
    expect(rows(grouped.body.latest_invoice)).toEqual([
      ['Base', '360', '2026-11-01', '2027-02-01'],
      ['Quarter', '200', '2026-11-01', '2027-02-01'],
    ]);
  });

  test('an empty selection takes no price of the plan; lines of its own are added', async () => {
    const { body, base } = await sold();
    const created = (
      await post(
        body({
          include_price_ids: [],
          line_items: [
            { price_id: base.id, quantity: 2.5, display_name: 'Seats', metadata: { x: 'y' } },
          ],
        }),
      )
    ).body;
    expect(lines(created)).toEqual([['Seats', 'FIXED', '2.5']]);
    expect(created.line_items[0].metadata).toEqual({ x: 'y' });
    expect(created.latest_invoice.total).toBe('300');
  });

  test('overridden terms are a price of the subscription, in the lineage of the plan price', async () => {
    const { body, base, calls } = await sold();
    const created = (
      await post(
        body({
          override_line_items: [
            { price_id: base.id, amount: '99.5', quantity: '2' },
            {
              price_id: calls.id,
              billing_model: 'TIERED',
              tier_mode: 'SLAB',
              tiers: [
                { up_to: 10, unit_amount: '1' },
                { up_to: null, unit_amount: '0.5' },
              ],
            },
          ],
        }),
      )
    ).body;
    expect(lines(created)).toEqual([
      ['Base', 'FIXED', '2'],
      ['Calls', 'USAGE', '0'],
    ]);
    expect(created.latest_invoice.total).toBe('199');
    const read = (await api.get(`/v1/subscriptions/${created.id}`)).body;
    expect(read.line_items[0].price).toMatchObject({
      entity_type: 'SUBSCRIPTION',
      entity_id: created.id,
      parent_price_id: base.id,
      amount: '99.5',
    });
    expect(read.line_items[1].price).toMatchObject({
      billing_model: 'TIERED',
      parent_price_id: calls.id,
    });
    expect(read.line_items[1].price_id).not.toBe(calls.id);
  });

  test("only another quantity: a price of the subscription with the plan's terms; 0 is a quantity", async () => {
    const { body, base } = await sold();
    const created = (
      await post(body({ override_line_items: [{ price_id: base.id, quantity: 0 }] }))
    ).body;
    expect(created.line_items[0].quantity).toBe('0');
    expect(created.latest_invoice).toMatchObject({ invoice_status: 'SKIPPED', total: '0' });
    const [line] = (await api.get(`/v1/subscriptions/${created.id}`)).body.line_items;
    expect(line.price).toMatchObject({
      entity_type: 'SUBSCRIPTION',
      parent_price_id: base.id,
      amount: '120',
    });
  });

  test('a price of its own: in the currency of the subscription, of the subscription', async () => {
    const { meter, customer } = await sold();
    const fee = {
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      invoice_cadence: 'ADVANCE',
      price_unit_type: 'FIAT',
      amount: '7.5',
      display_name: 'Extra',
    };
    const calls = {
      ...fee,
      type: 'USAGE',
      invoice_cadence: 'ARREAR',
      meter_id: meter.id,
      filter_values: { region: ['eu'] },
      display_name: 'EU calls',
    };
    const plan = await catalog.plan();
    const base = await catalog.fixed(plan, '1');
    const created = await catalog.subscribe(customer, plan, {
      start_date: START,
      line_items: [{ price: fee, quantity: 2 }, { price: calls }, { price_id: base.id }],
    });
    expect(created.latest_invoice.total).toBe('17');
    const read = (await api.get(`/v1/subscriptions/${created.id}`)).body;
    expect(read.line_items).toMatchObject([
      {},
      {
        display_name: 'Extra',
        entity_type: 'subscription',
        quantity: '2',
        price: { entity_type: 'SUBSCRIPTION', entity_id: created.id, currency: 'usd' },
      },
      { display_name: 'EU calls', price: { filter_values: { region: ['eu'] } } },
      { price_id: base.id },
    ]);
    const refused = (line: object) =>
      api
        .post('/v1/subscriptions', {
          customer_id: customer.id,
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          line_items: [line],
        })
        .then(({ status, body }) => [status, body.details?.[0]?.path]);
    expect(await refused({})).toEqual([400, 'line_items[0].price_id']);
    expect(await refused({ price: fee, price_id: base.id })).toEqual([
      400,
      'line_items[0].price_id',
    ]);
    expect(await refused({ price: { ...fee, amount: '-1' } })).toEqual([
      400,
      'line_items[0].price.amount',
    ]);
    expect(await refused({ price: { ...fee, billing_period: 'DAILY' } })).toEqual([
      400,
      'line_items[0].price',
    ]);
    expect(await refused({ price: { ...calls, meter_id: 'meter_none' } })).toEqual([
      404,
      'line_items[0].price',
    ]);
  });

  test('a deleted price is not sold, also when the subscription begins before its end', async () => {
    const { body, plan, meter, calls } = await sold();
    await catalog
      .usage(plan, meter, { display_name: 'New calls', filter_values: {} })
      .catch(() => {});
    await api.delete(`/v1/prices/${calls.id}`, {});
    const { status, body: created } = await post(body());
    expect(status).toBe(201);
    expect(lines(created).map(([name]: string[]) => name)).toEqual(['Base', 'New calls']);
  });

  test('a price version that ends rates until then, the next one from there', async () => {
    const { body, base } = await sold();
    api.clock.advance(1000);
    await api.put(`/v1/prices/${base.id}`, {
      amount: '150',
      effective_from: '2026-11-16T00:00:00.000Z',
    });
    const created = (await post(body({ proration_behavior: 'create_prorations' }))).body;
    expect(rows(created.latest_invoice)).toEqual([
      ['Base', '60', '2026-11-01', '2026-11-16'],
      ['Base', '75', '2026-11-16', '2026-12-01'],
    ]);
    api.clock.set(TEST_NOW);
  });

  test('one-time fees: in advance on the opening invoice, once', async () => {
    const { body, plan } = await sold();
    await catalog.fixed(plan, '500', { billing_period: 'ONETIME', display_name: 'Setup' });
    const created = (await post(body())).body;
    expect(rows(created.latest_invoice)).toEqual([
      ['Base', '120', '2026-11-01', '2026-12-01'],
      ['Setup', '500', '2026-11-01', '2026-11-01'],
    ]);
    expect(created.latest_invoice.line_items[1]).toMatchObject({
      period_start: '2026-11-01T00:00:00.000Z',
      period_end: '2026-11-01T00:00:01.000Z',
    });
    const preview = await api.post('/v1/invoices/preview', {
      subscription_id: created.id, period_start: END, period_end: '2027-01-01T00:00:00Z',
      hide_zero_charges_line_items: true,
    }); // prettier-ignore
    // Its meter is still being backfilled: a preview counts the events, of which there are none.
    expect(preview.status).toBe(200);
    expect(rows(preview.body)).toEqual([['Base', '120', '2027-01-01', '2027-02-01']]);
  });

  test.each`
    behavior                | collection                | status
    ${'default_active'}     | ${'charge_automatically'} | ${'active'}
    ${'default_active'}     | ${'send_invoice'}         | ${'active'}
    ${'allow_incomplete'}   | ${'charge_automatically'} | ${'incomplete'}
    ${'default_incomplete'} | ${'charge_automatically'} | ${'incomplete'}
    ${'default_incomplete'} | ${'send_invoice'}         | ${'incomplete'}
  `(
    '$behavior with $collection and an unpaid first invoice: $status',
    async ({ behavior, collection, status }) => {
      const { body } = await sold();
      const created = await post(
        body({ payment_behavior: behavior, collection_method: collection }),
      );
      expect(created.body).toMatchObject({
        subscription_status: status,
        latest_invoice: { invoice_status: 'FINALIZED' },
      });
    },
  );

  test('the requested status active means no trial, even if the prices have one', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10', { trial_period: 7 });
    const trialing = await catalog.subscribe(await catalog.customer(), plan);
    expect(trialing).toMatchObject({ subscription_status: 'trialing', trial_start: TEST_NOW });
    expect(trialing.latest_invoice).toMatchObject({
      billing_reason: 'SUBSCRIPTION_TRIAL_START',
      invoice_status: 'FINALIZED',
      payment_status: 'SUCCEEDED',
      total: '0',
      paid_at: TEST_NOW,
    });
    const active = await catalog.subscribe(await catalog.customer(), plan, {
      subscription_status: 'active',
    });
    expect(active).toMatchObject({ subscription_status: 'active', trial_end: null });
    const none = await catalog.subscribe(await catalog.customer(), plan, { trial_period_days: 0 });
    expect(none.subscription_status).toBe('active');
  });

  test('the same request with the same Idempotency-Key makes one subscription', async () => {
    const { body, customer } = await sold();
    const headers = { 'idempotency-key': `key-${customer.id}` };
    const first = await api.post('/v1/subscriptions', body(), headers);
    expect(await api.post('/v1/subscriptions', body(), headers)).toMatchObject({
      status: 201,
      body: first.body,
    });
    const found = await api.post('/v1/subscriptions/search', { customer_id: customer.id });
    expect(found.body.items).toHaveLength(1);
  });

  test('numbers have no gap and are given once, however many are made at once', async () => {
    const { body } = await sold();
    const answers = await Promise.all(Array.from({ length: 12 }, () => post(body())));
    const numbers = await api.pool<{ n: number }[]>`
      select right(invoice_number, 5)::int as n from invoices where invoice_number is not null order by 1`;
    expect(answers.map(({ status }) => status)).toEqual(Array(12).fill(201));
    expect(numbers.map(({ n }) => n)).toEqual(numbers.map((_, index) => index + 1));
  });
});

describe('400', () => {
  test.each`
    name                           | more                                                                             | path
    ${'no plan'}                   | ${{ plan_id: undefined }}                                                        | ${'plan_id'}
    ${'no customer'}               | ${{ customer_id: undefined }}                                                    | ${'customer_id'}
    ${'no period'}                 | ${{ billing_period: undefined }}                                                 | ${'billing_period'}
    ${'no currency'}               | ${{ currency: undefined }}                                                       | ${'currency'}
    ${'an unknown period'}         | ${{ billing_period: 'FORTNIGHTLY' }}                                             | ${'billing_period'}
    ${'a one-time period'}         | ${{ billing_period: 'ONETIME' }}                                                 | ${'billing_period'}
    ${'an unknown cycle'}          | ${{ billing_cycle: 'lunar' }}                                                    | ${'billing_cycle'}
    ${'a negative count'}          | ${{ billing_period_count: -1 }}                                                  | ${'billing_period_count'}
    ${'a currency of two letters'} | ${{ currency: 'us' }}                                                            | ${'currency'}
    ${'no price of the currency'}  | ${{ currency: 'eur' }}                                                           | ${'plan_id'}
    ${'no price of the period'}    | ${{ billing_period: 'ANNUAL' }}                                                  | ${'plan_id'}
    ${'an end before the start'}   | ${{ end_date: '2026-05-01T00:00:00Z' }}                                          | ${'end_date'}
    ${'a start too far away'}      | ${{ start_date: '3000-01-01T00:00:00Z' }}                                        | ${'start_date'}
    ${'an unknown zone'}           | ${{ customer_timezone: 'Mars/Olympus' }}                                         | ${'customer_timezone'}
    ${'two zones'}                 | ${{ customer_timezone: 'Europe/Berlin', timezone: 'UTC' }}                       | ${'customer_timezone'}
    ${'two trials'}                | ${{ trial_period: 3, trial_period_days: 4 }}                                     | ${'trial_period'}
    ${'a negative trial'}          | ${{ trial_period_days: -1 }}                                                     | ${'trial_period_days'}
    ${'an anchor with calendar'}   | ${{ billing_cycle: 'calendar', billing_anchor: '2026-11-15T00:00:00Z' }}         | ${'billing_anchor'}
    ${'terms that are none'}       | ${{ payment_terms: 'soon' }}                                                     | ${'payment_terms'}
    ${'a pair that cannot be'}     | ${{ collection_method: 'send_invoice', payment_behavior: 'allow_incomplete' }}   | ${'payment_behavior'}
    ${'an unknown behavior'}       | ${{ payment_behavior: 'hope' }}                                                  | ${'payment_behavior'}
    ${'an unknown proration'}      | ${{ proration_behavior: 'maybe' }}                                               | ${'proration_behavior'}
    ${'an override of no price'}   | ${{ override_line_items: [{ price_id: 'price_0', amount: '1' }] }}               | ${'override_line_items[0].price_id'}
    ${'a selection of no price'}   | ${{ include_price_ids: ['price_0'] }}                                            | ${'include_price_ids[0]'}
    ${'a commitment'}              | ${{ commitment_amount: '10', commitment_duration: 'DAILY' }}                     | ${'commitment_duration'}
    ${'a factor'}                  | ${{ overage_factor: '1.5' }}                                                     | ${'overage_factor'}
    ${'addons'}                    | ${{ addons: [{ addon_id: '' }] }}                                                | ${'addons[0].addon_id'}
    ${'grants'}                    | ${{ credit_grants: {} }}                                                         | ${'credit_grants'}
    ${'two parents'}               | ${{ parent_subscription_id: 'a', inheritance: { parent_subscription_id: 'b' } }} | ${'parent_subscription_id'}
    ${'a tax without a currency'}  | ${{ tax_rate_overrides: [{ tax_rate_code: 'x' }] }}                              | ${'tax_rate_overrides[0].currency'}
    ${'a checkout'}                | ${{ checkout: { payment_provider: 'razorpay' } }}                                | ${'checkout.payment_provider'}
    ${'a status that follows'}     | ${{ subscription_status: 'paused' }}                                             | ${'subscription_status'}
    ${'a status with a checkout'}  | ${{ subscription_status: 'draft', checkout: { payment_provider: 'test' } }}      | ${'subscription_status'}
  `('$name', async ({ more, path }) => {
    const { body } = await sold();
    const answer = await post(body(more));
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_error' } });
    expect(answer.body.details[0].path).toBe(path);
  });

  test('but the latest start and the longest trial go together', async () => {
    const { body } = await sold();
    const { status, body: subscription } = await post(
      body({ start_date: '2999-12-31T23:59:59Z', end_date: null, trial_period_days: 3650 }),
    );
    expect(status).toBe(201);
    expect(subscription.trial_end).toBe('3009-12-29T23:59:59.000Z');
  });

  test('fields that are not offered may be sent empty', async () => {
    const { body } = await sold();
    const empty = {
      coupons: [],
      phases: null,
      inheritance: {},
      enable_true_up: false,
      commitment_amount: '',
    };
    expect(await post(body(empty))).toMatchObject({ status: 201 });
  });

  test('a grant may repeat the plan of its subscription, and names no other record (api 33)', async () => {
    const { plan, body } = await sold();
    const posted = (more: object) =>
      post(
        body({
          credit_grants: [
            {
              ...{ name: 'Welcome', credits: '5', cadence: 'ONETIME', scope: 'SUBSCRIPTION' },
              ...{ expiration_type: 'NEVER', ...more },
            },
          ],
        }),
      );
    expect((await posted({ plan_id: plan.id, subscription_id: '' })).status).toBe(201);
    for (const more of [{ plan_id: 'plan_x' }, { subscription_id: 'subs_x' }]) {
      const { status, body: refusal } = await posted(more);
      const path = `credit_grants[0].${Object.keys(more)[0]}`;
      expect([status, refusal.details[0].path]).toEqual([400, path]);
    }
  });

  test('contradictory overrides and lines, each under its path', async () => {
    const { body, base, calls, meter, plan } = await sold();
    const paths = async (fields: object) => {
      const { status, body: answer } = await post(body(fields));
      return [status, answer.details[0].path];
    };
    const override = (...list: object[]) => paths({ override_line_items: list });
    const once = { price_id: base.id, amount: '1' };
    expect(await override(once, once)).toEqual([400, 'override_line_items[1].price_id']);
    expect(await override({ price_id: base.id, quantity: '-1' })).toEqual([
      400,
      'override_line_items[0].quantity',
    ]);
    expect(await override({ price_id: calls.id, quantity: '1' })).toEqual([
      400,
      'override_line_items[0].quantity',
    ]);
    const tiered = await override({ price_id: base.id, billing_model: 'TIERED' });
    expect(tiered[1]).toMatch(/^override_line_items\[0\]\.tier/);
    const annual = await catalog.fixed(plan, '1', { billing_period: 'ANNUAL' });
    expect(await paths({ line_items: [{ price_id: annual.id }] })).toEqual([
      400,
      'line_items[0].price_id',
    ]);
    expect(
      await paths({ line_items: [{ price_id: base.id, start_date: '2026-01-01T00:00:00Z' }] }),
    ).toEqual([400, 'line_items[0].start_date']);
    expect(await paths({ line_items: [{ price_id: calls.id }] })).toEqual([400, 'line_items']);
    await catalog.usage(plan, meter, { amount: '5' });
    expect(await paths({})).toEqual([400, 'line_items']);
  });

  test('error_if_incomplete without a way to pay: nothing is created, no number is used', async () => {
    const { body, customer } = await sold();
    const sequence = () => api.pool`select * from invoice_number_sequences order by bucket`;
    const before = await sequence();
    expect(await post(body({ payment_behavior: 'error_if_incomplete' }))).toMatchObject({
      status: 400,
      body: { code: 'invalid_operation' },
    });
    expect(await sequence()).toEqual(before);
    const found = await api.post('/v1/subscriptions/search', {
      customer_id: customer.id,
      subscription_status: ['incomplete', 'active'],
    });
    expect(found.body.items).toEqual([]);
  });
});

describe('404', () => {
  test('an unknown plan, customer or price; those of another environment', async () => {
    const { body, plan, customer } = await sold();
    expect(await post(body({ plan_id: 'plan_0' }))).toMatchObject({ status: 404 });
    expect(await post(body({ customer_id: 'cust_0' }))).toMatchObject({ status: 404 });
    expect(await post(body({ line_items: [{ price_id: 'price_0' }] }))).toMatchObject({
      status: 404,
    });
    const stranger = await api.newCaller();
    expect(await stranger.post('/v1/subscriptions', body())).toMatchObject({ status: 404 });
    const theirs = await catalogOf(stranger).customer();
    expect(
      await stranger.post('/v1/subscriptions', body({ customer_id: theirs.id })),
    ).toMatchObject({ status: 404 });
    expect(plan.id).not.toBe(customer.id);
  });
});
