import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

const world = billingWorldFrom('2026-01-10T00:00:00.000Z');

/** A plan of usage at 1 on two meters and 20 in arrears. */
async function sold(aggregation: object = { type: 'SUM', field: 'v' }, price: object = {}) {
  const { catalog } = world;
  const plan = await catalog.plan('Pro');
  const meters = [
    await catalog.meter(aggregation, { name: 'A' }),
    await catalog.meter(undefined, { name: 'B' }),
  ] as const;
  const prices = [
    await catalog.usage(plan, meters[0], { display_name: 'a', amount: '1', ...price }),
    await catalog.usage(plan, meters[1], { display_name: 'b', amount: '1' }),
  ] as const;
  await catalog.fixed(plan, '20', { display_name: 'base', invoice_cadence: 'ARREAR' });
  await completeBackfills(world.api.pool);
  const customer = await catalog.customer();
  return { plan, meters, prices, customer };
}
type Sold = Awaited<ReturnType<typeof sold>>;

const subscribe = ({ customer, plan }: Sold, more: object) =>
  world.catalog.subscribe(customer, plan, { start_date: day('2026-01-01'), ...more });
const use = (catalog: Sold, meter: 0 | 1, at: string, v: string) =>
  world.usage.use(catalog.meters[meter], catalog.customer, `2026-${at}T10:00:00.000Z`, v);

/** Closes every period that is over by then. */
async function closeUntil(at: string): Promise<void> {
  world.api.clock.set(at);
  for (;;) {
    const report = await world.close();
    if (report?.['advanced'] === 0) return;
  }
}
async function rowsOf(subscription: { id: string }): Promise<string[][]> {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
  });
  const inOrder = body.items.sort((left: any, right: any) =>
    left.period_start < right.period_start ? -1 : 1,
  );
  return inOrder.map((invoice: any) =>
    invoice.line_items
      .filter(({ display_name }: any) => display_name !== 'base')
      .map((line: any) => `${line.display_name} ${line.quantity} ${line.amount}`),
  );
}

