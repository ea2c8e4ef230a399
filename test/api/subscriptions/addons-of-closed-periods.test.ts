import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Addons that start in a billing period that is closed already (billing 15.1, 1.6; money 5.3.5). */
const world = billingWorldFrom(day('2026-01-01'));

let packs = 0;

/** 10.00 a month since 1 January and usage of "calls" at 1; it is 10 March. January is final, February is a draft. */
async function subscribedInJanuary(more: object = {}) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '10', { display_name: 'Base' });
  const calls = await catalog.meter();
  await catalog.usage(plan, calls, { display_name: 'Calls', amount: '1' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-01-01'),
    proration_behavior: 'create_prorations',
    ...more,
  });
  api.clock.set(day('2026-02-01'));
  await world.close();
  api.clock.set(day('2026-02-05'));
  await world.finalize();
  api.clock.set(day('2026-03-01'));
  await world.close();
  api.clock.set(day('2026-03-10'));
  return { customer, subscription, calls };
}
type Subscribed = Awaited<ReturnType<typeof subscribedInJanuary>>;

/** An addon of 31.00 a month in advance, 6.20 in arrear, 5.00 once, and usage of its own meter at 2. */
async function pack() {
  const { catalog } = world;
  const addon = await world.api.postOk('/v1/addons', {
    name: 'Pack',
    lookup_key: `closed${(packs += 1)}`,
  });
  const of = { entity_type: 'ADDON' };
  const meter = await catalog.meter({ type: 'SUM', field: 'v' }, { name: 'Images' });
  await catalog.fixed(addon, '31', { ...of, display_name: 'Advance' });
  await catalog.fixed(addon, '6.2', { ...of, display_name: 'Arrear', invoice_cadence: 'ARREAR' });
  await catalog.fixed(addon, '5', { ...of, display_name: 'Setup', billing_period: 'ONETIME' });
  await catalog.usage(addon, meter, { ...of, display_name: 'Images', amount: '2' });
  return { addon, meter };
}

const use = ({ customer }: Subscribed, meter: { id: string }, at: string, v: string) =>
  world.usage.use(meter, customer, `2026-${at}T10:00:00.000Z`, v);

/** Usage before the addon starts, 3 in January, 4 in February, 7 in March. */
async function used(bought: Subscribed, meter: { id: string }): Promise<void> {
  await completeBackfills(world.api.pool);
  await use(bought, meter, '01-05', '100');
  await use(bought, meter, '01-20', '3');
  await use(bought, meter, '02-10', '4');
  await use(bought, meter, '03-02', '7');
}

const attach = ({ subscription }: Subscribed, addon: { id: string }, more: object = {}) =>
  world.api.post('/v1/subscriptions/addon', {
    subscription_id: subscription.id,
    addon_id: addon.id,
    start_date: day('2026-01-11'),
    ...more,
  });

const invoicesOf = async ({ id }: { id: string }): Promise<any[]> =>
  (await world.api.post('/v1/invoices/search', { subscription_id: id, limit: 50 })).body.items;

/** The rows of an invoice as "name amount start..end", in order. */
const rowsOf = (invoice: any): string[] =>
  invoice.line_items.map(
    (row: any) =>
      `${row.display_name} ${row.amount} ${row.period_start.slice(5, 10)}..${row.period_end.slice(5, 10)}`,
  );

/** The invoices that the addon adds, oldest period first. */
async function added({ subscription }: Subscribed, before: readonly any[]) {
  const known = new Set(before.map(({ id }) => id));
  const all = await invoicesOf(subscription);
  return all
    .filter(({ id }) => !known.has(id))
    .sort((left, right) => left.period_start.localeCompare(right.period_start));
}

