import { usageQueryTooLarge } from '../../clickhouse/reading/usage-errors.ts';
import { packPosition } from '../../domain/metering/position.ts';
import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { inTurns } from '../support/turns.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(async () => {
  const { api } = world;
  api.clock.set('2026-03-10T00:00:00.000Z');
  world.heads = {};
  await api.pool`update subscriptions set due_at = null`;
  await api.pool`update invoices set finalize_after = null`;
  await api.pool`delete from stream_progress`;
});

const AFTER_GRACE = '2026-04-01T01:00:00.000Z';

async function subscribed(more: object = {}) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-03-01'),
    ...more,
  });
  return { plan, meter, customer, subscription };
}

/** The March draft of a new subscription, at the end of March. */
async function drafted(quantity = '7', more: object = {}) {
  const made = await subscribed(more);
  if (quantity !== '0')
    await world.usage.use(made.meter, made.customer, '2026-03-15T00:00:00.000Z', quantity);
  world.api.clock.set(day('2026-04-01'));
  await world.close();
  return { ...made, invoice: await cycleOf(made.subscription) };
}
async function cycleOf(subscription: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
    billing_reason: 'SUBSCRIPTION_CYCLE',
  });
  return body.items[0];
}
const setProgress = (offset: number) => world.api.pool`
  insert into stream_progress (epoch, partition, generation, next_offset, catalog_version)
  values (0, 0, 1, ${offset}, 0)
  on conflict (epoch, partition) do update set next_offset = ${offset}`;

describe('drafts are finalized', () => {
  test('not before the grace is over', async () => {
    const { subscription } = await drafted();
    world.api.clock.set('2026-04-01T00:59:59.999Z');
    expect(await world.finalize()).toMatchObject({ finalized: 0, waiting: 0 });
    expect((await cycleOf(subscription)).invoice_status).toBe('DRAFT');
  });

  test('after it, with a number, a due date and their usage read once more', async () => {
    const { subscription, meter, customer } = await drafted();
    await world.usage.use(meter, customer, '2026-03-31T23:59:59.999Z', '3');
    world.api.clock.set(AFTER_GRACE);
    expect(await world.finalize()).toMatchObject({ finalized: 1, waiting: 0, failed: 0 });
    expect(await cycleOf(subscription)).toMatchObject({
      invoice_status: 'FINALIZED',
      payment_status: 'PENDING',
      invoice_number: expect.stringMatching(/^INV-202604-\d{5}$/),
      finalized_at: AFTER_GRACE,
      issue_date: AFTER_GRACE,
      due_date: '2026-04-02T01:00:00.000Z',
      total: '5',
      line_items: [{ quantity: '10', amount: '5' }],
    });
    expect(await world.finalize()).toMatchObject({ finalized: 0 });
  });

  test('payment terms count from the issue, in the customer zone', async () => {
    const { subscription } = await drafted('7', {
      payment_terms: '30 NET',
      customer_timezone: 'America/New_York',
    });
    world.api.clock.set(AFTER_GRACE);
    await world.finalize();
    expect((await cycleOf(subscription)).due_date).toBe('2026-05-01T01:00:00.000Z');
  });

  test('a row keeps its id through every computation', async () => {
    const { subscription, invoice } = await drafted();
    world.api.clock.set(AFTER_GRACE);
    await world.finalize();
    const final = await cycleOf(subscription);
    expect(final.line_items.map(({ id }: any) => id)).toEqual(
      invoice.line_items.map(({ id }: any) => id),
    );
  });

  test('a period back-dated by its subscription has its grace from when that was made', async () => {
    world.api.clock.set('2026-05-10T00:00:00.000Z');
    const { subscription, meter, customer } = await subscribed();
    await world.close();
    expect(await world.finalize()).toMatchObject({ finalized: 0, skipped: 0 });
    await world.usage.use(meter, customer, '2026-03-15T00:00:00.000Z', '8');
    world.api.clock.set('2026-05-10T01:00:00.000Z');
    expect(await world.finalize()).toMatchObject({ finalized: 1, skipped: 1 });
    expect(
      (
        await world.api.post('/v1/invoices/search', {
          subscription_id: subscription.id,
          invoice_status: ['FINALIZED'],
        })
      ).body.items,
    ).toMatchObject([{ total: '4', period_start: day('2026-03-01') }]);
  });
});

