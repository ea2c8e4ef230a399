import { billingWorldFrom } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Plan changes that restart the billing periods at their effective time (billing 14.2). */
const world = billingWorldFrom(instant('2026-04-01'));

/** A day is its midnight. */
function instant(text: string): string {
  return text.length === 10 ? `${text}T00:00:00.000Z` : text;
}

let counter = 0;

/** From 50.00, 30.00 in arrears and 1.00 a call to 100.00, 60.00 in arrears and 0.50 a call; from 1 April. */
async function plans(more: object = {}) {
  const { catalog, api } = world;
  const [from, to] = [await catalog.plan('Small'), await catalog.plan('Large')];
  const meter = await catalog.meter();
  const terms = [
    { plan: from, base: '50', support: '30', call: '1' },
    { plan: to, base: '100', support: '60', call: '0.5' },
  ];
  for (const { plan, base, support, call } of terms) {
    await catalog.fixed(plan, base, { display_name: 'Base', ...more });
    const arrear = { invoice_cadence: 'ARREAR', ...more };
    await catalog.fixed(plan, support, { display_name: 'Support', ...arrear });
    await catalog.usage(plan, meter, { display_name: 'Calls', amount: call, ...more });
  }
  await completeBackfills(api.pool);
  return { from, to, meter };
}
async function subscribed(more: object = {}, priced: object = {}) {
  const { from, to, meter } = await plans(priced);
  const customer = await world.catalog.customer();
  const start = { start_date: instant('2026-04-01'), ...more };
  const subscription = await world.catalog.subscribe(customer, from, start);
  const use = (time: string, value: string) =>
    world.usage.use(meter, customer, instant(time), value);
  return { from, to, meter, customer, subscription, use };
}
type Subscribed = Awaited<ReturnType<typeof subscribed>>;

const restart = (
  { subscription, to }: Pick<Subscribed, 'subscription' | 'to'>,
  kind: 'preview' | 'execute',
  more: object = {},
) =>
  world.api.post(`/v1/subscriptions/${subscription.id}/change/v2/${kind}`, {
    target_plan_id: to.id,
    proration_behavior: 'create_prorations',
    billing_period_behaviour: 'anchor_at_effect',
    ...more,
  });
