import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-04-11T00:00:00.000Z');

const prorated = { proration_behavior: 'create_prorations' };
let counter = 0;

const read = async (subscription: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;
const invoicesOf = async (subscription: { id: string }) => {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
    expand: 'line_items',
  });
  return body.items as any[];
};
async function edit(invoice: { id: string }, line_items: object[], more: object = {}) {
  const { status, body } = await world.api.post(`/v1/invoices/${invoice.id}/modify/execute`, {
    ...{ line_items, ...more },
  });
  expect(status).toBe(200);
  return body;
}
const charged = (invoice: any) => invoice.line_items.find((row: any) => Number(row.amount) > 0);
const priced = (invoice: any, amount: string) => [
  { action: 'update', id: charged(invoice).id, amount },
];

/** 10 seats at 20.00, from 1 April: 30 days. 4 more from 13 April: 48.00. */
async function seated() {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const seat = await catalog.fixed(plan, '20', { display_name: 'Seat' });
  const subscription = await catalog.subscribe(await catalog.customer(), plan, {
    start_date: day('2026-04-01'),
    override_line_items: [{ price_id: seat.id, quantity: '10' }],
  });
  api.clock.set(day('2026-04-13'));
  const [line] = subscription.line_items;
  await api.post(`/v1/subscriptions/${subscription.id}/modify/execute`, {
    type: 'quantity_change',
    quantity_change_params: { line_items: [{ id: line.id, quantity: '14' }] },
  });
  return subscription;
}

/** From 50.00 to 100.00 on 11 April, of 30 days: 66.67 less 33.33. */
async function upgraded(more: object = {}) {
  const { catalog, api } = world;
  const key = `edited${(counter += 1)}`;
  const [from, to] = [await catalog.plan('Small'), await catalog.plan('Large')];
  await catalog.fixed(from, '50', { display_name: 'Base', lookup_key: `${key}a` });
  await catalog.fixed(to, '100', { display_name: 'Base', lookup_key: `${key}b` });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, from, {
    start_date: day('2026-04-01'),
    ...more,
  });
  await api.post(`/v1/subscriptions/${subscription.id}/change/v2/execute`, {
    ...prorated,
    target_plan_id: to.id,
  });
  const [invoice] = await invoicesOf(subscription);
  /** What returns to the wallet, or is charged, if the plan is changed back. */
  const back = async () => {
    const { body } = await api.post(`/v1/subscriptions/${subscription.id}/change/v2/preview`, {
      ...prorated,
      target_plan_id: from.id,
    });
    return body.changed_resources.invoices.map(({ action, amount }: any) => [action, amount]);
  };
  return { subscription, invoice, back };
}

describe('a person edits the invoice of a change (billing 5.3, 17.6)', () => {
  test('a later credit is at most what the edited row charges, after each edit', async () => {
    const { invoice, back } = await upgraded();
    expect(await back()).toEqual([['wallet_credit', '33.34']]);
    const draft = await edit(invoice, priced(invoice, '40'));
    expect(await back()).toEqual([['wallet_credit', '6.67']]);
    const again = await edit(draft, priced(draft, '50'));
    expect(again.id).toBe(draft.id);
    expect(await back()).toEqual([['wallet_credit', '16.67']]);
    await world.api.post(`/v1/invoices/${draft.id}/finalize`);
    expect(await back()).toEqual([['wallet_credit', '16.67']]);
  });

  test('a removed row charges nothing; a raised row does not raise the credit', async () => {
    const { invoice, back } = await upgraded();
    const added = { action: 'add', display_name: 'Work', amount: '50', quantity: '1' };
    const removal = { action: 'remove', id: charged(invoice).id };
    await edit(invoice, [removal, added]);
    expect(await back()).toEqual([['created', '33.33']]);

    const raised = await upgraded();
    await edit(raised.invoice, priced(raised.invoice, '90'));
    expect(await raised.back()).toEqual([['wallet_credit', '33.34']]);
  });

  test('a name and a quantity without an amount change no credit', async () => {
    const { invoice, back } = await upgraded();
    const { id } = charged(invoice);
    await edit(invoice, [{ action: 'update', id, display_name: 'Base, large', quantity: '2' }]);
    expect(await back()).toEqual([['wallet_credit', '33.34']]);
  });

  test('one row for credit and charge: the edit changes the charge', async () => {
    const subscription = await seated();
    const [invoice] = await invoicesOf(subscription);
    expect(invoice.line_items).toMatchObject([{ quantity: '4', amount: '48' }]);
    // The charge of 168.00 counts as 150.00: 30.00 is asked for instead of 48.00.
    await edit(invoice, priced(invoice, '30'));
    await world.api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      ...{ cancellation_type: 'immediate', ...prorated },
    });
    expect(await walletOf(subscription)).toBe('150');
  });

  test('its coupon discounts the edited charge, and the credit follows', async () => {
    const { body: coupon } = await world.api.post('/v1/coupons', {
      ...{ name: 'half', type: 'percentage', percentage_off: '50', cadence: 'forever' },
    });
    const { invoice, back } = await upgraded({ coupons: [coupon.id] });
    expect(await back()).toEqual([['wallet_credit', '16.67']]);
    // 40.00 less 23.33: the discount keeps its amount as far as the rows allow. Then half of 40.00.
    const draft = await edit(invoice, priced(invoice, '40'));
    const kept = await back();
    const derived = await edit(draft, [], { apply_discount: true });
    expect([kept, await back()]).toEqual([
      [['wallet_credit', '0.01']],
      [['wallet_credit', '3.34']],
    ]);
    expect(derived.total_discount).toBe('20');
  });

  test('exclusive tax returns as it was charged on the edited row', async () => {
    const { api } = world;
    const code = `vat_edited_${Date.now()}`;
    await api.post('/v1/taxes/rates', {
      ...{ name: 'VAT', code, tax_rate_type: 'percentage', percentage_value: '20' },
    });
    const taxed = {
      tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd', auto_apply: true }],
    };
    const { invoice, back } = await upgraded(taxed);
    expect(await back()).toEqual([['wallet_credit', '40']]);
    await edit(invoice, priced(invoice, '40'));
    expect(await back()).toEqual([['wallet_credit', '7.99']]);
  });
});

describe('a person edits a row in a custom currency (billing 2.6, 17.6)', () => {
  test('its amount in the custom currency follows, and so does a later credit', async () => {
    const { catalog, api } = world;
    const currencies = [
      { code: 'crx', name: 'Credits', symbol: '¤', conversion_factors: { usd: '0.1' } },
    ];
    await api.put('/v1/settings/custom_currency_config', { value: { currencies } });
    const plan = await catalog.plan();
    await catalog.fixed(plan, '900', { display_name: 'Base', currency: 'crx' });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      ...{ currency: 'crx', start_date: day('2026-04-01') },
    });
    const [opening] = await invoicesOf(subscription);
    const edited = await edit(opening, priced(opening, '45'));
    expect(edited.line_items).toMatchObject([{ amount: '45', custom_currency: { amount: '450' } }]);
    expect(edited.custom_currency).toMatchObject({ subtotal: '450' });
    await api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      ...{ cancellation_type: 'immediate', ...prorated },
    });
    // 20 of 30 days are left: 60.00 of the price, at most the 45.00 that are charged.
    expect(await walletOf(subscription)).toBe('45');
  });
});

async function walletOf(subscription: { id: string }): Promise<string> {
  const { customer_id } = await read(subscription);
  const { body } = await world.api.get(`/v1/customers/${customer_id}/wallets`);
  return body[0]?.balance ?? '0';
}