describe('the stream has to pass the heads that the log had after the grace (metering 5)', () => {
  test('until it has, the draft waits; then it is finalized', async () => {
    const { subscription } = await drafted();
    world.api.clock.set(AFTER_GRACE);
    // The head is ahead of everything that the store has.
    world.heads = { 0: packPosition(0, 1_000_000n, 0) };
    await setProgress(10);
    expect(await world.finalize()).toMatchObject({ finalized: 0, waiting: 1 });
    expect((await cycleOf(subscription)).invoice_status).toBe('DRAFT');

    // The heads that were noted first count, however far the log has grown since.
    world.heads = { 0: packPosition(0, 9_000_000n, 0) };
    await world.api
      .pool`update invoices set stream_heads = ${world.api.pool.json({ 0: '0' })} where subscription_id = ${subscription.id}`;
    expect(await world.finalize()).toMatchObject({ finalized: 1, waiting: 0 });
  });

  test('an invoice of fixed fees does not wait', async () => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10', { invoice_cadence: 'ARREAR' });
    const customer = await catalog.customer();
    await catalog.subscribe(customer, plan, { start_date: day('2026-03-01') });
    api.clock.set(AFTER_GRACE);
    await world.close();
    world.heads = { 0: packPosition(0, 1_000_000n, 0) };
    expect(await world.finalize()).toMatchObject({ finalized: 1, waiting: 0 });
  });
});

describe('nothing to pay', () => {
  test('a period of zero rows is skipped: no number; late usage within the grace revives it', async () => {
    const { subscription, meter, customer, invoice } = await drafted('0');
    expect(invoice).toMatchObject({ invoice_status: 'SKIPPED', invoice_number: null });
    await world.usage.use(meter, customer, '2026-03-20T00:00:00.000Z', '4');
    world.api.clock.set(AFTER_GRACE);
    expect(await world.finalize()).toMatchObject({ finalized: 1, skipped: 0 });
    expect(await cycleOf(subscription)).toMatchObject({ invoice_status: 'FINALIZED', total: '2' });
  });

  test('without usage it stays skipped, and the job is done with it', async () => {
    const { subscription } = await drafted('0');
    world.api.clock.set(AFTER_GRACE);
    expect(await world.finalize()).toMatchObject({ finalized: 0, skipped: 1 });
    expect(await cycleOf(subscription)).toMatchObject({
      invoice_status: 'SKIPPED',
      invoice_number: null,
      finalized_at: null,
    });
    expect(await world.finalize()).toMatchObject({ finalized: 0, skipped: 0 });
  });
});

describe('what cannot be finalized', () => {
  test('usage cannot be read: nothing is written, the next run does it', async () => {
    const { subscription } = await drafted();
    world.api.clock.set(AFTER_GRACE);
    world.usage.outage(true);
    expect(await world.finalize()).toBeNull();
    expect((await cycleOf(subscription)).invoice_status).toBe('DRAFT');
    world.usage.outage(false);
    expect(await world.finalize()).toMatchObject({ finalized: 1 });
  });

  test('one that fails does not delay the others, and is tried again', async () => {
    const bad = await drafted();
    await world.api.pool`update subscriptions set due_at = null`;
    world.api.clock.set('2026-03-10T00:00:00.000Z');
    const good = await drafted();
    const { pool } = world.api;
    await pool`update subscription_line_items set price_id = 'price_gone' where subscription_id = ${bad.subscription.id}`;
    world.api.clock.set(AFTER_GRACE);
    expect(await world.finalize()).toMatchObject({ finalized: 1, failed: 1 });
    expect((await cycleOf(good.subscription)).invoice_status).toBe('FINALIZED');
    expect(await world.finalize()).toMatchObject({ finalized: 0, failed: 1 });
  });

  test('one that was finalized by hand meanwhile is left alone', async () => {
    const { subscription, invoice } = await drafted();
    expect((await world.api.post(`/v1/invoices/${invoice.id}/finalize`)).status).toBe(200);
    world.api.clock.set(AFTER_GRACE);
    expect(await world.finalize()).toMatchObject({ finalized: 0, failed: 0 });
    expect((await cycleOf(subscription)).finalized_at).toBe(day('2026-04-01'));
  });
});

test('a draft that is edited while it is refused keeps no refusal of its earlier rows', async () => {
  const { subscription, customer, invoice } = await drafted();
  const { api, usage } = world;
  usage.failFor(customer, usageQueryTooLarge('more usage than one call may read'));
  api.clock.set(AFTER_GRACE);
  await api.pool`update invoices set stream_heads = '{}' where id = ${invoice.id}`;
  const edit = { action: 'update', id: invoice.line_items[0].id, amount: '9' };
  const [edited] = await inTurns<[{ status: number }, unknown]>(
    api,
    (tx) => tx`select from invoices where id = ${invoice.id} for update`,
    () => api.post(`/v1/invoices/${invoice.id}/modify/execute`, { line_items: [edit] }),
    () => world.finalize(),
  );
  expect(edited.status).toBe(200);
  expect(await cycleOf(subscription)).toMatchObject({ finalize_refusal: null });
  expect(await world.finalize()).toMatchObject({ finalized: 1 });
  expect(await cycleOf(subscription)).toMatchObject({ invoice_status: 'FINALIZED', total: '9' });
  usage.failFor(customer, null);
});
