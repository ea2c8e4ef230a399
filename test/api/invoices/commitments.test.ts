import { Decimal, sum } from '../../../domain/money.ts';
import { startPipeline, type PipelineWorld } from '../../support/pipeline-world.ts';
import { syncPrices } from '../../support/price-sync.ts';

const START = '2026-06-01T00:00:00Z';
const MONTHS = (count: number) => ({
  period_start: START,
  period_end: `2026-${String(6 + count).padStart(2, '0')}-01T00:00:00Z`,
});

/** Commitments of line items: accepted, stored, billed, explained and shared out (billing 6). */
describe('commitments of line items', () => {
  let world: PipelineWorld;
  let count = 0;
  beforeAll(async () => {
    world = await startPipeline();
  });
  afterAll(() => world.close());

  /** A plan with two usage prices, 2 and 3 for a unit, and a fee. */
  const sold = async () => {
    const { catalog } = world;
    const plan = await catalog.plan();
    const names = [`m${(count += 1)}`, `m${(count += 1)}`];
    const meters: { id: string }[] = [];
    const prices: { id: string }[] = [];
    const start = { start_date: '2026-01-01T00:00:00Z' };
    for (const [index, event_name] of names.entries()) {
      const meter = await catalog.meter({ type: 'SUM', field: 'n' }, { event_name });
      meters.push(meter);
      prices.push(await catalog.usage(plan, meter, { amount: String(2 + index), ...start }));
    }
    const fee = await catalog.fixed(plan, '20', { invoice_cadence: 'ARREAR', ...start });
    return { plan, names, meters, x: prices[0]!, y: prices[1]!, fee };
  };
  type Sold = Awaited<ReturnType<typeof sold>>;

  const attempt = async ({ plan }: Sold, fields: object, external_id = `k${(count += 1)}`) => {
    const customer = await world.catalog.customer({ external_id });
    return await world.api.post('/v1/subscriptions', {
      customer_id: customer.id, plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY',
      billing_period_count: 1, billing_cycle: 'anniversary', start_date: START, ...fields,
    }); // prettier-ignore
  };
  const subscribe = async (catalog: Sold, fields: object) => {
    const external_id = `k${(count += 1)}`;
    const { status, body } = await attempt(catalog, fields, external_id);
    expect([status, body.message]).toEqual([201, undefined]);
    return { ...body, external_id };
  };
  const use = async (
    { names }: Sold,
    external_customer_id: string,
    used: readonly (readonly [day: string, meter: number, n: number, properties?: object])[],
  ) => {
    await world.send(
      used.map(([day, meter, n, properties]) => ({
        event_id: `e${(count += 1)}`,
        event_name: names[meter],
        external_customer_id,
        timestamp: `2026-${day}T10:00:00Z`,
        properties: { n, ...properties },
      })),
    );
    await world.settled();
  };
  const preview = async ({ id }: { id: string }, period: object = MONTHS(1)) => {
    const asked = { subscription_id: id, ...period };
    const { status, body } = await world.api.post('/v1/invoices/preview', asked);
    expect([status, body.message]).toEqual([200, undefined]);
    return body;
  };
  const rowsOf = (body: any, price: { id: string }) =>
    body.line_items.filter((line: any) => line.price_id === price.id);
  const parts = ({ amount, commitment_info: info }: any) => [
    amount,
    info.computed_commitment_utilized_amount,
    info.computed_overage_amount,
    info.computed_true_up_amount,
  ];

  const both = ({ x, y }: Sold) => ({
    line_item_commitments: {
      [x.id]: { commitment_amount: '100', overage_factor: '1.2', enable_true_up: true },
      [y.id]: { commitment_quantity: 50, commitment_type: 'quantity', overage_factor: 2 },
    },
  });

  test('a bucket that begins before the first day of a commitment counts in that day (billing 6.2)', async () => {
    const catalog = await sold();
    const price = await world.catalog.usage(catalog.plan, catalog.meters[0]!, {
      ...{ amount: '2', bucket_size: '6HOUR', filter_values: { region: ['eu'] } },
      start_date: '2026-01-01T00:00:00Z',
    });
    const subscription = await subscribe(catalog, {
      start_date: '2026-06-01T09:30:00Z',
      line_item_commitments: {
        [price.id]: { commitment_amount: '5', commitment_duration: 'DAILY', overage_factor: '2' },
      },
    });
    // At 10:00, in the bucket from 6:00 to 12:00: before the day from 9:30 on, and between two days.
    await use(catalog, subscription.external_id, [
      ['06-01', 0, 4, { region: 'eu' }],
      ['06-02', 0, 3, { region: 'eu' }],
    ]);
    const month = { period_start: '2026-06-01T09:30:00Z', period_end: '2026-07-01T09:30:00Z' };
    const [row] = rowsOf(await preview(subscription, month), price);
    // The bucket of 2 June begins in the first day: 8.00 and 6.00 are its usage.
    expect(parts(row)).toEqual(['23', '5', '18', '0']);
  });

  test('their fields may have the names that a line item has', async () => {
    const catalog = await sold();
    const { line_items } = await subscribe(catalog, {
      line_item_commitments: {
        [catalog.x.id]: {
          commitment_amount: '100',
          commitment_overage_factor: '1.2',
          commitment_true_up_enabled: true,
          commitment_windowed: false,
        },
      },
    });
    expect(line_items.find((line: any) => line.price_id === catalog.x.id)).toMatchObject({
      commitment_overage_factor: '1.2',
      commitment_true_up_enabled: true,
      commitment_windowed: false,
    });
  });

  test('the lines have them, and the row has the parts of its amount', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, both(catalog));
    const lineOf = (price: { id: string }) =>
      subscription.line_items.find((line: any) => line.price_id === price.id);
    expect(lineOf(catalog.x)).toMatchObject({
      commitment_amount: '100', commitment_quantity: null, commitment_type: 'amount',
      commitment_duration: null, commitment_overage_factor: '1.2',
      commitment_true_up_enabled: true, commitment_windowed: false,
    }); // prettier-ignore
    expect(lineOf(catalog.y)).toMatchObject({
      commitment_amount: null, commitment_quantity: '50', commitment_type: 'quantity',
      commitment_overage_factor: '2', commitment_true_up_enabled: false,
    }); // prettier-ignore
    expect(lineOf(catalog.fee)).toMatchObject({ commitment_type: null, commitment_amount: null });

    await use(catalog, subscription.external_id, [
      ['06-10', 0, 80],
      ['06-11', 1, 70],
    ]);
    const body = await preview(subscription);
    expect(body.subtotal).toBe('462');
    const [x] = rowsOf(body, catalog.x);
    expect(x).toMatchObject({
      amount: '172',
      quantity: '80',
      commitment_info: {
        type: 'amount', amount: '100', quantity: '0', duration: null, overage_factor: '1.2',
        is_windowed: false, true_up_enabled: true, computed_commitment_utilized_amount: '100',
        computed_overage_amount: '72', computed_true_up_amount: '0',
      },
    }); // prettier-ignore
    const [y] = rowsOf(body, catalog.y);
    expect(parts(y)).toEqual(['270', '150', '120', '0']);
    expect(y.commitment_info).toMatchObject({ type: 'quantity', amount: '150', quantity: '50' });
    expect(rowsOf(body, catalog.fee)).toMatchObject([{ amount: '20', commitment_info: null }]);
  });

  test('below the promise a true-up bills the rest, also without any usage', async () => {
    const catalog = await sold();
    const less = await subscribe(catalog, both(catalog));
    await use(catalog, less.external_id, [
      ['06-10', 0, 10],
      ['06-11', 1, 10],
    ]);
    const body = await preview(less);
    expect(parts(rowsOf(body, catalog.x)[0])).toEqual(['100', '20', '0', '80']);
    expect(parts(rowsOf(body, catalog.y)[0])).toEqual(['30', '30', '0', '0']);
    const idle = await preview(await subscribe(catalog, both(catalog)));
    expect(parts(rowsOf(idle, catalog.x)[0])).toEqual(['100', '0', '0', '100']);
    expect(parts(rowsOf(idle, catalog.y)[0])).toEqual(['0', '0', '0', '0']);
  });

  test('analytics: points share the parts and add up to the row; groups and filters have rated usage only', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, both(catalog));
    await use(catalog, subscription.external_id, [
      ['06-10', 0, 60, { region: 'eu' }],
      ['06-12', 0, 13, { region: 'us' }],
      ['06-20', 0, 7, { region: 'eu' }],
    ]);
    const ask = async (more: object) => {
      const { period_start: start_time, period_end: end_time } = MONTHS(1);
      const { external_id: external_customer_id } = subscription;
      const asked = { external_customer_id, start_time, end_time, ...more };
      const { status, body } = await world.api.post('/v1/events/analytics', asked);
      expect(status).toBe(200);
      return body.items.filter((item: any) => item.price_id === catalog.x.id);
    };
    const [item] = await ask({ window_size: 'DAY' });
    const [row] = rowsOf(await preview(subscription), catalog.x);
    expect([item.subtotal, item.commitment_info]).toEqual(['172', row.commitment_info]);
    const total = (key: string) =>
      sum(item.points.map((point: any) => new Decimal(point[key]))).toFixed();
    expect([
      total('cost'),
      total('computed_commitment_utilized_amount'),
      total('computed_overage_amount'),
      total('computed_true_up_amount'),
    ]).toEqual(parts(row));
    expect(item.points[0]).toMatchObject({
      cost: '129',
      computed_commitment_utilized_amount: '75',
      computed_overage_amount: '54',
    });
    const groups = await ask({ group_by: ['properties.region'] });
    expect(groups.map((group: any) => [group.subtotal, group.commitment_info])).toEqual([
      ['134', null],
      ['26', null],
    ]);
    const filtered = await ask({ property_filters: { region: ['us'] } });
    expect(
      filtered.map((part: any) => [part.total_usage, part.subtotal, part.commitment_info]),
    ).toEqual([['13', '26', null]]);
    // A true-up belongs to the whole line.
    const idle = await subscribe(catalog, both(catalog));
    await use(catalog, idle.external_id, [['06-10', 0, 10, { region: 'eu' }]]);
    const alone = await ask({
      external_customer_id: idle.external_id,
      group_by: ['properties.region'],
    });
    expect(alone.map((group: any) => group.subtotal)).toEqual(['20']);
    const whole = await ask({ external_customer_id: idle.external_id });
    expect(whole.map((line: any) => line.subtotal)).toEqual(['100']);
  });

  test('analytics: lines share the commitment of their subscription; groups and filters do not', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, { commitment_amount: 100, overage_factor: 2 });
    await use(catalog, subscription.external_id, [
      ['06-10', 0, 60, { region: 'eu' }],
      ['06-12', 1, 20, { region: 'us' }],
    ]);
    const ask = async (more: object) => {
      const { period_start: start_time, period_end: end_time } = MONTHS(1);
      const { external_id: external_customer_id } = subscription;
      const asked = { external_customer_id, start_time, end_time, ...more };
      return await world.api.postOk('/v1/events/analytics', asked);
    };
    const costs = (body: any) => body.items.map((item: any) => item.subtotal).sort();
    // 120.00 and 60.00: 100.00 is committed, and 80.00 is doubled.
    const invoice = await preview(subscription);
    const billed = [catalog.x, catalog.y].map((price) =>
      sum(rowsOf(invoice, price).map(({ amount }: any) => new Decimal(amount))).toFixed(),
    );
    expect(billed).toEqual(['173.34', '86.66']);
    const all = await ask({ window_size: 'DAY' });
    expect(costs(all)).toEqual(billed);
    expect(all.total_cost).toBe('260');
    expect(all.items.map(({ points }: any) => points[0].cost).sort()).toEqual(billed);
    const { body: feature } = await world.api.post('/v1/features', {
      ...{ name: 'Other', type: 'metered', lookup_key: `other_${(count += 1)}` },
      meter_id: catalog.meters[1]!.id,
    });
    const one = await ask({ feature_ids: [feature.id] });
    expect([costs(one), one.total_cost, one.items[0].event_count]).toEqual([['86.66'], '86.66', 1]);
    expect(costs(await ask({ group_by: ['properties.region'] }))).toEqual(['120', '60']);
    expect(costs(await ask({ property_filters: { region: ['us'] } }))).toEqual(['60']);
  });

  test('analytics: groups of a line with an allowance and a commitment of each day', async () => {
    const catalog = await sold();
    const { body: feature } = await world.api.post('/v1/features', {
      ...{ name: 'Free', type: 'metered', lookup_key: `free_${(count += 1)}` },
      meter_id: catalog.meters[0]!.id,
    });
    await world.api.postOk('/v1/entitlements', {
      ...{ entity_type: 'PLAN', entity_id: catalog.plan.id, feature_id: feature.id },
      ...{ feature_type: 'metered', usage_limit: 5, is_enabled: true },
    });
    const subscription = await subscribe(catalog, {
      line_item_commitments: {
        [catalog.x.id]: {
          ...{ commitment_amount: '5', commitment_duration: 'DAILY', overage_factor: '2' },
        },
      },
    });
    await use(catalog, subscription.external_id, [
      ['06-10', 0, 4, { region: 'eu' }],
      ['06-12', 0, 8, { region: 'us' }],
    ]);
    const ask = async (more: object) => {
      const { period_start: start_time, period_end: end_time } = MONTHS(1);
      const { external_id: external_customer_id } = subscription;
      const asked = { external_customer_id, start_time, end_time, ...more };
      const { items } = await world.api.postOk('/v1/events/analytics', asked);
      return items.filter((item: any) => item.price_id === catalog.x.id);
    };
    // 5 of 12 are free. With the commitment: 7 units of 2 on the second day, 5.00 committed and 9.00 above it, doubled.
    expect((await ask({})).map((item: any) => item.subtotal)).toEqual(['23']);
    const [row] = rowsOf(await preview(subscription), catalog.x);
    expect(row.amount).toBe('23');
    // Without it: 7 units of 2, shared by the usage of 4 and 8.
    const groups = await ask({ group_by: ['properties.region'] });
    const shares = groups.map((group: any) => new Decimal(group.subtotal).toFixed(2)).sort();
    expect(shares).toEqual(['4.67', '9.33']);
    const [us] = await ask({ property_filters: { region: ['us'] } });
    expect(new Decimal(us.subtotal).toFixed(2)).toBe('9.33');
  });

  test('of a line item of its own, and of an overridden price by the plan’s id', async () => {
    const catalog = await sold();
    const { x, y, meters } = catalog;
    const other = await world.catalog.plan();
    const own = await world.catalog.usage(other, meters[0]!, { amount: '5' });
    const subscription = await subscribe(catalog, {
      include_price_ids: [y.id],
      override_line_items: [{ price_id: y.id, amount: '4' }],
      line_item_commitments: { [y.id]: { commitment_quantity: '10', enable_true_up: true } },
      line_items: [
        {
          price_id: own.id, commitment_amount: 30, commitment_type: 'amount',
          commitment_overage_factor: 1.5, commitment_true_up_enabled: true,
          commitment_duration: 'MONTHLY',
        },
      ],
    }); // prettier-ignore
    await use(catalog, subscription.external_id, [
      ['06-10', 0, 8],
      ['06-11', 1, 3],
    ]);
    const body = await preview(subscription);
    expect(rowsOf(body, x)).toEqual([]);
    const [mine] = rowsOf(body, own);
    expect([...parts(mine), mine.commitment_info.duration]).toEqual([
      '45',
      '30',
      '15',
      '0',
      'MONTHLY',
    ]);
    const overridden = body.line_items.find((line: any) => line.meter_id === meters[1]!.id);
    expect(parts(overridden)).toEqual(['40', '12', '0', '28']);
  });

  test('each charge period of a quarter is held to it, and one row sums them', async () => {
    const catalog = await sold();
    const quarterly = {
      billing_period: 'QUARTERLY',
      include_price_ids: [catalog.x.id],
      line_item_commitments: {
        [catalog.x.id]: { commitment_amount: '100', overage_factor: '1.2', enable_true_up: true },
      },
    };
    const rows = async (line_item_grouping: string) => {
      const subscription = await subscribe(catalog, { ...quarterly, line_item_grouping });
      await use(catalog, subscription.external_id, [
        ['06-10', 0, 80],
        ['08-10', 0, 10],
      ]);
      return rowsOf(await preview(subscription, MONTHS(3)), catalog.x).map(parts);
    };
    expect(await rows('per_charge_period')).toEqual([
      ['172', '100', '72', '0'],
      ['100', '0', '0', '100'],
      ['100', '20', '0', '80'],
    ]);
    expect(await rows('per_billing_period')).toEqual([['372', '120', '72', '180']]);
  });

  test('one commitment for the period, also if a more specific line begins within it', async () => {
    const catalog = await sold();
    const special = await world.catalog.usage(await world.catalog.plan(), catalog.meters[0]!, {
      amount: '1',
      filter_values: { region: ['eu'] },
    });
    const subscription = await subscribe(catalog, {
      include_price_ids: [catalog.x.id],
      line_item_commitments: {
        [catalog.x.id]: { commitment_amount: '100', overage_factor: '2', enable_true_up: true },
      },
      line_items: [{ price_id: special.id, start_date: '2026-06-15T00:00:00Z' }],
    });
    await use(catalog, subscription.external_id, [
      ['06-10', 0, 70, { region: 'eu' }],
      ['06-20', 0, 10, { region: 'eu' }],
      ['06-21', 0, 5, { region: 'us' }],
    ]);
    const body = await preview(subscription);
    // 70 and 5 units at 2 against one promise of 100: 50 of overage, twice.
    expect(rowsOf(body, catalog.x).map(parts)).toEqual([['200', '100', '100', '0']]);
    expect(rowsOf(body, special)).toMatchObject([{ amount: '10', quantity: '10' }]);
  });

  test('a newer version of the price inherits it; each has its part of the period', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      start_date: undefined,
      line_item_commitments: {
        [catalog.x.id]: { commitment_amount: '100', enable_true_up: true },
      },
    });
    world.api.clock.advance(1_000);
    const { body: next } = await world.api.put(`/v1/prices/${catalog.x.id}`, { amount: '4' });
    await syncPrices(world.api, catalog.plan);
    const { body } = await world.api.get(`/v1/subscriptions/${subscription.id}`);
    expect(body.line_items.find((line: any) => line.price_id === next.id)).toMatchObject({
      commitment_amount: '100',
      commitment_type: 'amount',
      commitment_overage_factor: '1',
      commitment_true_up_enabled: true,
    });
  });

  describe('400', () => {
    let catalog: Sold;
    beforeAll(async () => {
      catalog = await sold();
    });
    test.each`
      name                          | at     | commitment                                                                     | path
      ${'both kinds'}               | ${'x'} | ${{ commitment_amount: '1', commitment_quantity: '1' }}                        | ${'commitment_quantity'}
      ${'a type against the value'} | ${'x'} | ${{ commitment_amount: '1', commitment_type: 'quantity' }}                     | ${'commitment_type'}
      ${'no value'}                 | ${'x'} | ${{ enable_true_up: true }}                                                    | ${'commitment_amount'}
      ${'nothing'}                  | ${'x'} | ${{}}                                                                          | ${''}
      ${'below zero'}               | ${'x'} | ${{ commitment_amount: '-1' }}                                                 | ${'commitment_amount'}
      ${'a factor below 1'}         | ${'x'} | ${{ commitment_amount: '1', overage_factor: '0.99' }}                          | ${'overage_factor'}
      ${'a factor of nothing'}      | ${'x'} | ${{ commitment_amount: '1', overage_factor: 0 }}                               | ${'overage_factor'}
      ${'a fee'}                    | ${'f'} | ${{ commitment_amount: '1' }}                                                  | ${'commitment_amount'}
      ${'a single time'}            | ${'x'} | ${{ commitment_amount: '1', commitment_duration: 'ONETIME' }}                  | ${'commitment_duration'}
      ${'windows without a bucket'} | ${'x'} | ${{ commitment_amount: '1', is_window_commitment: true }}                      | ${'is_window_commitment'}
      ${'a factor under two names'} | ${'x'} | ${{ commitment_amount: '1', overage_factor: 2, commitment_overage_factor: 3 }} | ${'commitment_overage_factor'}
      ${'times of day'}             | ${'x'} | ${{ commitment_amount: '1', commitment_time_buckets: [{}] }}                   | ${'commitment_time_buckets'}
      ${'a price that it has not'}  | ${'-'} | ${{ commitment_amount: '1' }}                                                  | ${''}
    `('$name', async ({ at, commitment, path }) => {
      const id = at === 'x' ? catalog.x.id : at === 'f' ? catalog.fee.id : 'price_0';
      const { status, body } = await attempt(catalog, {
        line_item_commitments: { [id]: commitment },
      });
      expect([status, body.code]).toEqual([400, 'validation_error']);
      const field = path === '' ? '' : `.${path}`;
      expect(body.details[0].path).toBe(`line_item_commitments.${id}${field}`);
    });

    test('a line item of its own that has one already, and windows', async () => {
      const own = await world.catalog.usage(
        await world.catalog.plan(),
        await world.catalog.meter(),
      );
      const line = { price_id: own.id, commitment_amount: '5' };
      const twice = await attempt(catalog, {
        line_items: [line],
        line_item_commitments: { [own.id]: { commitment_amount: '6' } },
      });
      expect([twice.status, twice.body.details[0].path]).toEqual([
        400,
        `line_item_commitments.${own.id}`,
      ]);
      const windowed = await attempt(catalog, {
        line_items: [{ ...line, commitment_windowed: true }],
      });
      expect([windowed.status, windowed.body.details[0].path]).toEqual([
        400,
        'line_items[0].commitment_windowed',
      ]);
    });
  });
});