test('one invoice for each closed period has the rows of the addon; the running period is charged at once', async () => {
  const bought = await subscribedInJanuary();
  const { addon, meter } = await pack();
  await used(bought, meter);
  const before = await invoicesOf(bought.subscription);
  expect((await attach(bought, addon)).status).toBe(200);

  const [january, february, march, ...rest] = await added(bought, before);
  expect(rest).toEqual([]);
  expect(rowsOf(january)).toEqual([
    'Advance 21 01-11..02-01',
    'Arrear 4.2 01-11..02-01',
    'Setup 5 01-11..01-11',
    'Images 6 01-11..02-01',
  ]);
  expect(rowsOf(february)).toEqual([
    'Advance 31 02-01..03-01',
    'Arrear 6.2 02-01..03-01',
    'Images 8 02-01..03-01',
  ]);
  expect(rowsOf(march)).toEqual(['Advance 31 03-01..04-01']);
  expect([january, february, march].map((row) => [row.invoice_status, row.billing_reason])).toEqual(
    [
      ['DRAFT', 'SUBSCRIPTION_UPDATE'],
      ['DRAFT', 'SUBSCRIPTION_UPDATE'],
      ['FINALIZED', 'SUBSCRIPTION_UPDATE'],
    ],
  );
});

test('a preview shows the same invoices and writes nothing', async () => {
  const bought = await subscribedInJanuary();
  const { addon, meter } = await pack();
  await used(bought, meter);
  const before = await invoicesOf(bought.subscription);
  const change = (how: string) =>
    world.api.postOk(`/v1/subscriptions/${bought.subscription.id}/modify/${how}`, {
      type: 'addon',
      addon_params: { action: 'add', add: { addon_id: addon.id, start_date: day('2026-01-11') } },
    });
  const shown = (changed: any) =>
    changed.changed_resources.invoices.map(({ amount, invoice }: any) => [amount, rowsOf(invoice)]);
  const preview = await change('preview');
  expect(await added(bought, before)).toEqual([]);
  const executed = await change('execute');
  expect(shown(executed)).toEqual(shown(preview));
  expect(shown(executed).map(([amount]: any) => amount)).toEqual(['36.2', '45.2', '31']);
  expect((await added(bought, before)).map(rowsOf)).toEqual(
    shown(executed).map(([, rows]: any) => rows),
  );
});

test('without prorations advances begin with the period after the start', async () => {
  const bought = await subscribedInJanuary();
  const { addon } = await pack();
  await completeBackfills(world.api.pool);
  const before = await invoicesOf(bought.subscription);
  expect((await attach(bought, addon, { proration_behavior: 'none' })).status).toBe(200);
  const rows = (await added(bought, before)).map(rowsOf);
  expect(rows.flat().filter((row) => row.startsWith('Advance'))).toEqual([
    'Advance 31 02-01..03-01',
    'Advance 31 03-01..04-01',
  ]);
});

test('the drafts wait for the grace, then are final; later cycles and drafts bill nothing again', async () => {
  const bought = await subscribedInJanuary();
  const { addon, meter } = await pack();
  await used(bought, meter);
  const before = await invoicesOf(bought.subscription);
  await attach(bought, addon);
  await world.finalize();
  expect((await added(bought, before)).map((row) => row.invoice_status)).toEqual([
    'DRAFT', 'DRAFT', 'FINALIZED',
  ]); // prettier-ignore
  // Late usage of January, in the grace.
  await use(bought, meter, '01-25', '10');
  world.api.clock.set(day('2026-04-01'));
  await world.close();
  world.api.clock.set(day('2026-04-05'));
  await world.finalize();
  const all = await invoicesOf(bought.subscription);
  expect(all.every((row) => row.invoice_status === 'FINALIZED')).toBe(true);
  expect(all.flatMap(rowsOf).filter((row) => !/^(Base|Calls)/.test(row)).toSorted()).toEqual([
    'Advance 21 01-11..02-01', 'Advance 31 02-01..03-01', 'Advance 31 03-01..04-01', 'Advance 31 04-01..05-01',
    'Arrear 4.2 01-11..02-01', 'Arrear 6.2 02-01..03-01', 'Arrear 6.2 03-01..04-01',
    'Images 14 03-01..04-01', 'Images 26 01-11..02-01', 'Images 8 02-01..03-01',
    'Setup 5 01-11..01-11',
  ]); // prettier-ignore
});