describe('a commitment of the subscription', () => {
  test('overage is a row of each usage line; fixed fees do not count', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      commitment_amount: '100',
      overage_factor: '1.5',
      enable_true_up: true,
    });
    expect(subscription).toMatchObject({
      commitment_amount: '100',
      commitment_duration: null,
      overage_factor: '1.5',
      enable_true_up: true,
    });
    await use(catalog, 0, '01-05', '90');
    await use(catalog, 1, '01-06', '60');
    await use(catalog, 0, '02-06', '60');
    await closeUntil(day('2026-04-01'));
    expect(await rowsOf(subscription)).toEqual([
      ['a 60 60', 'a (Overage) 30 45', 'b 40 40', 'b (Overage) 20 30'],
      ['a 60 60', 'b 0 0', 'Pro True Up 1 40'],
      ['a 0 0', 'b 0 0', 'Pro True Up 1 100'],
    ]);
  });

  test('the rows say what they are, and keep their ids when the draft is computed again', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      commitment_amount: '100',
      overage_factor: '2',
      enable_true_up: true,
    });
    await use(catalog, 0, '01-05', '150');
    await closeUntil(day('2026-03-01'));
    const { body } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    for (const invoice of body.items) {
      const again = await world.api.post(`/v1/invoices/${invoice.id}/compute`, {});
      const ids = (lines: any[]) => lines.map(({ id, amount }) => [id, amount]);
      const { body: read } = await world.api.get(`/v1/invoices/${invoice.id}`);
      expect([again.status, ids(read.line_items)]).toEqual([200, ids(invoice.line_items)]);
    }
    const rows = body.items.flatMap((invoice: any) => invoice.line_items);
    expect(rows.find((row: any) => row.display_name === 'a (Overage)')).toMatchObject({
      price_id: catalog.prices[0].id,
      price_type: 'USAGE',
      meter_display_name: 'A',
      kind: 'overage',
      commitment_info: null,
      metadata: { description: 'a (Overage Charge)', is_overage: 'true', overage_factor: '2' },
    });
    expect(rows.find((row: any) => row.display_name === 'Pro True Up')).toMatchObject({
      entity_type: 'plan',
      entity_id: catalog.plan.id,
      price_id: null,
      price_type: 'FIXED',
      subscription_line_item_id: null,
      plan_display_name: 'Pro',
      metadata: {
        commitment_amount: '100',
        commitment_utilized: '0',
        is_commitment_trueup: 'true',
        description: 'Remaining commitment amount for billing period',
      },
    });
  });

  test('a term of a year: usage of earlier months counts, drafts too; only the last month is trued up', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      commitment_amount: '1000',
      commitment_duration: 'QUARTERLY',
      overage_factor: '1.5',
      enable_true_up: true,
    });
    await use(catalog, 0, '01-05', '600');
    await use(catalog, 0, '02-05', '600');
    await use(catalog, 0, '03-05', '10');
    await use(catalog, 0, '05-05', '700');
    await closeUntil(day('2026-06-01'));
    const { body: usage } = await world.api.post('/v1/subscriptions/usage', {
      subscription_id: subscription.id,
    });
    expect(usage).toMatchObject({ commitment_amount: 1000, commitment_utilized: 0 });
    await use(catalog, 0, '06-05', '100');
    await closeUntil(day('2026-07-01'));
    expect(await rowsOf(subscription)).toEqual([
      ['a 600 600', 'b 0 0'],
      ['a 400 400', 'a (Overage) 200 300', 'b 0 0'],
      ['a 0 0', 'a (Overage) 10 15', 'b 0 0'],
      ['a 0 0', 'b 0 0'],
      ['a 700 700', 'b 0 0'],
      ['a 100 100', 'b 0 0', 'Pro True Up 1 200'],
    ]);
  });

  test('a void invoice counts nothing against the term', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      commitment_amount: '1000',
      commitment_duration: 'ANNUAL',
      overage_factor: '2',
    });
    await use(catalog, 0, '01-05', '900');
    await use(catalog, 0, '02-05', '200');
    await closeUntil(day('2026-02-01'));
    const { body: found } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    expect((await world.api.post(`/v1/invoices/${found.items[0].id}/void`, {})).status).toBe(200);
    await closeUntil(day('2026-03-01'));
    expect((await rowsOf(subscription)).at(-1)).toEqual(['a 200 200', 'b 0 0']);
  });

  test('a stub has its share with prorations, and all of it without', async () => {
    for (const [proration_behavior, trueUp] of [
      ['none', '310'],
      ['create_prorations', '160'],
    ] as const) {
      world.api.clock.set(day('2026-01-16'));
      const catalog = await sold();
      const subscription = await subscribe(catalog, {
        start_date: day('2026-01-16'),
        billing_cycle: 'calendar',
        proration_behavior,
        commitment_amount: '310',
        overage_factor: '1',
        enable_true_up: true,
      });
      await closeUntil(day('2026-02-01'));
      expect((await rowsOf(subscription)).at(-1)).toEqual([
        'a 0 0', 'b 0 0', `Pro True Up 1 ${trueUp}`,
      ]); // prettier-ignore
    }
  });

  test.each([
    [{ commitment_amount: '100', overage_factor: '0.5' }, 'overage_factor'],
    [{ commitment_amount: '-1' }, 'commitment_amount'],
    [{ commitment_amount: '100', commitment_duration: 'WEEKLY' }, 'commitment_duration'],
    [{ commitment_amount: '100', commitment_duration: 'ONETIME' }, 'commitment_duration'],
    [{ commitment_duration: 'ANNUAL' }, 'commitment_duration'],
    [{ enable_true_up: true }, 'enable_true_up'],
    [{ overage_factor: '1.5' }, 'overage_factor'],
  ])('%p is refused', async (fields, path) => {
    const { plan, customer } = await sold();
    const { status, body } = await world.api.post('/v1/subscriptions', {
      customer_id: customer.id, plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY',
      billing_period_count: 1, ...fields,
    }); // prettier-ignore
    expect([status, body.details?.[0]?.path]).toEqual([400, path]);
  });

  test('next to a commitment of a line it is refused', async () => {
    const { plan, customer, prices } = await sold();
    const { status, body } = await world.api.post('/v1/subscriptions', {
      customer_id: customer.id, plan_id: plan.id, currency: 'usd', billing_period: 'MONTHLY',
      billing_period_count: 1, commitment_amount: '100',
      line_item_commitments: { [prices[0].id]: { commitment_amount: '5', overage_factor: '1' } },
    }); // prettier-ignore
    expect([status, body.message]).toEqual([
      400,
      expect.stringContaining('beside a commitment of the subscription'),
    ]);
  });
});

