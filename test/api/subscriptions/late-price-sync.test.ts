import { billingWorldFrom } from '../../support/billing-world.ts';
import { syncPrices } from '../../support/price-sync.ts';

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const world = billingWorldFrom(day('01-01'));

/** A plan with calls at 1.00, support at 30.00 in arrears and seats at 10.00 in advance, from 1 January. */
async function sold() {
  const { catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  const calls = await catalog.usage(plan, meter, { display_name: 'Calls', amount: '1' });
  const support = await catalog.fixed(plan, '30', {
    display_name: 'Support',
    invoice_cadence: 'ARREAR',
  });
  const seats = await catalog.fixed(plan, '10', { display_name: 'Seats' });
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, { start_date: day('01-01') });
  for (const month of ['01', '02', '03'])
    await world.usage.use(meter, customer, day(`${month}-20`), '100');
  return { plan, calls, support, seats, subscription };
}

async function closed(at: string) {
  world.api.clock.set(at);
  await world.close();
  world.api.clock.set(at.replace('T00', 'T06'));
  await world.finalize();
  await world.finalize();
}

test('a price sync changes no period that is final: late usage and a recalculation find it as it was billed', async () => {
  const { api } = world;
  const { plan, calls, support, seats, subscription } = await sold();
  api.clock.set(day('01-15'));
  for (const { id } of [calls, support, seats])
    expect((await api.put(`/v1/prices/${id}`, { amount: '40' })).status).toBe(200);
  await closed(day('02-01'));
  await closed(day('03-01'));
  api.clock.set(day('03-10'));
  const { body: found } = await api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
  });
  const february = found.items.find(({ period_start }: any) => period_start === day('02-01'));
  expect(february).toMatchObject({ invoice_status: 'FINALIZED', subtotal: '140' });

  await syncPrices(api, plan);
  const { body: read } = await api.get(`/v1/subscriptions/${subscription.id}`);
  const times = read.line_items.map((line: any) =>
    [line.display_name, line.start_date, line.end_date].join(' '),
  );
  expect(times.sort()).toEqual(
    [
      `Calls ${day('01-01')} ${day('03-01')}`,
      `Calls ${day('03-01')} `,
      `Seats ${day('01-01')} ${day('04-01')}`,
      `Seats ${day('04-01')} `,
      `Support ${day('01-01')} ${day('03-01')}`,
      `Support ${day('03-01')} `,
    ].sort(),
  );
  const { body: late } = await api.post('/v1/invoices/late-usage/search', {
    invoice_ids: [february.id],
  });
  expect(JSON.stringify(late)).not.toContain('-100');
  const again = await api.postOk(`/v1/invoices/${february.id}/recalculate`, {});
  expect(again).toMatchObject({ subtotal: '140' });

  await closed(day('04-01'));
  const { body: all } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  // 100 calls at 40.00, support and seats at 40.00.
  expect(all.items.find(({ period_start }: any) => period_start === day('03-01'))).toMatchObject({
    subtotal: '4080',
  });
});

test('a version that begins and ends before the sync bills its time', async () => {
  const { api } = world;
  const { plan, calls, subscription } = await sold();
  await closed(day('02-01'));
  await closed(day('03-01'));
  api.clock.set(day('03-15'));
  const { body: second } = await api.put(`/v1/prices/${calls.id}`, { amount: '2' });
  api.clock.set(day('03-25'));
  expect((await api.put(`/v1/prices/${second.id}`, { amount: '3' })).status).toBe(200);
  await syncPrices(api, plan);
  await closed(day('04-01'));
  const { body } = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  // 100 calls of 20 March at 2.00, support and seats.
  expect(body.items.find(({ period_start }: any) => period_start === day('03-01'))).toMatchObject({
    subtotal: '240',
  });
});