const read = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${id}`)).body;
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id, limit: 200 });
  return (body.items as any[]).toReversed();
}
const rows = (invoice: any) =>
  invoice.line_items.map(
    (row: any) =>
      `${row.display_name} ${row.quantity} ${row.amount} ${row.period_start.slice(5, 10)}..${row.period_end.slice(5, 10)}`,
  );
const at = (time: string) => world.api.clock.set(instant(time));
/** Runs the billing run at a time, as late as that is. */
async function billed(time: string) {
  at(time);
  await world.close();
}
/** Connections to the database of the test with a transaction that waits for its next statement. */
async function openTransactions(): Promise<number> {
  const [row] = await world.api.pool<{ open: number }[]>`
    select count(*)::int as open from pg_stat_activity
     where datname = current_database() and state like 'idle in transaction%'`;
  return row!.open;
}
const money = (invoices: any[]) =>
  invoices.map(({ amount, invoice }) => [amount, ...(invoice === null ? [] : rows(invoice))]);

describe('now', () => {
  test.each([
    ['create_prorations', ['66.67', 'Base 1 -33.33 04-11..05-01', 'Base 1 100 04-11..05-11']],
    ['none', ['100', 'Base 1 100 04-11..05-11']],
  ])(
    'the period ends, the next begins: %s; preview, invoices, and the cycle after it',
    async (proration_behavior, advances) => {
      const of = await subscribed();
      await of.use('2026-04-05', '10');
      await of.use('2026-04-15', '8');
      at('2026-04-11');
      const { body: shown } = await restart(of, 'preview', { proration_behavior });
      const ended = ['20', 'Support 1 10 04-01..04-11', 'Calls 10 10 04-01..04-11'];
      expect(money(shown.changed_resources.invoices)).toEqual([advances, ended]);
      expect(await read(of.subscription)).toMatchObject({
        plan_id: of.from.id,
        billing_anchor: instant('2026-04-01'),
      });
      expect(await invoicesOf(of.subscription)).toHaveLength(1);

      const { status, body: done } = await restart(of, 'execute', { proration_behavior });
      expect(status).toBe(200);
      expect(money(done.changed_resources.invoices)).toEqual([advances, ended]);
      expect(done.changed_resources.subscriptions).toEqual(shown.changed_resources.subscriptions);
      expect(await read(of.subscription)).toMatchObject({
        id: of.subscription.id,
        plan_id: of.to.id,
        billing_anchor: instant('2026-04-11'),
        current_period_start: instant('2026-04-11'),
        current_period_end: instant('2026-05-11'),
      });
      const [, change, draft] = await invoicesOf(of.subscription);
      expect(change).toMatchObject({
        billing_reason: 'SUBSCRIPTION_UPDATE',
        invoice_status: 'FINALIZED',
        period_start: instant('2026-04-11'),
        period_end: instant('2026-05-11'),
      });
      expect(draft).toMatchObject({
        billing_reason: 'PRORATION',
        invoice_status: 'DRAFT',
        period_start: instant('2026-04-01'),
        period_end: instant('2026-04-11'),
      });
      await billed('2026-05-11');
      const [, , , cycle] = await invoicesOf(of.subscription);
      expect([cycle.billing_reason, ...rows(cycle)]).toEqual([
        'SUBSCRIPTION_CYCLE',
        'Base 1 100 05-11..06-11',
        'Support 1 60 04-11..05-11',
        'Calls 8 4 04-11..05-11',
      ]);
    },
  );

  describe('usage of the ended period', () => {
    afterEach(() => world.usage.beforeRead(null));

    test.each(['preview', 'execute'] as const)(
      'is read while no transaction is open: %s',
      async (kind) => {
        const of = await subscribed();
        await of.use('2026-04-05', '10');
        at('2026-04-11');
        const open: number[] = [];
        world.usage.beforeRead(async () => {
          open.push(await openTransactions());
        });
        expect((await restart(of, kind)).status).toBe(200);
        expect(open).toEqual([0]);
      },
    );

    test('is read again if the period gets its draft in the meantime; the draft becomes the invoice', async () => {
      const of = await subscribed();
      await of.use('2026-04-05', '10');
      at('2026-04-11');
      let draft: any = null;
      world.usage.beforeRead(async () => {
        world.usage.beforeRead(null);
        draft = await world.api.postOk('/v1/invoices', {
          customer_id: of.customer.id,
          subscription_id: of.subscription.id,
          invoice_type: 'SUBSCRIPTION',
          currency: 'usd',
        });
      });
      const reads = world.usage.reads.count;
      const { body: done } = await restart(of, 'execute');
      // For the first attempt, the draft, and the second attempt.
      expect(world.usage.reads.count - reads).toBe(3);
      const [change, ended] = done.changed_resources.invoices;
      expect(change.amount).toBe('66.67');
      expect([ended.id, ended.amount]).toEqual([draft.id, '20']);
      expect(await invoicesOf(of.subscription)).toHaveLength(3);
    });

    test('of two changes at once one is made', async () => {
      const of = await subscribed();
      at('2026-04-11');
      const both = await Promise.all([restart(of, 'execute'), restart(of, 'execute')]);
      expect(both.map(({ status }) => status).toSorted()).toEqual([200, 400]);
      expect((await read(of.subscription)).plan_id).toBe(of.to.id);
      expect(await invoicesOf(of.subscription)).toHaveLength(3);
    });
  });

  test('usage that comes in late is on the draft of the ended period; it is billed once', async () => {
    const of = await subscribed();
    at('2026-04-11');
    await restart(of, 'execute');
    await of.use('2026-04-10T23:59:59.999Z', '3');
    await of.use('2026-04-11', '5');
    at('2026-04-20');
    const [, , draft] = await invoicesOf(of.subscription);
    await world.api.postOk(`/v1/invoices/${draft.id}/recompute`, {}).catch(() => null);
    await world.api.pool`update invoices set finalize_after = ${instant('2026-04-12')}
                          where id = ${draft.id}`;
    await world.finalize();
    const [, , final] = await invoicesOf(of.subscription);
    expect([final.invoice_status, ...rows(final)]).toEqual([
      'FINALIZED',
      'Support 1 10 04-01..04-11',
      'Calls 3 3 04-01..04-11',
    ]);
  });

  test('a smaller plan: what is left returns to the wallet', async () => {
    const of = await subscribed();
    at('2026-04-02');
    await restart(of, 'execute');
    at('2026-04-03');
    const { body: shown } = await restart({ ...of, to: of.from }, 'preview');
    const { body: done } = await restart({ ...of, to: of.from }, 'execute');
    // 29 of 30 days of 100.00 are credited, 50.00 is charged.
    expect(shown.changed_resources.invoices[0]).toMatchObject({
      action: 'wallet_credit',
      amount: '46.67',
    });
    expect(done.changed_resources.invoices[0]).toMatchObject({
      action: 'wallet_credit',
      amount: '46.67',
    });
    const { body: wallets } = await world.api.get(`/v1/customers/${of.customer.id}/wallets`);
    expect(wallets).toMatchObject([{ balance: '46.67' }]);
    expect(await read(of.subscription)).toMatchObject({
      current_period_end: instant('2026-05-03'),
    });
  });

  test('an addon in advance is credited and charged again; a fee with the same terms too', async () => {
    const of = await subscribed({ proration_behavior: 'create_prorations' });
    const addon = await world.api.postOk('/v1/addons', {
      name: 'More',
      lookup_key: `more${(counter += 1)}`,
    });
    await world.catalog.fixed(addon, '30', { entity_type: 'ADDON', display_name: 'More' });
    await world.api.postOk('/v1/subscriptions/addon', {
      subscription_id: of.subscription.id,
      addon_id: addon.id,
      start_date: instant('2026-04-01'),
    });
    at('2026-04-16');
    const { body: done } = await restart(of, 'execute');
    expect(money(done.changed_resources.invoices)[0]).toEqual([
      '90',
      'Base 1 -25 04-16..05-01',
      'Base 1 100 04-16..05-16',
      'More 1 -15 04-16..05-01',
      'More 1 30 04-16..05-16',
    ]);
    await billed('2026-05-16');
    expect(rows((await invoicesOf(of.subscription)).at(-1))).toEqual(
      expect.arrayContaining(['Base 1 100 05-16..06-16', 'More 1 30 05-16..06-16']),
    );
  });

  test('an addon that ends with the running period ends with it at the change', async () => {
    const of = await subscribed({ proration_behavior: 'create_prorations' });
    const addon = await world.api.postOk('/v1/addons', {
      name: 'More',
      lookup_key: `more${(counter += 1)}`,
    });
    await world.catalog.fixed(addon, '30', { entity_type: 'ADDON', display_name: 'More' });
    const { id } = of.subscription;
    for (const more of [{ cadence: 'onetime' }, {}])
      await world.api.postOk('/v1/subscriptions/addon', {
        ...{ subscription_id: id, addon_id: addon.id, start_date: instant('2026-04-01'), ...more },
      });
    const associations = async () =>
      (await world.api.get(`/v1/subscriptions/${id}/addons/associations`)).body.items;
    const open = (await associations()).find(({ end_date }: any) => end_date === null);
    at('2026-04-10');
    const remove = { action: 'remove', remove: { addon_association_id: open.id } };
    await world.api.postOk(`/v1/subscriptions/${id}/modify/execute`, {
      type: 'addon',
      addon_params: remove,
    });
    at('2026-04-16');
    const { body: shown } = await restart(of, 'preview');
    const { body: done } = await restart(of, 'execute');
    expect(money(done.changed_resources.invoices)[0]).toEqual([
      '45',
      'Base 1 -25 04-16..05-01',
      'Base 1 100 04-16..05-16',
      'More 1 -15 04-16..05-01',
      'More 1 -15 04-16..05-01',
    ]);
    expect(money(shown.changed_resources.invoices)).toEqual(money(done.changed_resources.invoices));
    expect(await associations()).toEqual([]);
    await billed('2026-05-16');
    const last = (await invoicesOf(of.subscription)).at(-1);
    expect(rows(last).filter((row: string) => row.startsWith('More'))).toEqual([]);
  });

  /** 5 free calls in the old plan and 7 in the new one. */
  async function freeCalls(usage_reset_period: string) {
    const of = await subscribed();
    const feature = await world.api.postOk('/v1/features', {
      name: 'Calls',
      type: 'metered',
      lookup_key: `calls${(counter += 1)}`,
      meter_id: of.meter.id,
    });
    const grants = [[of.from, 5], [of.to, 7]] as const; // prettier-ignore
    for (const [plan, usage_limit] of grants)
      await world.api.postOk('/v1/entitlements', {
        entity_type: 'PLAN',
        entity_id: plan.id,
        feature_id: feature.id,
        feature_type: 'metered',
        usage_limit,
        usage_reset_period,
      });
    return of;
  }

  test('an allowance of the old plan counts until the change, that of the new plan from it', async () => {
    const of = await freeCalls('MONTHLY');
    await of.use('2026-04-05', '9');
    await of.use('2026-04-15', '9');
    at('2026-04-11');
    await restart(of, 'execute', { proration_behavior: 'none' });
    await billed('2026-05-11');
    const [, , draft, cycle] = await invoicesOf(of.subscription);
    expect(rows(draft)).toContain('Calls 4 4 04-01..04-11');
    expect(rows(cycle)).toContain('Calls 2 1 04-11..05-11');
  });

  test('a day of an allowance goes on: what was used of it before the change counts', async () => {
    const of = await freeCalls('DAILY');
    await of.use('2026-04-11T06:00:00.000Z', '6');
    await of.use('2026-04-11T18:00:00.000Z', '4');
    at('2026-04-11T12:00:00.000Z');
    await restart(of, 'execute', { proration_behavior: 'none' });
    await billed('2026-05-11T12:00:00.000Z');
    const [, , draft, cycle] = await invoicesOf(of.subscription);
    expect(rows(draft)).toContain('Calls 1 1 04-01..04-11');
    // 10 of the day, of which 7 are free and 6 were used before.
    expect(rows(cycle)).toContain('Calls 3 1.5 04-11..05-11');
  });

  test('a commitment of the period is cut with it; the grants of the new plan begin with its period', async () => {
    const of = await subscribed({
      commitment_amount: '90',
      enable_true_up: true,
      proration_behavior: 'create_prorations',
    });
    await world.api.postOk('/v1/creditgrants', {
      name: 'Credits',
      scope: 'PLAN',
      plan_id: of.to.id,
      credits: '12',
      cadence: 'RECURRING',
      period: 'MONTHLY',
      period_count: 1,
      expiration_type: 'NEVER',
    });
    await of.use('2026-04-05', '10');
    at('2026-04-11');
    await restart(of, 'execute');
    const [, , draft] = await invoicesOf(of.subscription);
    // 10 of 30 days of 90.00: 30.00, of which 10.00 is used.
    expect(rows(draft).slice(1)).toEqual([
      'Calls 10 10 04-01..04-11',
      expect.stringMatching(/ 20 04-01\.\.04-11$/),
    ]);
    const { body: grants } = await world.api.get(
      `/v1/subscriptions/${of.subscription.id}/grants/upcoming`,
    );
    expect([grants.items?.[0]?.period_start ?? grants.items?.[0]?.scheduled_for]).toEqual([
      instant('2026-05-11'),
    ]);
    await billed('2026-05-11');
    expect(rows((await invoicesOf(of.subscription)).at(-1))).toContainEqual(
      expect.stringMatching(/ 90 04-11\.\.05-11$/),
    );
  });

  test('again and again: the time sold has no gap and no overlap', async () => {
    const of = await subscribed({ proration_behavior: 'create_prorations' });
    const times = [
      '2026-04-11',
      '2026-04-20T12:34:56.789Z',
      '2026-05-31',
      '2026-06-29',
      '2027-03-01',
    ];
    let plan = of.to;
    for (const time of times) {
      await billed(time);
      const { status } = await restart({ ...of, to: plan }, 'execute');
      expect(status).toBe(200);
      plan = plan === of.to ? of.from : of.to;
    }
    await billed('2027-05-02');
    const changes = await world.api.pool<{ rows: any[] }[]>`
      select rows from subscription_changes where subscription_id = ${of.subscription.id}`;
    const invoices = await invoicesOf(of.subscription);
    const lines = invoices
      .filter(({ billing_reason }) => billing_reason !== 'SUBSCRIPTION_UPDATE')
      .flatMap(({ line_items }) => line_items)
      .map((row: any) => ({ ...row, kind: 'base' }));
    const sold = [...lines, ...changes.flatMap(({ rows }) => rows)];
    const { body: items } = await world.api.post('/v1/subscriptions/lineitems/search', {
      subscription_ids: [of.subscription.id],
      limit: 500,
    });
    const nameOf = new Map(items.items.map((line: any) => [line.id, line.display_name]));
    const until = instant('2027-05-01');
    for (const name of ['Base', 'Support', 'Calls']) {
      const own = sold.filter(
        (row: any) => (row.display_name ?? nameOf.get(row.line_item_id)) === name,
      );
      const ms = own.map((row: any) => {
        const length = Date.parse(row.period_end) - Date.parse(row.period_start);
        return row.kind === 'credit' ? -length : length;
      });
      const end = name === 'Base' ? instant('2027-06-01') : until;
      expect([name, ms.reduce((sum, one) => sum + one, 0)]).toEqual([
        name,
        Date.parse(end) - Date.parse(instant('2026-04-01')),
      ]);
    }
    expect(await read(of.subscription)).toMatchObject({
      billing_anchor: instant('2027-03-01'),
      current_period_start: until,
    });
  });

  test('after a pause in the period: the new period begins and ends with the new anchor', async () => {
    const sold = await subscribed();
    const { subscription } = sold;
    at('2026-04-05');
    await world.api.postOk(`/v1/subscriptions/${subscription.id}/pause`, {});
    at('2026-04-10');
    await world.api.postOk(`/v1/subscriptions/${subscription.id}/resume`, {});
    expect(await read(subscription)).toMatchObject({
      current_period_start: instant('2026-04-01'),
      current_period_end: instant('2026-05-06'),
    });
    at('2026-04-20');
    expect((await restart(sold, 'execute')).status).toBe(200);
    expect(await read(subscription)).toMatchObject({
      billing_anchor: instant('2026-04-20'),
      current_period_start: instant('2026-04-20'),
      current_period_end: instant('2026-05-20'),
    });
    const changed = (await invoicesOf(subscription)).find(
      ({ billing_reason }) => billing_reason === 'SUBSCRIPTION_UPDATE',
    );
    expect(rows(changed)).toEqual(
      expect.arrayContaining(['Base 1 100 04-20..05-20', 'Base 1 -26.67 04-20..05-06']),
    );
    await billed('2026-05-20');
    expect(await read(subscription)).toMatchObject({
      current_period_start: instant('2026-05-20'),
      current_period_end: instant('2026-06-20'),
    });
  });

  test('then a pause, a cancellation with credit: the new period is what is shifted and credited', async () => {
    const of = await subscribed({ proration_behavior: 'create_prorations' });
    at('2026-04-11');
    await restart(of, 'execute');
    at('2026-04-21');
    await world.api.postOk(`/v1/subscriptions/${of.subscription.id}/pause`, {});
    at('2026-04-26');
    await world.api.postOk(`/v1/subscriptions/${of.subscription.id}/resume`, {});
    expect(await read(of.subscription)).toMatchObject({
      current_period_end: instant('2026-05-16'),
    });
    await billed('2026-05-16');
    expect(rows((await invoicesOf(of.subscription)).at(-1))).toEqual([
      'Base 1 100 05-16..06-16',
      'Support 1 60 04-11..05-16',
      'Calls 0 0 04-11..05-16',
    ]);
  });
});

describe('at the end of the period', () => {
  const later = { change_at: 'end_of_period', proration_behavior: 'none' };

  test('the job moves the anchor to the boundary: a month that was cut short is not one any more', async () => {
    world.api.clock.set(instant('2026-01-31'));
    const of = await subscribed({ start_date: instant('2026-01-31') });
    await of.use('2026-02-05', '6');
    const { body: shown } = await restart(of, 'preview', later);
    const { status, body } = await restart(of, 'execute', later);
    expect([status, body.is_scheduled, body.scheduled_at]).toEqual([
      200,
      true,
      instant('2026-02-28'),
    ]);
    expect(shown.scheduled_at).toBe(body.scheduled_at);
    expect(await read(of.subscription)).toMatchObject({ billing_anchor: instant('2026-01-31') });
    await billed('2026-03-29');
    expect(await read(of.subscription)).toMatchObject({
      plan_id: of.to.id,
      billing_anchor: instant('2026-02-28'),
      current_period_start: instant('2026-03-28'),
      current_period_end: instant('2026-04-28'),
    });
    const [, first, second] = await invoicesOf(of.subscription);
    expect([rows(first), rows(second)]).toEqual([
      ['Base 1 100 02-28..03-28', 'Support 1 30 01-31..02-28', 'Calls 6 6 01-31..02-28'],
      ['Base 1 100 03-28..04-28', 'Support 1 60 02-28..03-28', 'Calls 0 0 02-28..03-28'],
    ]);
  });

  test('with a test clock', async () => {
    const { from, to } = await plans();
    const clock = await world.api.postOk('/v1/test-clocks', { now: instant('2026-01-31') });
    const customer = await world.catalog.customer({ test_clock_id: clock.id });
    const subscription = await world.catalog.subscribe(customer, from, {});
    await restart({ subscription, to }, 'execute', later);
    await world.advance(clock, instant('2026-03-28'));
    const [, first] = await invoicesOf(subscription);
    expect(rows(first)[0]).toBe('Base 1 100 02-28..03-28');
    const { body } = await restart({ subscription, to: from }, 'execute', {
      proration_behavior: 'create_prorations',
    });
    // The clock stands on the boundary, where the period begins anyway.
    expect(body.details?.[0]?.path).toBe('billing_period_behaviour');
    await world.advance(clock, '2026-04-12T06:00:00.000Z');
    const { status } = await restart({ subscription, to: from }, 'execute');
    expect(status).toBe(200);
    await world.advance(clock, instant('2026-05-13'));
    expect(await read(subscription)).toMatchObject({
      billing_anchor: '2026-04-12T06:00:00.000Z',
      current_period_start: '2026-05-12T06:00:00.000Z',
    });
  });
});

test('in the earlier form: the same change, with the periods before and after it', async () => {
  const of = await subscribed();
  at('2026-04-11');
  const body = {
    target_plan_id: of.to.id,
    proration_behavior: 'create_prorations',
    billing_cadence: 'RECURRING',
    billing_period: 'MONTHLY',
    billing_cycle: 'anniversary',
    billing_period_behaviour: 'anchor_at_effect',
  };
  const path = `/subscriptions/${of.subscription.id}/change`;
  const shown = await world.api.postOk(`/v1${path}/preview`, body);
  expect(shown).toMatchObject({
    proration_details: { charge_amount: '100', credit_amount: '33.33', net_amount: '66.67' },
    next_invoice_preview: { total: '66.67' },
    new_billing_cycle: {
      billing_anchor: instant('2026-04-11'),
      period_start: instant('2026-04-11'),
      period_end: instant('2026-05-11'),
    },
  });
  const done = await world.api.postOk(`/v1${path}/execute`, body);
  expect(done).toMatchObject({
    invoice: { total: '66.67' },
    proration_applied: shown.proration_details,
    old_subscription: { plan_id: of.from.id, current_period_end: instant('2026-05-01') },
    new_subscription: { plan_id: of.to.id, current_period_end: instant('2026-05-11') },
  });
});

describe('refused, by name', () => {
  test.each([
    ['in a trial', { trial_period_days: 20 }, {}, '2026-04-11', 'billing_period_behaviour'],
    ['on a calendar', { billing_cycle: 'calendar' }, {}, '2026-04-11', 'billing_period_behaviour'],
    ['where the period begins', {}, {}, '2026-04-01', 'billing_period_behaviour'],
    [
      'before the start',
      { start_date: instant('2026-04-20') },
      {},
      '2026-04-11',
      'billing_period_behaviour',
    ],
    ['with a checkout', {}, { checkout: { payment_provider: 'test' } }, '2026-04-11', 'checkout'],
  ])('%s', async (_, more, asked, time, path) => {
    const of = await subscribed(more);
    at(time);
    for (const kind of ['preview', 'execute'] as const) {
      const { status, body } = await restart(of, kind, asked);
      expect([status, body.details[0].path]).toEqual([400, path]);
    }
  });
});