test('a voided invoice of a closed period is billed again with the rows of the addon only', async () => {
  const bought = await subscribedInJanuary();
  const { addon, meter } = await pack();
  await used(bought, meter);
  const before = await invoicesOf(bought.subscription);
  await attach(bought, addon);
  world.api.clock.set(day('2026-03-15'));
  await world.finalize();
  const [january] = await added(bought, before);
  await world.api.postOk(`/v1/invoices/${january.id}/void`, {});
  const again = await world.api.postOk('/v1/invoices', {
    customer_id: bought.customer.id,
    subscription_id: bought.subscription.id,
    invoice_type: 'SUBSCRIPTION',
    billing_reason: 'SUBSCRIPTION_UPDATE',
    currency: 'usd',
    period_start: january.period_start,
    period_end: january.period_end,
  });
  expect(rowsOf(again)).toEqual(rowsOf(january));
});

test('an addon for one period is billed for that period only', async () => {
  const bought = await subscribedInJanuary();
  const { addon, meter } = await pack();
  await used(bought, meter);
  const before = await invoicesOf(bought.subscription);
  await attach(bought, addon, { cadence: 'onetime' });
  expect((await added(bought, before)).map(rowsOf)).toEqual([
    ['Advance 21 01-11..02-01', 'Arrear 4.2 01-11..02-01', 'Setup 5 01-11..01-11', 'Images 6 01-11..02-01'],
  ]); // prettier-ignore
});

test('overridden prices and the quantity count; the second request with one key changes nothing', async () => {
  const bought = await subscribedInJanuary();
  const { addon } = await pack();
  const { items } = (await world.api.post('/v1/prices/search', { entity_type: 'ADDON', entity_ids: [addon.id] })).body; // prettier-ignore
  const advance = items.find((price: any) => price.display_name === 'Advance');
  await completeBackfills(world.api.pool);
  const before = await invoicesOf(bought.subscription);
  const body = {
    subscription_id: bought.subscription.id,
    addon_id: addon.id,
    start_date: day('2026-02-01'),
    quantity: '2',
    override_line_items: [{ price_id: advance.id, amount: '62' }],
  };
  const headers = { 'idempotency-key': `closed-${addon.id}` };
  const first = await world.api.post('/v1/subscriptions/addon', body, headers);
  const second = await world.api.post('/v1/subscriptions/addon', body, headers);
  expect([first.status, second.status]).toEqual([200, 200]);
  expect(second.body.id).toBe(first.body.id);
  expect((await added(bought, before)).map(rowsOf)).toEqual([
    ['Advance 124 02-01..03-01', 'Arrear 12.4 02-01..03-01', 'Setup 10 02-01..02-01', 'Images 0 02-01..03-01'],
    ['Advance 124 03-01..04-01'],
  ]); // prettier-ignore
});

