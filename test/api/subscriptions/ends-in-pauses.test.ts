import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** What the time of a pause is worth in which a subscription ends: nothing (billing 12.8). */
const world = billingWorldFrom(day('2026-01-01'));

let count = 0;

/** From 1 January, with prorations: calls of which 93 are free, and 310.00 promised for a quarter, each at 1.00. */
async function subscribed() {
  const { api, catalog, usage } = world;
  const plan = await catalog.plan();
  const [calls, term] = [await catalog.meter(), await catalog.meter()];
  await catalog.usage(plan, calls, { display_name: 'Calls', amount: '1' });
  const promised = await catalog.usage(plan, term, { display_name: 'Term', amount: '1' });
  const feature = await api.postOk('/v1/features', {
    ...{ name: 'Calls', type: 'metered', meter_id: calls.id, lookup_key: `ends${(count += 1)}` },
  });
  await api.postOk('/v1/entitlements', {
    ...{ entity_type: 'PLAN', entity_id: plan.id, feature_id: feature.id },
    ...{ feature_type: 'metered', usage_limit: 93 },
  });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    ...{ start_date: day('2026-01-01'), proration_behavior: 'create_prorations' },
    line_item_commitments: {
      [promised.id]: {
        ...{ commitment_type: 'amount', commitment_amount: '310', overage_factor: '1' },
        ...{ commitment_duration: 'QUARTERLY', enable_true_up: true },
      },
    },
  });
  await usage.use(calls, customer, day('2026-01-05'), '100');
  return subscription;
}

test('without prorations the commitment of a period is whole', async () => {
  const { api, catalog } = world;
  const plan = await catalog.plan();
  const promised = await catalog.usage(plan, await catalog.meter(), { display_name: 'Calls' });
  await completeBackfills(api.pool);
  const subscription = await catalog.subscribe(await catalog.customer(), plan, {
    ...{ start_date: day('2026-01-01'), proration_behavior: 'none' },
    line_item_commitments: {
      [promised.id]: {
        ...{ commitment_type: 'amount', commitment_amount: '31', overage_factor: '1' },
        enable_true_up: true,
      },
    },
  });
  const post = (path: string, body: object) =>
    api.postOk(`/v1/subscriptions/${subscription.id}/${path}`, body);
  const end = '2026-01-31T23:00:00.000Z';
  await post('cancel', { cancellation_type: 'scheduled_date', cancel_at: end });
  api.clock.set(day('2026-01-11'));
  await post('pause', { pause_mode: 'immediate' });
  api.clock.set(end);
  await world.close();
  expect(await final(subscription)).toEqual(['Calls 0 31']);
});

async function final({ id }: { id: string }): Promise<string[]> {
  world.api.clock.set(day('2026-02-06'));
  await world.finalize();
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  const { invoice_status, line_items } = body.items[0];
  expect(invoice_status).toBe('FINALIZED');
  return line_items.map((row: any) => `${row.display_name} ${row.quantity} ${row.amount}`);
}

test.each([
  ['at once', '2026-01-31T23:00:00.000Z', null],
  ['at a date in the period', '2026-01-31T23:00:00.000Z', 'scheduled_date'],
  ['at the end of the period', day('2026-02-01'), 'end_of_period'],
  ['at a date after it', day('2026-02-05'), 'scheduled_date'],
])(
  'free usage and a term are for the 10 days before the pause: it is cancelled %s',
  async (_, end, planned) => {
    const subscription = await subscribed();
    const post = (path: string, body: object) =>
      world.api.postOk(`/v1/subscriptions/${subscription.id}/${path}`, body);
    if (planned !== null)
      await post('cancel', {
        cancellation_type: planned,
        ...(planned === 'scheduled_date' ? { cancel_at: end } : {}),
      });
    world.api.clock.set(day('2026-01-11'));
    await post('pause', { pause_mode: 'immediate' });
    world.api.clock.set(end);
    if (planned === null) await post('cancel', { cancellation_type: 'immediate' });
    await world.close();
    // 30 of 93 for 10 of 31 days, and 10 of 90 days of 310.00.
    expect(await final(subscription)).toEqual(['Calls 70 70', 'Term 0 0', 'Term True Up 1 34.44']);
  },
);

/** From 1 January, with prorations: 310.00 promised for a quarter. */
async function soldFor(terms: (priceId: string) => object) {
  const { api, catalog } = world;
  const plan = await catalog.plan();
  const promised = await catalog.usage(plan, await catalog.meter(), {
    ...{ display_name: 'Term', amount: '1' },
  });
  await completeBackfills(api.pool);
  const subscription = await catalog.subscribe(await catalog.customer(), plan, {
    ...{ start_date: day('2026-01-01'), proration_behavior: 'create_prorations' },
    ...terms(promised.id),
  });
  const post = (path: string, body: object) =>
    api.postOk(`/v1/subscriptions/${subscription.id}/${path}`, body);
  return { subscription, post };
}