describe('a commitment of a line', () => {
  const committed = (catalog: Sold, terms: object) => ({
    line_item_commitments: { [catalog.prices[0].id]: { overage_factor: '2', ...terms } },
  });

  test('windowed: once for each bucket, empty ones too with a true-up', async () => {
    const catalog = await sold({ type: 'MAX', field: 'v', bucket_size: 'DAY' });
    const subscription = await subscribe(catalog, committed(catalog, {
      commitment_quantity: '5', commitment_type: 'quantity', is_window_commitment: true,
      enable_true_up: true,
    })); // prettier-ignore
    const line = subscription.line_items.find((item: any) => item.display_name === 'a');
    expect(line).toMatchObject({ commitment_windowed: true, commitment_quantity: '5' });
    await use(catalog, 0, '01-03', '3');
    await use(catalog, 0, '01-04', '9');
    await closeUntil(day('2026-02-01'));
    // 29 empty days at 5, one of 3 trued up to 5, one of 9: 5 + 4 × 2.
    expect(await rowsOf(subscription)).toEqual([['a 12 163', 'b 0 0']]);
  });

  test('for days of a month: once for each day', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, committed(catalog, {
      commitment_amount: '5', commitment_duration: 'DAILY',
    })); // prettier-ignore
    await use(catalog, 0, '01-03', '3');
    await use(catalog, 0, '01-04', '9');
    await closeUntil(day('2026-02-01'));
    expect(await rowsOf(subscription)).toEqual([['a 12 16', 'b 0 0']]);
    const { body } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    const row = body.items[0].line_items.find((item: any) => item.display_name === 'a');
    expect(row.commitment_info).toMatchObject({
      amount: '5', duration: 'DAILY', computed_commitment_utilized_amount: '8',
      computed_overage_amount: '8', computed_true_up_amount: '0',
    }); // prettier-ignore
  });

  test('windows that have not begun do not count in a preview', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, committed(catalog, {
      commitment_amount: '5', commitment_duration: 'DAILY', enable_true_up: true,
    })); // prettier-ignore
    world.api.clock.set('2026-01-10T12:00:00.000Z');
    const { body } = await world.api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
    });
    const row = body.line_items.find((item: any) => item.display_name === 'a');
    expect(row.amount).toBe('50');
  });

  test('for a quarter of months: overage and true-up are rows of the line', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, committed(catalog, {
      commitment_amount: '100', commitment_duration: 'QUARTERLY', enable_true_up: true,
    })); // prettier-ignore
    await use(catalog, 0, '01-05', '60');
    await use(catalog, 0, '02-05', '60');
    await use(catalog, 0, '04-05', '30');
    await closeUntil(day('2026-07-01'));
    expect(await rowsOf(subscription)).toEqual([
      ['a 60 60', 'b 0 0'],
      ['a 60 40', 'a (Overage) 1 40', 'b 0 0'],
      ['a 0 0', 'b 0 0'],
      ['a 30 30', 'b 0 0'],
      ['a 0 0', 'b 0 0'],
      ['a 0 0', 'a True Up 1 70', 'b 0 0'],
    ]);
  });

  test('for a year of months: usage before a phase counts against it in the same invoice (billing 6.4)', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      ...committed(catalog, { commitment_amount: '100', commitment_duration: 'ANNUAL' }),
      ...{ billing_period: 'QUARTERLY', include_price_ids: [catalog.prices[0].id] },
      phases: [
        { start_date: day('2026-01-01'), end_date: day('2026-02-15') },
        { start_date: day('2026-02-15') },
      ],
    });
    await use(catalog, 0, '01-05', '60');
    await use(catalog, 0, '02-20', '60');
    await closeUntil(day('2026-04-01'));
    expect((await rowsOf(subscription)).map((rows) => rows.sort())).toEqual([
      ['a (Overage) 1 40', 'a 0 0', 'a 0 0', 'a 60 40', 'a 60 60'],
    ]);
  });

  test('windowed without a bucket is refused', async () => {
    const catalog = await sold();
    const { status, body } = await world.api.post('/v1/subscriptions', {
      customer_id: catalog.customer.id, plan_id: catalog.plan.id, currency: 'usd',
      billing_period: 'MONTHLY', billing_period_count: 1,
      ...committed(catalog, { commitment_amount: '5', is_window_commitment: true }),
    }); // prettier-ignore
    expect([status, body.details?.[0]?.code]).toEqual([400, 'commitment_without_windows']);
  });
});
