import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';

/** A trial that begins later is a trial from the creation on, and nothing is billed before its end (billing 10.4). */
const world = billingWorldFrom(day('2026-04-01'));

async function planned() {
  const { catalog } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30', { display_name: 'Base' });
  const customer = await catalog.customer();
  return await catalog.subscribe(customer, plan, {
    start_date: day('2026-04-10'),
    trial_period_days: 10,
  });
}
const invoicesOf = async ({ id }: { id: string }) => {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items;
};
const read = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${id}`)).body;
async function jobsAt(at: string) {
  world.api.clock.set(at);
  while ((await world.close())?.['advanced'] !== 0);
  await world.finalize();
  await world.collect();
}

test('it is trialing from the creation on, and nothing is issued before its start', async () => {
  const subscription = await planned();
  expect(subscription).toMatchObject({
    subscription_status: 'trialing',
    trial_start: day('2026-04-10'),
    trial_end: day('2026-04-20'),
    latest_invoice: null,
  });
  for (const at of ['2026-04-02', '2026-04-09']) {
    await jobsAt(day(at));
    expect((await read(subscription)).subscription_status).toBe('trialing');
    expect(await invoicesOf(subscription)).toEqual([]);
  }
});

test('nothing is charged before its end; then the first period is billed', async () => {
  const subscription = await planned();
  await jobsAt(day('2026-04-19'));
  for (const invoice of await invoicesOf(subscription)) expect(invoice.total).toBe('0');
  await jobsAt(day('2026-04-21'));
  expect((await read(subscription)).subscription_status).toBe('active');
  const charged = (await invoicesOf(subscription)).filter(({ total }: any) => total !== '0');
  expect(charged).toMatchObject([
    { total: '30', period_start: expect.any(String), invoice_status: 'FINALIZED' },
  ]);
  const [line] = charged[0].line_items;
  expect([line.period_start, line.period_end]).toEqual([day('2026-04-20'), day('2026-05-20')]);
});