describe('refused by name', () => {
  const refusal = async (answer: Promise<{ status: number; body: any }>) => {
    const { status, body } = await answer;
    return [status, body.details?.[0]?.path, body.message];
  };

  test('a start before the subscription, or with a checkout session', async () => {
    const bought = await subscribedInJanuary();
    const { addon } = await pack();
    const before = await invoicesOf(bought.subscription);
    expect(await refusal(attach(bought, addon, { start_date: day('2025-12-31') }))).toEqual([
      400, 'start_date', expect.stringMatching(/before the start of the subscription/),
    ]); // prettier-ignore
    expect(await refusal(attach(bought, addon, { checkout: { payment_provider: 'test' } }))).toEqual([
      400, 'start_date', expect.stringMatching(/running period.*checkout/),
    ]); // prettier-ignore
    expect(await added(bought, before)).toEqual([]);
  });

  test('usage that the closed periods have settled: by a commitment, or by another line', async () => {
    const committed = await subscribedInJanuary({ commitment_amount: '100', overage_factor: '1' });
    const { addon } = await pack();
    expect(await refusal(attach(committed, addon))).toEqual([
      400, 'start_date', expect.stringMatching(/commitment of the closed periods/),
    ]); // prettier-ignore

    const bought = await subscribedInJanuary();
    const other = await world.api.postOk('/v1/addons', {
      name: 'More calls',
      lookup_key: `closed${(packs += 1)}`,
    });
    await world.catalog.usage(other, bought.calls, {
      entity_type: 'ADDON', amount: '3', filter_values: { region: ['eu'] },
    }); // prettier-ignore
    expect(await refusal(attach(bought, other))).toEqual([
      400, 'start_date', expect.stringMatching(/has billed usage of the same meter/),
    ]); // prettier-ignore
  });

  test('more than 120 closed periods', async () => {
    const { catalog, api } = world;
    const daily = { billing_period: 'DAILY' };
    const plan = await catalog.plan();
    await catalog.fixed(plan, '1', daily);
    const customer = await catalog.customer();
    const start_date = day('2026-01-01');
    const subscription = await catalog.subscribe(customer, plan, { start_date, ...daily });
    const addon = await world.api.postOk('/v1/addons', {
      name: 'Daily',
      lookup_key: `closed${(packs += 1)}`,
    });
    await catalog.fixed(addon, '2', { entity_type: 'ADDON', ...daily });
    api.clock.set(day('2026-05-02'));
    const bought = { customer, subscription, calls: plan };
    expect(await refusal(attach(bought, addon, { start_date }))).toEqual([
      400, 'start_date', expect.stringContaining('must not be before 2026-01-02T00:00:00.000Z'),
    ]); // prettier-ignore
    expect((await attach(bought, addon, { start_date: day('2026-01-02') })).status).toBe(200);
    const { pagination } = (await api.post('/v1/invoices/search', { subscription_id: subscription.id })).body; // prettier-ignore
    expect(pagination.total).toBe(122 + 121);
  });

  test('not usage of a line that had ended before the addon starts', async () => {
    const bought = await subscribedInJanuary();
    const { addon, meter } = await pack();
    await used(bought, meter);
    await attach(bought, addon, { cadence: 'onetime' });
    const before = await invoicesOf(bought.subscription);
    expect((await attach(bought, addon, { start_date: day('2026-02-01') })).status).toBe(200);
    expect((await added(bought, before)).map(rowsOf)).toEqual([
      ['Advance 31 02-01..03-01', 'Arrear 6.2 02-01..03-01', 'Setup 5 02-01..02-01', 'Images 8 02-01..03-01'],
      ['Advance 31 03-01..04-01'],
    ]); // prettier-ignore
  });
});

test('credits that the addon grants are caught up, once for each month', async () => {
  const bought = await subscribedInJanuary();
  const addon = await world.api.postOk('/v1/addons', {
    name: 'Credits',
    lookup_key: `closed${(packs += 1)}`,
  });
  await world.api.postOk('/v1/creditgrants', {
    name: 'Credits', scope: 'ADDON', addon_id: addon.id, credits: '7', cadence: 'RECURRING',
    period: 'MONTHLY', period_count: 1, expiration_type: 'NEVER',
  }); // prettier-ignore
  expect((await attach(bought, addon, { start_date: day('2026-01-01') })).status).toBe(200);
  const wallets = (await world.api.get(`/v1/customers/${bought.customer.id}/wallets`)).body;
  expect(wallets.map((wallet: any) => wallet.credit_balance)).toEqual(['21']);
});

