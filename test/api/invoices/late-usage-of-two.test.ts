import { billingWorldFrom } from '../../support/billing-world.ts';

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const world = billingWorldFrom(day('01-01'));

async function closed(at: string) {
  world.api.clock.set(at);
  await world.close();
  world.api.clock.set(at.replace('T00', 'T06'));
  await world.finalize();
  await world.finalize();
}

/** Calls at 1.00, and by another subscription of the same customer at 0.50, 10 % off. */
async function twoOfOneMeter() {
  const { api, catalog } = world;
  const meter = await catalog.meter();
  const customer = await catalog.customer();
  const coupon = await api.postOk('/v1/coupons', {
    ...{ name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'forever' },
  });
  const sell = async (amount: string, more: object) => {
    const plan = await catalog.plan();
    await catalog.usage(plan, meter, { display_name: 'Calls', amount });
    return await catalog.subscribe(customer, plan, { start_date: day('01-01'), ...more });
  };
  const subscriptions = [await sell('1', {}), await sell('0.5', { coupons: [coupon.id] })];
  const use = (at: string, value: string) => world.usage.use(meter, customer, day(at), value);
  return { customer, subscriptions, use };
}

test('two subscriptions of one meter share a wallet, and each has its own late usage (billing 17.6)', async () => {
  const { api } = world;
  const { customer, subscriptions, use } = await twoOfOneMeter();
  const wallet = await api.postOk('/v1/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', wallet_type: 'PRE_PAID' },
  });
  const topUp = (credits_to_add: string, more: object) =>
    api.postOk(`/v1/wallets/${wallet.id}/top-up`, {
      ...{ credits_to_add, transaction_reason: 'FREE_CREDIT_GRANT', ...more },
    });
  await topUp('30', { idempotency_key: `${wallet.id}-a`, expiry_date_utc: day('01-20') });
  await topUp('120', { idempotency_key: `${wallet.id}-b` });
  await use('01-10', '100');
  api.clock.set(day('01-21'));
  await world.run('expire-credits');
  await closed(day('02-01'));

  const invoices: any[] = [];
  for (const { id } of subscriptions) {
    const { body } = await api.post('/v1/invoices/search', { subscription_id: id });
    invoices.push(body.items.find(({ period_start }: any) => period_start === day('01-01')));
  }
  // 100.00 and 45.00, paid by the 120.00 that have not expired.
  expect(invoices).toMatchObject([
    { subtotal: '100', total_discount: '0', total_prepaid_credits_applied: '100', total: '0' },
    { subtotal: '50', total_discount: '5', total_prepaid_credits_applied: '20', total: '25' },
  ]);
  expect((await api.get(`/v1/wallets/${wallet.id}`)).body.balance).toBe('0');

  await use('01-12', '20');
  const invoice_ids = invoices.map(({ id }) => id);
  const late = async () =>
    (await api.post('/v1/invoices/late-usage/search', { invoice_ids })).body.items.map(
      ({ invoice_id, outstanding_amount }: any) => [
        invoice_ids.indexOf(invoice_id),
        outstanding_amount,
      ],
    );
  expect((await late()).sort()).toEqual([
    [0, '20'],
    [1, '9'],
  ]);
  for (const [index, amount] of ['20', '9'].entries()) {
    const path = `/v1/invoices/${invoice_ids[index]}/late-usage`;
    const shown = await api.post(`${path}/preview`, { as: 'invoice' });
    const settled = await api.post(`${path}/settle`, { as: 'invoice' });
    for (const { body } of [shown, settled])
      expect(body).toMatchObject({ amount, invoice: { total: amount } });
  }
  expect(await late()).toEqual([]);

  // 50 calls are withdrawn: what the second subscription charged less for them.
  await use('01-13', '-50');
  const credit = await api.post(`/v1/invoices/${invoice_ids[1]}/late-usage/settle`, {
    as: 'credit_note',
  });
  expect(credit.body).toMatchObject({ amount: '-22.5', credit_note: { total_amount: '22.5' } });
});
