import { billingWorldFrom } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Who gets what a change of a grouped subscription credits: the customer who was billed for it (billing 5.3, 16). */
const world = billingWorldFrom('2026-04-01T00:00:00.000Z');

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const money = async ({ id }: { id: string }) => {
  const { body } = await world.api.get(`/v1/customers/${id}/wallets`);
  return body.map(({ balance }: any) => balance);
};

/** 10 seats at 3.00 a month in advance, for a child, whose parent has a plan of its own. */
async function group() {
  const { catalog } = world;
  const [ofParent, ofChild] = [await catalog.plan(), await catalog.plan()];
  await catalog.fixed(ofParent, '100', { display_name: 'Office' });
  const seat = await catalog.fixed(ofChild, '3', { display_name: 'Seat' });
  await completeBackfills(world.api.pool);
  const [payer, user] = [await catalog.customer(), await catalog.customer()];
  const more = { start_date: day('04-01'), proration_behavior: 'create_prorations' };
  const parent = await catalog.subscribe(payer, ofParent, more);
  const child = await catalog.subscribe(user, ofChild, {
    ...more,
    override_line_items: [{ price_id: seat.id, quantity: '10' }],
    parent_subscription_id: parent.id,
  });
  return { payer, user, child };
}
const cancel = ({ id }: { id: string }) =>
  world.api.post(`/v1/subscriptions/${id}/cancel`, {
    ...{ cancellation_type: 'immediate', proration_behavior: 'create_prorations' },
  });

test('an advance on the invoice of the parent is credited to the customer of the parent', async () => {
  const { payer, user, child } = await group();
  world.api.clock.set(day('05-01'));
  await world.close();
  world.api.clock.set(day('05-16'));
  expect((await cancel(child)).status).toBe(200);
  // 16 of 31 days of 30.00.
  expect([await money(payer), await money(user)]).toEqual([['15.48'], []]);
});

test('an advance on its own invoice is credited to its own customer', async () => {
  const { payer, user, child } = await group();
  world.api.clock.set(day('04-16'));
  expect((await cancel(child)).status).toBe(200);
  expect([await money(payer), await money(user)]).toEqual([[], ['15']]);
});

test('so is a smaller quantity', async () => {
  const { payer, user, child } = await group();
  world.api.clock.set(day('05-01'));
  await world.close();
  world.api.clock.set(day('05-16'));
  const [{ id }] = child.line_items;
  const { status } = await world.api.post(`/v1/subscriptions/${child.id}/modify/execute`, {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id, quantity: '5' }] },
  });
  expect(status).toBe(200);
  expect([await money(payer), await money(user)]).toEqual([['7.74'], []]);
});
