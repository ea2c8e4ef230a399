import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { eventsOf } from '../../support/payments.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-04-01T00:00:00.000Z');

const rows = (invoice: any) =>
  invoice.line_items.map(
    (line: any) =>
      `${line.display_name} ${line.quantity} ${line.amount} ${line.period_start.slice(5, 10)}..${line.period_end.slice(5, 10)}`,
  );
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items
    .sort((left: any, right: any) => left.billing_sequence - right.billing_sequence)
    .map((invoice: any) => [invoice.billing_reason, ...rows(invoice)]);
}
const read = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${id}`)).body;

async function plan() {
  const { catalog } = world;
  const starter = await catalog.plan();
  const meter = await catalog.meter();
  const base = await catalog.fixed(starter, '30', { display_name: 'Base' });
  const setup = await catalog.fixed(starter, '5', {
    display_name: 'Setup',
    billing_period: 'ONETIME',
  });
  const calls = await catalog.usage(starter, meter, { display_name: 'Calls', amount: '1' });
  await completeBackfills(world.api.pool);
  return { starter, meter, base, setup, calls, customer: await catalog.customer() };
}

/** 30.00 until 11 April, 60.00 from then on: April has 30 days. */
async function phased(more: object = {}, second: object = {}) {
  const sold = await plan();
  const subscription = await world.catalog.subscribe(sold.customer, sold.starter, {
    start_date: day('2026-04-01'),
    phases: [
      { start_date: day('2026-04-01'), end_date: day('2026-04-11'), metadata: { n: '1' } },
      {
        start_date: day('2026-04-11'),
        override_line_items: [
          { price_id: sold.base.id, amount: '60' },
          { price_id: sold.calls.id, amount: '2' },
        ],
        ...second,
      },
    ],
    ...more,
  });
  return { ...sold, subscription };
}

describe('phases at creation (billing 11)', () => {
  test('each has its lines in its time; the invoice of the start bills both slices', async () => {
    const { subscription } = await phased();
    expect(subscription.phases).toMatchObject([
      { start_date: day('2026-04-01'), end_date: day('2026-04-11'), metadata: { n: '1' } },
      { start_date: day('2026-04-11'), end_date: null, metadata: {} },
    ]);
    const [first, second] = subscription.phases;
    expect(
      subscription.line_items.map((line: any) => [
        line.display_name,
        line.subscription_phase_id,
        line.start_date,
        line.end_date,
      ]),
    ).toEqual([
      ['Base', first.id, day('2026-04-01'), day('2026-04-11')],
      ['Setup', first.id, day('2026-04-01'), day('2026-04-11')],
      ['Calls', first.id, day('2026-04-01'), day('2026-04-11')],
      ['Base', second.id, day('2026-04-11'), null],
      ['Calls', second.id, day('2026-04-11'), null],
    ]);
    expect(rows(subscription.latest_invoice)).toEqual([
      'Base 1 10 04-01..04-11',
      'Setup 1 5 04-01..04-01',
      'Base 1 40 04-11..05-01',
    ]);
    expect(await eventsOf(world.api, first.id)).toEqual(['subscription.phase.created']);
  });

  test('the billing run goes from phase to phase: usage by the price of its phase, then the new fee', async () => {
    const { subscription, meter, customer } = await phased();
    await world.usage.use(meter, customer, '2026-04-10T23:59:59.999Z', '3');
    await world.usage.use(meter, customer, day('2026-04-11'), '4');
    world.api.clock.set(day('2026-05-01'));
    await world.close();
    const [, cycle] = await invoicesOf(subscription);
    expect(cycle).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Base 1 60 05-01..06-01',
      'Calls 3 3 04-01..04-11',
      'Calls 4 8 04-11..05-01',
    ]);
  });

  test('a last phase with an end ends the subscription', async () => {
    const { subscription } = await phased({}, { end_date: day('2026-05-16') });
    expect(subscription.end_date).toBe(day('2026-05-16'));
    world.api.clock.set(day('2026-05-16'));
    await world.close();
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'cancelled',
      end_date: day('2026-05-16'),
    });
  });

  test('coupons, lines, commitments and one-time fees of a phase; overrides of the subscription', async () => {
    const coupon = async (percentage_off: string) =>
      (
        await world.api.post('/v1/coupons', {
          name: 'Off', type: 'percentage', percentage_off, cadence: 'forever',
        })
      ).body.id; // prettier-ignore
    const [tenth, half] = [await coupon('10'), await coupon('50')];
    const sold = await plan();
    const extra = await world.catalog.fixed(sold.starter, '3', { display_name: 'Extra' });
    const subscription = await world.catalog.subscribe(sold.customer, sold.starter, {
      start_date: day('2026-04-01'),
      include_price_ids: [sold.base.id, sold.setup.id, sold.calls.id],
      override_line_items: [{ price_id: sold.base.id, amount: '15' }],
      line_item_commitments: { [sold.calls.id]: { commitment_amount: '9', overage_factor: '1', enable_true_up: true } },
      phases: [
        { start_date: day('2026-04-01'), end_date: day('2026-05-01'), coupons: [tenth] },
        {
          start_date: day('2026-05-01'),
          override_line_items: [{ price_id: sold.setup.id, quantity: '2' }],
          line_items: [{ price_id: extra.id }],
          line_item_coupons: { [extra.id]: [half] },
          line_item_commitments: { [sold.calls.id]: { commitment_amount: '20', overage_factor: '1', enable_true_up: true } },
        },
      ],
    }); // prettier-ignore
    expect(subscription.coupon_associations).toMatchObject([
      { start_date: day('2026-04-01'), end_date: day('2026-05-01') },
      { start_date: day('2026-05-01'), end_date: null },
    ]);
    expect(subscription.coupon_associations.map((one: any) => one.subscription_phase_id)).toEqual(
      subscription.phases.map(({ id }: { id: string }) => id),
    );
    expect(subscription.latest_invoice).toMatchObject({ subtotal: '20', total_discount: '2' });
    for (const date of ['2026-05-01', '2026-06-01']) {
      world.api.clock.set(day(date));
      await world.close();
    }
    const [, may, june] = await invoicesOf(subscription);
    expect(may).toEqual([
      'SUBSCRIPTION_CYCLE',
      'Base 1 15 05-01..06-01',
      'Setup 2 10 05-01..05-01',
      'Extra 1 3 05-01..06-01',
      'Calls 0 9 04-01..05-01',
    ]);
    expect(june).toContain('Calls 0 20 05-01..06-01');
    const { body } = await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
    });
    const discounts = body.items.map((invoice: any) => invoice.total_discount).sort();
    // April: a tenth of 20. On the invoice of 1 May a tenth of the true-up of April, and half of Extra.
    expect(discounts).toEqual(['1.5', '2', '2.4']);
  });

  test.each`
    why                                  | phases                                                                                                 | path
    ${'not from the start'}              | ${[{ start_date: day('2026-04-02') }]}                                                                 | ${'phases[0].start_date'}
    ${'a gap'}                           | ${[{ start_date: day('2026-04-01'), end_date: day('2026-05-01') }, { start_date: day('2026-05-02') }]} | ${'phases[1].start_date'}
    ${'an open phase before the last'}   | ${[{ start_date: day('2026-04-01') }, { start_date: day('2026-05-02') }]}                              | ${'phases[0].end_date'}
    ${'an end before the start'}         | ${[{ start_date: day('2026-04-01'), end_date: day('2026-03-01') }]}                                    | ${'phases[0].end_date'}
    ${'another end than subscription'}   | ${[{ start_date: day('2026-04-01'), end_date: day('2027-05-01') }]}                                    | ${'phases[0].end_date'}
    ${'an override of an unknown price'} | ${[{ start_date: day('2026-04-01'), override_line_items: [{ price_id: 'price_none', amount: '1' }] }]} | ${'phases[0].override_line_items[0].price_id'}
    ${'a coupon of an unknown line'}     | ${[{ start_date: day('2026-04-01'), line_items: [{}] }]}                                               | ${'phases[0].line_items[0].price_id'}
  `('400: $why', async ({ phases, path }) => {
    const { customer, starter } = await plan();
    const { status, body } = await world.api.post('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: starter.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      start_date: day('2026-04-01'),
      end_date: day('2027-04-01'),
      phases,
    });
    expect([status, body.details[0].path]).toEqual([400, path]);
  });

  test('a coupon of two phases in one period discounts the invoice once (billing 7.3)', async () => {
    const { body: four } = await world.api.post('/v1/coupons', {
      name: 'Four', type: 'fixed', amount_off: '4', currency: 'usd', cadence: 'forever',
    }); // prettier-ignore
    const { customer, starter, base } = await plan();
    const override_line_items = [{ price_id: base.id, amount: '60' }];
    const { latest_invoice } = await world.catalog.subscribe(customer, starter, {
      start_date: day('2026-04-01'),
      include_price_ids: [base.id],
      phases: [
        { start_date: day('2026-04-01'), end_date: day('2026-04-11'), coupons: [four.id] },
        { start_date: day('2026-04-11'), coupons: [four.id], override_line_items },
      ],
    });
    // 10.00 and 40.00: both phases have a row.
    expect([latest_invoice.subtotal, latest_invoice.total_discount]).toEqual(['50', '4']);
  });

  test('400: a draft with phases', async () => {
    const { customer, starter } = await plan();
    const refused = await world.api.post('/v1/subscriptions', {
      customer_id: customer.id,
      plan_id: starter.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      subscription_status: 'draft',
      phases: [{ start_date: day('2026-04-01') }],
    });
    expect(refused.body.details[0].path).toBe('phases');
  });
});

describe('phases of a running subscription', () => {
  const june = { start_date: day('2026-06-01') };
  async function sold() {
    const { base, ...more } = await plan();
    const subscription = await world.catalog.subscribe(more.customer, more.starter, {
      start_date: day('2026-04-01'),
      phases: [
        { start_date: day('2026-04-01'), end_date: june.start_date },
        { ...june, override_line_items: [{ price_id: base.id, amount: '60' }] },
      ],
    });
    const path = `/v1/subscriptions/${subscription.id}/phases`;
    return { ...more, base, subscription, path, phases: subscription.phases };
  }
  const fees = async (subscription: { id: string }) =>
    (await read(subscription)).line_items
      .filter((line: any) => line.display_name === 'Base')
      .map((line: any) => [
        line.price.amount,
        line.start_date.slice(0, 10),
        line.end_date?.slice(0, 10) ?? null,
      ]);

  test('list and one of them', async () => {
    const { path, phases } = await sold();
    expect((await world.api.get(path)).body.items).toEqual(phases);
    expect((await world.api.get(`${path}/${phases[1].id}`)).body).toEqual(phases[1]);
    expect((await world.api.get(`${path}/phase_none`)).status).toBe(404);
  });

  test('a boundary moves for both neighbours, and the billing follows', async () => {
    const { path, phases, subscription } = await sold();
    const moved = await world.api.put(`${path}/${phases[1].id}`, {
      start_date: day('2026-05-16'),
      metadata: { moved: 'yes' },
    });
    expect(moved.body).toMatchObject({
      start_date: day('2026-05-16'),
      metadata: { moved: 'yes' },
    });
    expect((await read(subscription)).phases[0].end_date).toBe(day('2026-05-16'));
    expect(await fees(subscription)).toEqual([
      ['30', '2026-04-01', '2026-05-16'],
      ['60', '2026-05-16', null],
    ]);
    await world.api.put(`${path}/${phases[0].id}`, { end_date: day('2026-07-01') });
    expect(await fees(subscription)).toEqual([
      ['30', '2026-04-01', '2026-07-01'],
      ['60', '2026-07-01', null],
    ]);
    expect(await eventsOf(world.api, phases[0].id)).toEqual([
      'subscription.phase.created',
      'subscription.phase.updated',
      'subscription.phase.updated',
    ]);
  });

  test('a phase is added at the end, and ends the subscription; the last end moves it', async () => {
    const { path, subscription, base } = await sold();
    const added = await world.api.post(path, {
      start_date: day('2026-08-01'),
      end_date: day('2026-10-01'),
      override_line_items: [{ price_id: base.id, amount: '90' }],
    });
    expect(added.status).toBe(201);
    expect(await fees(subscription)).toEqual([
      ['30', '2026-04-01', '2026-06-01'],
      ['60', '2026-06-01', '2026-08-01'],
      ['90', '2026-08-01', '2026-10-01'],
    ]);
    expect((await read(subscription)).end_date).toBe(day('2026-10-01'));
    await world.api.put(`${path}/${added.body.id}`, { end_date: day('2026-11-01') });
    expect(await read(subscription)).toMatchObject({ end_date: day('2026-11-01') });
    await world.api.put(`${path}/${added.body.id}`, { end_date: null });
    expect(await read(subscription)).toMatchObject({ end_date: null });
    expect((await fees(subscription)).at(-1)).toEqual(['90', '2026-08-01', null]);
  });

  test('a removed phase leaves its time to the one before it', async () => {
    const { path, phases, subscription } = await sold();
    const removed = await world.api.delete(`${path}/${phases[1].id}`);
    expect(removed.status).toBe(200);
    expect(await fees(subscription)).toEqual([['30', '2026-04-01', null]]);
    expect((await world.api.get(path)).body.items).toHaveLength(1);
    expect((await world.api.get(`${path}/${phases[1].id}`)).status).toBe(404);
    for (const date of ['2026-05-01', '2026-06-01', '2026-07-01']) {
      world.api.clock.set(day(date));
      await world.close();
    }
    expect((await invoicesOf(subscription)).at(-1)).toContain('Base 1 30 07-01..08-01');
  });

  test('400: what is invoiced, out of order, or not there to move', async () => {
    const { path, phases } = await sold();
    const refused = async (phase: number, body: object) =>
      (await world.api.put(`${path}/${phases[phase].id}`, body)).body.details[0].path;
    expect(await refused(0, { start_date: day('2026-03-01') })).toBe('start_date');
    expect(await refused(1, { start_date: day('2026-04-20') })).toBe('start_date');
    expect(await refused(0, { end_date: day('2026-04-20') })).toBe('end_date');
    expect(await refused(0, { end_date: null })).toBe('end_date');
    expect(await refused(1, { end_date: day('2026-05-20') })).toBe('end_date');
    expect((await world.api.delete(`${path}/${phases[0].id}`)).status).toBe(400);
    const gap = await world.api.post(path, { start_date: day('2026-05-15') });
    expect(gap.body.details[0].path).toBe('start_date');
  });
});

describe('a line that is added to a phase (interface, line item request)', () => {
  const add = ({ id }: { id: string }, body: object) =>
    world.api.post(`/v1/subscriptions/${id}/lineitems`, body);

  test('lives in the time of its phase, and moves with it', async () => {
    const { subscription, starter } = await phased();
    const extra = await world.catalog.fixed(starter, '3', { display_name: 'Extra' });
    const [first, second] = subscription.phases;
    const early = await add(subscription, {
      price_id: extra.id, subscription_phase_id: first.id, end_date: day('2026-05-01'),
    }); // prettier-ignore
    expect(early.body).toMatchObject({
      subscription_phase_id: first.id,
      start_date: day('2026-04-01'),
      end_date: day('2026-04-11'),
    });
    const late = await add(subscription, { price_id: extra.id, subscription_phase_id: second.id });
    expect(late.body).toMatchObject({
      subscription_phase_id: second.id,
      start_date: day('2026-04-11'),
      end_date: null,
    });
    const ended = await world.api.put(`/v1/subscriptions/${subscription.id}/phases/${second.id}`, {
      end_date: day('2026-06-01'),
    });
    expect(ended.status).toBe(200);
    const found = await read(subscription);
    expect(found.line_items.find(({ id }: any) => id === late.body.id).end_date).toBe(
      day('2026-06-01'),
    );
  });

  test('is refused outside of the time of its phase, and in a phase of another subscription', async () => {
    const { subscription, starter } = await phased();
    const other = await phased();
    const extra = await world.catalog.fixed(starter, '3', { display_name: 'Extra' });
    const [first, second] = subscription.phases;
    const inPhase = async ({ id }: { id: string }, body: object = {}) =>
      await add(subscription, { price_id: extra.id, subscription_phase_id: id, ...body });
    expect((await inPhase(second, { start_date: day('2026-04-10') })).status).toBe(400);
    expect((await inPhase(first, { start_date: day('2026-04-11') })).status).toBe(400);
    expect((await inPhase(other.subscription.phases[0])).status).toBe(404);
  });

  test('a line of a new phase ends with the phase at the latest', async () => {
    const sold = await plan();
    const extra = await world.catalog.fixed(sold.starter, '3', { display_name: 'Extra' });
    const subscription = await world.catalog.subscribe(sold.customer, sold.starter, {
      start_date: day('2026-04-01'),
      include_price_ids: [],
      phases: [
        {
          start_date: day('2026-04-01'),
          end_date: day('2026-04-11'),
          line_items: [{ price_id: extra.id, end_date: day('2026-06-01') }],
        },
        { start_date: day('2026-04-11') },
      ],
    });
    expect(subscription.line_items).toMatchObject([{ end_date: day('2026-04-11') }]);
  });
});
