import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

/** 30.00 a month in advance from 1 April, cancelled back to a day before a change that was billed (billing 13, 5.3). */
const world = billingWorldFrom(day('2026-04-01'));
const PRORATED = { proration_behavior: 'create_prorations' };

async function sold(more: (price: { id: string }) => object = () => ({})) {
  const plan = await world.catalog.plan();
  const price = await world.catalog.fixed(plan, '30');
  const customer = await world.catalog.customer();
  const subscription = await world.catalog.subscribe(customer, plan, {
    ...PRORATED,
    ...more(price),
    start_date: day('2026-04-01'),
  });
  const path = `/v1/subscriptions/${subscription.id}`;
  return { customer, path, line: subscription.line_items[0] as { id: string } };
}
type Sold = Awaited<ReturnType<typeof sold>>;

const modify = ({ path }: Sold, body: object) => world.api.post(`${path}/modify/execute`, body);

/** What returns to the customer. */
async function cancelledAt({ customer, path }: Sold, date: string): Promise<string[]> {
  const answer = await world.api.post(`${path}/cancel`, {
    cancellation_type: 'immediate',
    cancel_at: day(date),
  });
  expect([answer.status, answer.body.status]).toEqual([200, 'cancelled']);
  const { body } = await world.api.get(`/v1/customers/${customer.id}/wallets`);
  return body.map(({ balance }: any) => balance);
}

/** Each is made on 21 April, with 10 of 30 days left, and charges the amount; 10 of 30 days are served. */
test.each`
  change                   | charged | returned
  ${'three seats for one'} | ${'20'} | ${'40'}
  ${'a price of 60.00'}    | ${'10'} | ${'30'}
  ${'an addon of 30.00'}   | ${'10'} | ${'30'}
  ${'a plan of 90.00'}     | ${'20'} | ${'40'}
`('$change: $charged are charged, $returned return', async ({ change, charged, returned }) => {
  const { api, catalog } = world;
  const made = await sold();
  const { path, line } = made;
  api.clock.set(day('2026-04-21'));
  const changes: Record<string, () => Promise<{ status: number }>> = {
    'three seats for one': () =>
      modify(made, {
        type: 'quantity_change',
        quantity_change_params: { line_items: [{ id: line.id, quantity: '3', ...PRORATED }] },
      }),
    'a price of 60.00': () =>
      api.put(`/v1/subscriptions/lineitems/${line.id}`, { amount: '60', ...PRORATED }),
    'an addon of 30.00': async () => {
      const addon = await api.postOk('/v1/addons', { name: 'Pack', lookup_key: `pack-${line.id}` });
      await catalog.fixed(addon, '30', { entity_type: 'ADDON' });
      const add = { addon_id: addon.id, ...PRORATED };
      return await modify(made, { type: 'addon', addon_params: { action: 'add', add } });
    },
    'a plan of 90.00': async () => {
      const plan = await catalog.plan();
      await catalog.fixed(plan, '90');
      return await api.post(`${path}/change/v2/execute`, { target_plan_id: plan.id, ...PRORATED });
    },
  };
  expect((await changes[change]!()).status).toBe(200);
  expect((await api.get(path)).body.latest_invoice.total).toBe(charged);
  api.clock.set(day('2026-04-25'));
  expect(await cancelledAt(made, '2026-04-11')).toEqual([returned]);
});

test('phases: 10.00 and 40.00 are charged, 5 of 10 days of the first one are served', async () => {
  const made = await sold(({ id: price_id }) => ({
    phases: [
      { start_date: day('2026-04-01'), end_date: day('2026-04-11') },
      { start_date: day('2026-04-11'), override_line_items: [{ price_id, amount: '60' }] },
    ],
  }));
  world.api.clock.set(day('2026-04-16'));
  expect(await cancelledAt(made, '2026-04-06')).toEqual(['45']);
});
