import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(() => {
  world.api.clock.set(day('2026-04-13'));
});

let counter = 0;

interface Association {
  readonly id: string;
  readonly priority: number;
  readonly start_date: string;
  readonly end_date: string | null;
}

/** A fee of 100.00 in arrear from 1 April, taxed at 20%. */
async function taxed() {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '100', { invoice_cadence: 'ARREAR' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: day('2026-04-01') });
  counter += 1;
  const { body: rate } = await api.post('/v1/taxes/rates', {
    ...{ name: 'VAT', code: `vat-${counter}`, percentage_value: '20' },
    tax_rate_type: 'percentage',
  });
  const change = (tax_params: object) =>
    api.post(`/v1/subscriptions/${subscription.id}/modify/execute`, { type: 'tax', tax_params });
  const add = (more: object = {}) => change({ action: 'add', tax_rate_id: rate.id, ...more });
  const added = await add({ priority: 5, effective_date: day('2026-04-01') });
  expect(added.status).toBe(200);
  const associations = async (): Promise<Association[]> => {
    const query = `entity_type=subscription&entity_id=${subscription.id}`;
    const { body } = await api.get(`/v1/taxes/associations?${query}`);
    const items = body.items as Association[];
    return items.sort((a, b) => a.start_date.localeCompare(b.start_date));
  };
  const tax_association_id = (await associations())[0]!.id;
  const preview = async () =>
    (await api.post('/v1/invoices/preview', { subscription_id: subscription.id })).body;
  return { rate, change, add, associations, tax_association_id, preview };
}
const windows = (associations: Association[]) =>
  associations.map(({ priority, start_date, end_date }) => [priority, start_date, end_date]);

test('a rate that is removed and added again within a period taxes the invoice once (billing 8.1)', async () => {
  const { change, add, tax_association_id, preview } = await taxed();
  expect((await preview()).total_tax).toBe('20');
  const removed = await change({ action: 'remove', tax_association_id });
  expect(removed.status).toBe(200);
  expect((await add()).status).toBe(200);
  const { total_tax, taxes } = await preview();
  expect([total_tax, taxes.length]).toEqual(['20', 1]);
});

test('a priority changes from its effective date on (billing 8.1)', async () => {
  const { change, associations, tax_association_id, preview } = await taxed();
  const [start, later] = [day('2026-04-01'), day('2026-05-10')];
  const reprioritize = (more: object) =>
    change({ action: 'reprioritize', tax_association_id, ...more });
  expect((await reprioritize({ priority: 9, effective_date: later })).status).toBe(200);
  expect(windows(await associations())).toEqual([
    [5, start, later],
    [9, later, null],
  ]);
  expect(await preview()).toMatchObject({ total_tax: '20', taxes: [{ tax_association_id }] });
  const [, second] = await associations();
  expect(second).toMatchObject({ auto_apply: true, tax_behavior: 'exclusive', currency: 'usd' });
});

test('a date at or before the start changes the priority of the whole association', async () => {
  const { change, associations, tax_association_id } = await taxed();
  const start = day('2026-04-01');
  const whole = { action: 'reprioritize', tax_association_id, effective_date: start };
  expect((await change({ ...whole, priority: 1 })).status).toBe(200);
  expect(windows(await associations())).toEqual([[1, start, null]]);
});

test('400 for a date at which the association has ended', async () => {
  const { change, tax_association_id } = await taxed();
  const [end, after] = [day('2026-05-10'), day('2026-06-01')];
  await change({ action: 'remove', tax_association_id, effective_date: end });
  const { status, body } = await change({
    ...{ action: 'reprioritize', tax_association_id, priority: 1, effective_date: after },
  });
  expect([status, body.code]).toEqual([400, 'invalid_operation']);
});
