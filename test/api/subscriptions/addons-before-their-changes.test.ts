import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

test('an addon is removed from a date before a change of its quantity (billing 15)', async () => {
  const { api, catalog } = world;
  api.clock.set(day('2026-04-01'));
  const plan = await catalog.plan();
  await catalog.fixed(plan, '10', { display_name: 'Base' });
  const addon = await api.postOk('/v1/addons', { name: 'Desk', lookup_key: 'desk-removed' });
  await catalog.fixed(addon, '30', { entity_type: 'ADDON', display_name: 'Desk' });
  const customer = await catalog.customer();
  const { id } = await catalog.subscribe(customer, plan, { start_date: day('2026-04-01') });
  const modify = (kind: string, body: object) =>
    api.postOk(`/v1/subscriptions/${id}/modify/${kind}`, body);
  const linesOf = async () =>
    (await api.get(`/v1/subscriptions/${id}`)).body.line_items.filter(
      ({ display_name }: any) => display_name === 'Desk',
    );
  await modify('execute', {
    type: 'addon',
    addon_params: {
      action: 'add',
      add: {
        addon_id: addon.id,
        start_date: day('2026-04-01'),
        proration_behavior: 'create_prorations',
      },
    },
  });
  const [desk] = await linesOf();
  api.clock.set(day('2026-04-20'));
  const more = { id: desk.id, quantity: '2', effective_date: day('2026-04-11') };
  await modify('execute', {
    type: 'quantity_change',
    quantity_change_params: { line_items: [more] },
  });
  const removal = {
    type: 'addon',
    addon_params: {
      action: 'remove',
      remove: {
        addon_association_id: desk.addon_association_id,
        effective_date: day('2026-04-06'),
        proration_behavior: 'create_prorations',
      },
    },
  };
  const amounts = ({ changed_resources: { invoices } }: any) =>
    invoices.map(({ action, amount }: any) => [action, amount]);
  // 5 of 30 days of 30.00, and all that the second line has paid: 20 of 30 days of 60.00.
  const credit = [['wallet_credit', '45']];
  expect(amounts(await modify('preview', removal))).toEqual(credit);
  expect(amounts(await modify('execute', removal))).toEqual(credit);
  expect((await linesOf()).map(({ start_date, end_date }: any) => [start_date, end_date])).toEqual([
    [day('2026-04-01'), day('2026-04-06')],
    [day('2026-04-11'), day('2026-04-11')],
  ]);
});