describe('an addon that is attached late is charged like one that is attached at its start', () => {
  type Step = readonly [at: string, make: (subscription: { id: string }) => Promise<unknown>];

  /** The rows of the addon in all invoices until 3 April, if it is attached on `attached` with the start 6 January. */
  async function rowsIfAttached(
    attached: string,
    how: { more?: object; add?: object; steps?: readonly Step[] },
  ): Promise<any[]> {
    const { catalog, api } = world;
    api.clock.set(day('2026-01-01'));
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10', { display_name: 'Base' });
    const { addon, meter } = await pack();
    await completeBackfills(api.pool);
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: day('2026-01-01'),
      proration_behavior: 'create_prorations',
      ...how.more,
    });
    const bought = { customer, subscription, calls: meter };
    await used(bought, meter);
    const attachment: Step = [
      attached,
      async () => {
        const add = { start_date: day('2026-01-06'), ...how.add };
        expect((await attach(bought, addon, add)).status).toBe(200);
      },
    ];
    const steps = [attachment, ...(how.steps ?? [])];
    for (const [at, step] of steps.toSorted(([left], [right]) => left.localeCompare(right))) {
      api.clock.set(day(at));
      await world.close();
      await step(subscription);
    }
    for (const at of ['2026-04-01', '2026-04-02', '2026-04-03']) {
      api.clock.set(day(at));
      await world.close();
    }
    const all = (await invoicesOf(subscription)).filter((row) => row.invoice_status !== 'VOIDED');
    return all.flatMap((row) => row.line_items).filter((row) => row.display_name !== 'Base');
  }

  const pause: Step = [
    '2026-01-11',
    ({ id }) => world.api.postOk(`/v1/subscriptions/${id}/pause`, {}),
  ];
  const pauseAtEnd: Step = [
    '2026-01-12',
    ({ id }) => world.api.postOk(`/v1/subscriptions/${id}/pause`, { pause_mode: 'period_end' }),
  ];
  const lateResumption: Step = [
    '2026-02-16',
    ({ id }) => world.api.postOk(`/v1/subscriptions/${id}/resume`, { resume_mode: 'immediate' }),
  ];
  const resumption: Step = [
    '2026-01-21',
    ({ id }) => world.api.postOk(`/v1/subscriptions/${id}/resume`, {}),
  ];

  test.each([
    ['on an anniversary', {}],
    ['on the calendar', { more: { billing_cycle: 'calendar', start_date: day('2026-01-03') } }],
    ['without prorations', { add: { proration_behavior: 'none' } }],
    ['for one period', { add: { cadence: 'onetime' } }],
    ['with a pause', { steps: [pause, resumption] }],
    ['with a pause from the end of a period', { steps: [pauseAtEnd, lateResumption] }],
    ['with a fixed end of the subscription', { more: { end_date: day('2026-03-21') } }],
    ['in periods of two months', { more: { billing_period_count: 2, include_price_ids: [] } }],
  ])('%s', async (_, how) => {
    // A pause that is over has made the period longer before the addon is attached: only its end differs.
    const shown = (rows: any[]) =>
      rows.map((row) => `${row.display_name} ${row.amount} ${row.period_start}`).toSorted();
    const early = shown(await rowsIfAttached('2026-01-06', how));
    expect(early.length).toBeGreaterThan(2);
    expect(shown(await rowsIfAttached('2026-03-15', how))).toEqual(early);
  });

  test('after a plan change that restarted the period, whose longer invoice was voided', async () => {
    const { catalog } = world;
    const target = await catalog.plan();
    await catalog.fixed(target, '500', { display_name: 'Base' });
    const voided: Step = [
      '2026-02-05',
      async ({ id }) => {
        const { customer_id } = (await world.api.get(`/v1/subscriptions/${id}`)).body;
        const of = { customer_id, subscription_id: id, currency: 'usd' };
        const draft = await world.api.postOk('/v1/invoices', {
          ...of,
          invoice_type: 'SUBSCRIPTION',
        });
        await world.api.postOk(`/v1/invoices/${draft.id}/void`, {});
      },
    ];
    const restart: Step = [
      '2026-02-11',
      ({ id }) =>
        world.api.postOk(`/v1/subscriptions/${id}/change/v2/execute`, {
          target_plan_id: target.id,
          proration_behavior: 'create_prorations',
          billing_period_behaviour: 'anchor_at_effect',
        }),
    ];
    const how = { steps: [voided, restart] };
    // Attached early, the addon pays February whole and gets the rest of it back at the plan change.
    const totals = (rows: any[]) => {
      const total: Record<string, number> = {};
      for (const { display_name, amount } of rows)
        total[display_name] = Math.round(((total[display_name] ?? 0) + Number(amount)) * 100) / 100;
      return total;
    };
    const early = totals(await rowsIfAttached('2026-01-06', how));
    expect(early).toMatchObject({ Images: 28, Setup: 5 });
    expect(totals(await rowsIfAttached('2026-03-15', how))).toEqual(early);
  });
});
