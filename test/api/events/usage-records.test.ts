import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

let world: BillingWorld;
let ids: { customer: string; plan: string; subscriptions: string[] };

/** A customer with 10 calls at 0.50 in April and 40 in May, one with 20 in April, and one who pays only a fee. */
beforeAll(async () => {
  world = await startBillingWorld();
  const { catalog, api, usage } = world;
  const [plan, feeOnly] = [await catalog.plan(), await catalog.plan()];
  const meter = await catalog.meter();
  await catalog.fixed(plan, '30', { display_name: 'Base' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  await catalog.fixed(feeOnly, '30', { display_name: 'Base' });
  api.clock.set(day('2026-04-01'));
  const contract = async (of: { id: string }) => {
    const customer = await catalog.customer();
    const { id } = await catalog.subscribe(customer, of, { start_date: day('2026-04-01') });
    return { customer, id };
  };
  const [first, second, third] = [
    await contract(plan),
    await contract(plan),
    await contract(feeOnly),
  ];
  await usage.use(meter, first.customer, day('2026-04-05'), '10');
  await usage.use(meter, second.customer, day('2026-04-05'), '20');
  await usage.use(meter, first.customer, day('2026-05-05'), '40');
  for (const end of ['2026-05-01', '2026-06-01']) {
    api.clock.set(day(end));
    await world.close();
  }
  api.clock.set(day('2026-06-10'));
  await world.finalize();
  const subscriptions = [first.id, second.id, third.id];
  ids = { customer: first.customer.id, plan: plan.id, subscriptions };
});
afterAll(() => world.stop());

const search = (body: object) => world.api.postOk('/v1/usage-records/search', body);
const shown = ({ items }: any) =>
  items.map((each: any) => [
    ids.subscriptions.indexOf(each.subscription_id),
    each.period_start.slice(5, 7),
    each.quantity,
    each.amount,
  ]);
const byAmount = { sort: [{ field: 'amount', direction: 'desc' }] };

test('a record has the sums of the usage rows of one invoice, and no fee', async () => {
  const all = await search(byAmount);
  expect(shown(all)).toEqual([
    [0, '05', 40, 20],
    [1, '04', 20, 10],
    [0, '04', 10, 5],
    [1, '05', 0, 0],
  ]);
  expect(all.pagination.total).toBe(4);
  expect(all.items[0]).toMatchObject({
    ...{ customer_id: ids.customer, plan_id: ids.plan, currency: 'usd', synced: false, syncs: {} },
    ...{ period_start: day('2026-05-01'), period_end: day('2026-06-01') },
  });
});

test.each([
  ['amount', { filters: [filter('amount', 'number', 'gt', '5')] }, ['05', '04']],
  ['quantity', { filters: [filter('quantity', 'number', 'lte', '10')] }, ['04', '05']],
  ['period_start', { period_start: day('2026-05-01') }, ['05', '05']],
  ['period_end', { period_end: day('2026-05-01') }, ['04', '04']],
])('the filter %s', async (_, body, months) => {
  const found = await search({ ...byAmount, ...body });
  expect(shown(found).map(([, month]: string[]) => month)).toEqual(months);
  expect(found.pagination.total).toBe(months.length);
});

test('pages do not overlap, and each says the total of all', async () => {
  const pages = await Promise.all([0, 1, 2, 3].map((offset) => search({ limit: 1, offset })));
  expect(new Set(pages.flatMap(({ items }) => items.map(({ id }: any) => id))).size).toBe(4);
  expect(pages.map(({ pagination }) => pagination.total)).toEqual([4, 4, 4, 4]);
});

function filter(field: string, data_type: string, operator: string, value: string) {
  return { field, operator, data_type, value: { [data_type]: value } };
}