/** The same, in a pause from the end of January. */
async function pausedFromTheEnd(terms: (priceId: string) => object) {
  const sold = await soldFor(terms);
  await sold.post('pause', { pause_mode: 'period_end' });
  return sold;
}

const QUARTER = { commitment_duration: 'QUARTERLY', enable_true_up: true, overage_factor: '1' };
const ofLine = (terms: object) => (priceId: string) => ({
  line_item_commitments: {
    [priceId]: { ...QUARTER, commitment_type: 'amount', commitment_amount: '310', ...terms },
  },
});

const ofSubscription = () => ({ ...QUARTER, commitment_amount: '310' });
const onCalendar = (terms: ReturnType<typeof ofLine>) => (priceId: string) => ({
  ...terms(priceId),
  billing_cycle: 'calendar',
});

/** The rows of all invoices that are not zero, the newest invoice first. */
async function billed({ id }: { id: string }): Promise<string[]> {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items
    .flatMap(({ line_items }: any) => line_items)
    .filter(({ amount }: any) => amount !== '0')
    .map((row: any) => `${row.display_name} ${row.amount}`);
}

describe('a pause from the end of a period, in which the subscription ends', () => {
  test.each([
    ['a line', 'at once', ofLine({}), null],
    ['a line', 'at a date', ofLine({}), 'scheduled_date'],
    ['a line, on a calendar', 'at once', onCalendar(ofLine({})), null],
    ['the subscription', 'at once', ofSubscription, null],
  ])('the term of %s is for the 31 days before it: cancelled %s', async (_, __, terms, planned) => {
    const { subscription, post } = await pausedFromTheEnd(terms);
    const end = day('2026-02-10');
    world.api.clock.set(day('2026-02-02'));
    await world.close();
    if (planned !== null) await post('cancel', { cancellation_type: planned, cancel_at: end });
    world.api.clock.set(end);
    if (planned === null) await post('cancel', { cancellation_type: 'immediate' });
    await world.close();
    world.api.clock.set(day('2026-02-20'));
    await world.finalize();
    // 31 of 90 days of 310.00.
    expect(await billed(subscription)).toEqual([expect.stringMatching(/True Up 106\.78$/)]);
  });

  test.each([
    ['a commitment of a period', ofLine({ commitment_duration: 'MONTHLY' }), ['Term 310']],
    [
      'a commitment of the subscription for a period',
      () => ({ ...QUARTER, commitment_duration: 'MONTHLY', commitment_amount: '310' }),
      [expect.stringMatching(/True Up 310$/)],
    ],
    ['a term without true-up', ofLine({ enable_true_up: false }), []],
  ])('nothing more is billed of %s', async (_, terms, all) => {
    const { subscription, post } = await pausedFromTheEnd(terms);
    world.api.clock.set(day('2026-02-10'));
    await world.close();
    await post('cancel', { cancellation_type: 'immediate' });
    await world.close();
    world.api.clock.set(day('2026-02-20'));
    await world.finalize();
    expect(await billed(subscription)).toEqual(all);
  });

  test('a term that ended with the period is billed once, and the next one not at all', async () => {
    const { subscription, post } = await pausedFromTheEnd((priceId) => ({
      ...ofLine({})(priceId),
      proration_behavior: 'none',
      start_date: day('2025-11-01'),
    }));
    world.api.clock.set(day('2026-02-10'));
    await world.close();
    await post('cancel', { cancellation_type: 'immediate' });
    await world.close();
    world.api.clock.set(day('2026-02-20'));
    await world.finalize();
    expect(await billed(subscription)).toEqual(['Term True Up 310']);
  });
});

describe('cancelled in the instant in which the first period ends: the term is for its 31 days', () => {
  test.each([
    ['of a line, with a pause', ofLine({}), true, 'immediate'],
    ['of a line on a calendar, with a pause', onCalendar(ofLine({})), true, 'immediate'],
    ['of the subscription, with a pause', ofSubscription, true, 'immediate'],
    ['of a line, with a pause, as scheduled', ofLine({}), true, 'end_of_period'],
    ['of a line', ofLine({}), false, 'immediate'],
    ['of the subscription', ofSubscription, false, 'immediate'],
  ])('%s', async (_, terms, isPaused, cancellation_type) => {
    const { subscription, post } = await soldFor(terms);
    if (isPaused) await post('pause', { pause_mode: 'period_end' });
    if (cancellation_type === 'end_of_period') await post('cancel', { cancellation_type });
    world.api.clock.set(day('2026-02-01'));
    await world.close();
    if (cancellation_type === 'immediate') await post('cancel', { cancellation_type });
    await world.close();
    world.api.clock.set(day('2026-02-20'));
    await world.finalize();
    expect(await billed(subscription)).toEqual([expect.stringMatching(/True Up 106\.78$/)]);
  });

  test('a term that has not begun bills nothing', async () => {
    const { subscription, post } = await soldFor(ofLine({}));
    await post('cancel', { cancellation_type: 'immediate' });
    await world.close();
    world.api.clock.set(day('2026-02-20'));
    await world.finalize();
    expect(await billed(subscription)).toEqual([]);
  });
});
