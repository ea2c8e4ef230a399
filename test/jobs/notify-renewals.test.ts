import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { day } from '../support/day.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

/** Subscriptions on a clock of their own: the times of their notices. */
async function noticesUntil(to: string, more: object, cancel?: object): Promise<string[]> {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '10', { billing_period: 'DAILY' });
  await catalog.fixed(plan, '10');
  const clock = (await api.post('/v1/test-clocks', { now: day('2025-01-01') })).body;
  const customer = await catalog.customer({ test_clock_id: clock.id });
  const { id } = await catalog.subscribe(customer, plan, more);
  if (cancel !== undefined) await api.post(`/v1/subscriptions/${id}/cancel`, cancel);
  await world.advance(clock, to);
  const rows = await api.pool<{ clock_time: string; payload: any }[]>`
    select clock_time, payload from outbox
     where entity_id = ${id} and event_type = 'subscription.renewal.due' order by sequence`;
  for (const { payload } of rows)
    expect(payload.subscription).toMatchObject({ id, customer: { id: customer.id } });
  return rows.map(({ clock_time }) => clock_time.slice(0, 16));
}

test('a renewal is announced a day before the end of the period, once per period (money 17.3)', async () => {
  expect(await noticesUntil(day('2025-03-15'), {})).toEqual([
    '2025-01-31T00:00',
    '2025-02-28T00:00',
  ]);
});

test('a daily period is announced when it begins', async () => {
  const daily = { billing_period: 'DAILY' };
  expect(await noticesUntil('2025-01-03T12:00:00.000Z', daily)).toEqual([
    '2025-01-01T00:00',
    '2025-01-02T00:00',
    '2025-01-03T00:00',
  ]);
});

test('what ends with its period does not renew', async () => {
  const end = { cancellation_type: 'end_of_period' };
  expect(await noticesUntil(day('2025-03-15'), {}, end)).toEqual([]);
  expect(await noticesUntil(day('2025-03-15'), { end_date: day('2025-02-01') })).toEqual([]);
});
