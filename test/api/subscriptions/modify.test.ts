import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-04-13T00:00:00.000Z');

let counter = 0;

/** Seats at 20.00 in advance and a support fee in arrear, from 1 April: 30 days. */
async function subscribed(seats = '10', more: object = {}) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const seat = await catalog.fixed(plan, '20', { display_name: 'Seat' });
  await catalog.fixed(plan, '30', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-04-01'),
    override_line_items: [{ price_id: seat.id, quantity: seats }],
    ...more,
  });
  const line = (name: string) =>
    subscription.line_items.find(({ display_name }: any) => display_name === name);
  return { plan, customer, subscription, line };
}
const modify = (subscription: { id: string }, kind: 'preview' | 'execute', body: object) =>
  world.api.post(`/v1/subscriptions/${subscription.id}/modify/${kind}`, body);
const quantities = (...line_items: object[]) => ({
  type: 'quantity_change',
  quantity_change_params: { line_items },
});
const read = async (subscription: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;
const invoicesOf = async (subscription: { id: string }) => {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
    expand: 'line_items',
  });
  return body.items as any[];
};
const walletsOf = async (customer: { id: string }) =>
  (await world.api.get(`/v1/customers/${customer.id}/wallets`)).body;
const shownInvoice = async (subscription: { id: string }) =>
  (await world.api.post('/v1/invoices/preview', { subscription_id: subscription.id })).body;
const rows = (invoice: any) =>
  invoice.line_items.map(
    (row: any) =>
      `${row.display_name} ${row.quantity} ${row.amount} ${row.period_start.slice(5, 10)}..${row.period_end.slice(5, 10)}`,
  );

describe('quantity_change', () => {
  test('more seats: preview and execution are one invoice of the difference', async () => {
    const { subscription, line } = await subscribed();
    const body = quantities({ id: line('Seat').id, quantity: '14' });
    const { body: preview } = await modify(subscription, 'preview', body);
    expect(preview.changed_resources.invoices).toMatchObject([
      { id: '(preview-invoice)', status: 'preview', amount: '48' },
    ]);
    expect(await invoicesOf(subscription)).toHaveLength(1);
    const { status, body: done } = await modify(subscription, 'execute', body);
    expect(status).toBe(200);
    const [settled] = done.changed_resources.invoices;
    expect(settled).toMatchObject({ action: 'created', status: 'PENDING', amount: '48' });
    expect(settled.invoice).toMatchObject({
      invoice_type: 'ONE_OFF',
      invoice_status: 'FINALIZED',
      billing_reason: 'SUBSCRIPTION_UPDATE',
      billing_sequence: null,
    });
    // 18 of 30 days: 14 seats for 168.00, less 10 seats for 120.00.
    expect(rows(settled.invoice)).toEqual(['Seat 4 48 04-13..05-01']);
    expect(done.changed_resources.line_items).toMatchObject([
      { quantity: '14', change_action: 'created', start_date: day('2026-04-13') },
      { quantity: '10', change_action: 'ended', end_date: day('2026-04-13') },
    ]);
    expect(rows(await shownInvoice(subscription))).toEqual([
      'Support 1 30 04-01..05-01',
      'Seat 14 280 05-01..06-01',
    ]);
  });

  test('the job bills the next period at the new quantity, and nothing twice', async () => {
    const { subscription, line } = await subscribed();
    await modify(subscription, 'execute', quantities({ id: line('Seat').id, quantity: '14' }));
    world.api.clock.set(day('2026-05-01'));
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    await world.close();
    const invoices = await invoicesOf(subscription);
    expect(invoices.map(({ billing_reason, total }) => `${billing_reason} ${total}`)).toEqual([
      'SUBSCRIPTION_CYCLE 310',
      'SUBSCRIPTION_UPDATE 48',
      'SUBSCRIPTION_CREATE 200',
    ]);
  });

  test('up and down: 10 to 14 after 10 days, 14 to 8 after 20 (billing 5.4)', async () => {
    world.api.clock.set(day('2026-04-11'));
    const { subscription, line, customer } = await subscribed();
    world.api.clock.set('2026-04-11T00:00:00.001Z');
    const effective_date = day('2026-04-11');
    const up = quantities({ id: line('Seat').id, quantity: '14', effective_date });
    await modify(subscription, 'execute', up);
    const [charge] = await invoicesOf(subscription);
    expect(charge.total).toBe('53.34');
    world.api.clock.set(day('2026-04-21'));
    const seat = (await read(subscription)).line_items.find((item: any) => item.quantity === '14');
    const body = quantities({ id: seat.id, quantity: '8' });
    const { body: preview } = await modify(subscription, 'preview', body);
    expect(preview.changed_resources.invoices).toMatchObject([
      { action: 'wallet_credit', status: 'preview', amount: '40' },
    ]);
    const { body: done } = await modify(subscription, 'execute', body);
    expect(done.changed_resources.invoices).toMatchObject([
      { action: 'wallet_credit', status: 'issued', amount: '40' },
    ]);
    expect(await walletsOf(customer)).toMatchObject([
      {
        name: 'Proration Credit Wallet',
        balance: '40',
        config: { allowed_price_types: ['USAGE'] },
      },
    ]);
  });

  test('a discounted fee is credited and charged net of its coupon, on separate rows', async () => {
    const { body: coupon } = await world.api.post('/v1/coupons', {
      name: 'half',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const { subscription, line } = await subscribed('10', { coupons: [coupon.id] });
    await modify(subscription, 'execute', quantities({ id: line('Seat').id, quantity: '14' }));
    const [invoice] = await invoicesOf(subscription);
    expect(rows(invoice)).toEqual(['Seat 10 -60 04-13..05-01', 'Seat 14 168 04-13..05-01']);
    expect(invoice).toMatchObject({ subtotal: '108', total_discount: '84', total: '24' });
  });

  test('the coupon of a line discounts its new quantity too, as previewed', async () => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '20', { display_name: 'Seat' });
    const { body: coupon } = await api.post('/v1/coupons', {
      ...{ name: 'half', type: 'percentage', percentage_off: '50', cadence: 'forever' },
    });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-04-01'),
      override_line_items: [{ price_id: price.id, quantity: '10' }],
      line_item_coupons: { [price.id]: [coupon.id] },
    });
    const body = quantities({ id: subscription.line_items[0].id, quantity: '14' });
    const { body: preview } = await modify(subscription, 'preview', body);
    const { body: done } = await modify(subscription, 'execute', body);
    expect(done.changed_resources.invoices).toMatchObject([{ amount: '24' }]);
    expect(preview.changed_resources.invoices).toMatchObject([{ amount: '24' }]);
    const [invoice] = await invoicesOf(subscription);
    expect(rows(invoice)).toEqual(['Seat 10 -60 04-13..05-01', 'Seat 14 168 04-13..05-01']);
    expect(invoice).toMatchObject({ subtotal: '108', total_discount: '84', total: '24' });
    const { body: kept } = await api.get(`/v1/coupons/${coupon.id}`);
    expect(kept.total_redemptions).toBe(1);
  });

  test('a tiered fee prorates as a whole', async () => {
    const { catalog } = world;
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '0', {
      display_name: 'Seat',
      amount: null,
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 10, unit_amount: '3' },
        { up_to: null, unit_amount: '1' },
      ],
    });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-04-01'),
      override_line_items: [{ price_id: price.id, quantity: '10' }],
    });
    const [line] = subscription.line_items;
    await modify(subscription, 'execute', quantities({ id: line.id, quantity: '20' }));
    const [invoice] = await invoicesOf(subscription);
    expect(invoice.total).toBe('6');
  });

  test('an arrear fee is billed in slices at the end; several lines are one change', async () => {
    const { subscription, line } = await subscribed();
    const { body } = await modify(
      subscription,
      'execute',
      quantities(
        { id: line('Seat').id, quantity: '11', effective_date: day('2026-04-16') },
        { id: line('Support').id, quantity: '2', effective_date: day('2026-04-16') },
      ),
    );
    expect(body.changed_resources.invoices).toMatchObject([{ amount: '10' }]);
    expect(rows(await shownInvoice(subscription))).toEqual([
      'Support 1 15 04-01..04-16',
      'Seat 11 220 05-01..06-01',
      'Support 2 30 04-16..05-01',
    ]);
  });

  test('the same quantity changes nothing; twice at one instant replaces', async () => {
    const { subscription, line } = await subscribed();
    const { body } = await modify(
      subscription,
      'execute',
      quantities({ id: line('Seat').id, quantity: '10' }),
    );
    expect(body.changed_resources).toEqual({ line_items: [], invoices: [], subscriptions: [] });
    await modify(subscription, 'execute', quantities({ id: line('Seat').id, quantity: '14' }));
    const again = (await read(subscription)).line_items.find((item: any) => item.quantity === '14');
    const { body: back } = await modify(
      subscription,
      'execute',
      quantities({ id: again.id, quantity: '10' }),
    );
    expect(back.changed_resources.invoices).toMatchObject([
      { action: 'wallet_credit', amount: '48' },
    ]);
  });

  test('in a trial no money moves', async () => {
    const { subscription, line } = await subscribed('10', { trial_end: day('2026-04-20') });
    const { body } = await modify(
      subscription,
      'execute',
      quantities({ id: line('Seat').id, quantity: '14' }),
    );
    expect(body.changed_resources.invoices).toEqual([]);
    expect(body.changed_resources.line_items).toHaveLength(2);
  });

  test('400 and 404', async () => {
    const { subscription, line } = await subscribed();
    const unknown = 'subs_line_00000000000000000000000000';
    for (const [body, status] of [
      [quantities({ id: unknown, quantity: '2' }), 404],
      [quantities(), 400],
      [{ type: 'quantity_change' }, 400],
      [{ type: 'resize' }, 400],
      [{ type: 'addon' }, 400],
      [quantities({ id: line('Seat').id, quantity: '-1' }), 400],
      [quantities({ id: line('Seat').id, quantity: '2', effective_date: day('2026-03-01') }), 400],
      [quantities({ id: line('Seat').id, quantity: '2', effective_date: day('2026-05-01') }), 400],
    ] as const)
      for (const kind of ['preview', 'execute'] as const)
        expect((await modify(subscription, kind, body)).status).toBe(status);
  });
});

describe('coupon and tax', () => {
  test('a preview redeems nothing; an added coupon and tax are on the next invoice, until removed', async () => {
    const { api } = world;
    const code = `TEN${(counter += 1)}${Date.now()}`;
    const { body: coupon } = await api.post('/v1/coupons', {
      name: 'ten',
      coupon_code: code,
      type: 'percentage',
      percentage_off: '10',
      cadence: 'forever',
    });
    const { body: rate } = await api.post('/v1/taxes/rates', {
      name: 'vat',
      code: `vat${code}`,
      tax_rate_type: 'percentage',
      percentage_value: '20',
    });
    const { subscription } = await subscribed();
    const on = { type: 'coupon', coupon_params: { action: 'add', coupon_code: code } };
    await modify(subscription, 'preview', on);
    const redeemed = async () => (await api.get(`/v1/coupons/${coupon.id}`)).body.total_redemptions;
    expect(await redeemed()).toBe(0);
    expect((await modify(subscription, 'execute', on)).status).toBe(200);
    expect(await redeemed()).toBe(1);
    expect((await modify(subscription, 'execute', on)).status).toBe(400);
    const taxOn = { type: 'tax', tax_params: { action: 'add', tax_rate_id: rate.id } };
    await modify(subscription, 'execute', taxOn);
    expect(await shownInvoice(subscription)).toMatchObject({
      subtotal: '230',
      total_discount: '23',
      total_tax: '41.4',
    });
    const { body: taxes } = await api.get(
      `/v1/taxes/associations?entity_type=subscription&entity_id=${subscription.id}`,
    );
    expect(taxes.items).toMatchObject([{ priority: 100, auto_apply: true }]);
    const tax_association_id = taxes.items[0].id;
    const first = { action: 'reprioritize', tax_association_id, priority: 7 };
    expect((await modify(subscription, 'execute', { type: 'tax', tax_params: first })).status).toBe(
      200,
    );
    const { coupon_associations } = await read(subscription);
    const off = {
      type: 'coupon',
      coupon_params: { action: 'remove', coupon_association_id: coupon_associations[0].id },
    };
    await modify(subscription, 'execute', off);
    expect((await modify(subscription, 'execute', off)).status).toBe(400);
    const taxOff = { type: 'tax', tax_params: { action: 'remove', tax_association_id } };
    expect((await modify(subscription, 'execute', taxOff)).status).toBe(200);
    // The running arrear cell had the coupon; the next advance has not.
    const seat = (await shownInvoice(subscription)).line_items.find(
      (row: any) => row.display_name === 'Seat',
    );
    expect(seat.invoice_level_discount).toBe('0');
  });

  test('a tax that ends later is not added twice, and a removal never extends it (billing 8.1)', async () => {
    const { api } = world;
    const rate = (
      await api.post('/v1/taxes/rates', {
        ...{ name: 'VAT', code: 'vat-twice', percentage_value: '20', tax_rate_type: 'percentage' },
      })
    ).body;
    const { subscription } = await subscribed();
    const change = (tax_params: object) =>
      modify(subscription, 'execute', { type: 'tax', tax_params });
    const add = (more: object = {}) => change({ action: 'add', tax_rate_id: rate.id, ...more });
    expect((await add()).status).toBe(200);
    const associations = async () =>
      (
        await api.get(
          `/v1/taxes/associations?entity_type=subscription&entity_id=${subscription.id}`,
        )
      ).body.items;
    const [{ id }] = await associations();
    const remove = (effective_date: string) =>
      change({ action: 'remove', tax_association_id: id, effective_date });
    const [soon, later] = ['2027-01-10T00:00:00.000Z', '2027-02-10T00:00:00.000Z'];
    expect((await remove(soon)).status).toBe(200);
    expect((await remove(later)).status).toBe(400);
    expect((await add()).status).toBe(409);
    expect((await add({ effective_date: later })).status).toBe(200);
    expect((await associations()).map((each: any) => each.end_date).sort()).toEqual([soon, null]);
  });

  test('a tax is added by the code of its rate too; the two must name one rate', async () => {
    const terms = { percentage_value: '20', tax_rate_type: 'percentage' };
    const made = (code: string) =>
      world.api.post('/v1/taxes/rates', { ...terms, name: code, code: `${code}-by-code` });
    const [{ body: vat }, { body: gst }] = [await made('vat'), await made('gst')];
    const { subscription } = await subscribed();
    const add = (named: object) =>
      modify(subscription, 'execute', { type: 'tax', tax_params: { action: 'add', ...named } });
    const both = await add({ tax_rate_id: gst.id, tax_rate_code: vat.code });
    expect([both.status, both.body.details[0].path]).toEqual([400, 'tax_params.tax_rate_code']);
    const unknown = await add({ tax_rate_code: 'none-by-code' });
    expect([unknown.status, unknown.body.details[0].path]).toEqual([
      400,
      'tax_params.tax_rate_code',
    ]);
    expect((await add({ tax_rate_code: vat.code })).status).toBe(200);
    expect((await add({ tax_rate_id: gst.id, tax_rate_code: gst.code })).status).toBe(200);
    expect(await shownInvoice(subscription)).toMatchObject({ subtotal: '230', total_tax: '92' });
  });

  test.each([
    ['tax', 'remove', 'tax_rate_id', 'taxrate_x'],
    ['tax', 'remove', 'tax_rate_code', 'vat'],
    ['tax', 'remove', 'priority', 3],
    ['tax', 'reprioritize', 'tax_rate_id', 'taxrate_x'],
    ['tax', 'reprioritize', 'tax_rate_code', 'vat'],
    ['coupon', 'remove', 'coupon_code', 'TEN'],
    ['coupon', 'remove', 'subscription_line_item_id', 'subs_line_x'],
    ['coupon', 'remove', 'start_date', day('2026-04-02')],
  ])('400 for a %s of %s with %s, which has no effect there', async (type, action, field, sent) => {
    const { subscription } = await subscribed();
    const { status, body } = await modify(subscription, 'execute', {
      type,
      [`${type}_params`]: { action, [`${type}_association_id`]: 'assoc_x', [field]: sent },
    });
    expect([status, body.details[0]?.path]).toEqual([400, `${type}_params.${field}`]);
  });

  test('400 and 404', async () => {
    const { subscription } = await subscribed();
    const coupon = (coupon_params: object) => ({ type: 'coupon', coupon_params });
    const tax = (tax_params: object) => ({ type: 'tax', tax_params });
    for (const [body, status] of [
      [coupon({ action: 'add', coupon_code: 'NONE' }), 400],
      [coupon({ action: 'add' }), 400],
      [{ type: 'coupon' }, 400],
      [coupon({ action: 'remove', coupon_association_id: 'coupon_assoc_x' }), 404],
      [tax({ action: 'add', tax_rate_id: 'taxrate_x' }), 400],
      [tax({ action: 'swap' }), 400],
      [tax({ action: 'remove', tax_association_id: 'ta_x' }), 404],
    ] as const)
      expect((await modify(subscription, 'execute', body)).status).toBe(status);
  });

  test.each([
    ['coupon', 'coupon_association_id', { coupon_code: 'NONE' }],
    ['tax', 'tax_association_id', { tax_rate_id: 'taxrate_x' }],
  ])('400 for a %s that is added under the id of an association', async (type, field, params) => {
    const { subscription } = await subscribed();
    const { status, body } = await modify(subscription, 'execute', {
      type,
      [`${type}_params`]: { action: 'add', ...params, [field]: 'assoc_x' },
    });
    expect([status, body.details[0].path]).toEqual([400, `${type}_params.${field}`]);
  });
});

describe('trial_end', () => {
  test('at a date: both dates move, and the trial ends then', async () => {
    const { subscription } = await subscribed('10', { trial_end: day('2026-04-20') });
    const params = { action: 'scheduled_date', new_trial_end: day('2026-04-25') };
    const body = { type: 'trial_end', trial_end_params: params };
    const shown = (await modify(subscription, 'preview', body)).body;
    const done = (await modify(subscription, 'execute', body)).body;
    expect(done).toEqual(shown);
    expect(done.changed_resources.subscriptions).toMatchObject([
      { status: 'trialing', trial_end: day('2026-04-25'), current_period_end: day('2026-04-25') },
    ]);
    expect(await read(subscription)).toMatchObject({
      trial_end: day('2026-04-25'),
      current_period_end: day('2026-04-25'),
    });
  });

  test('now: the first paid invoice, as previewed', async () => {
    const { subscription } = await subscribed('10', { trial_end: day('2026-04-20') });
    const body = { type: 'trial_end', trial_end_params: { action: 'immediate' } };
    const shown = (await modify(subscription, 'preview', body)).body;
    const done = (await modify(subscription, 'execute', body)).body;
    expect(shown.changed_resources.invoices).toMatchObject([{ status: 'preview', amount: '200' }]);
    expect(done.changed_resources.invoices).toMatchObject([{ status: 'PENDING', amount: '200' }]);
    expect(done.changed_resources.invoices[0].invoice.billing_reason).toBe(
      'SUBSCRIPTION_TRIAL_END',
    );
    expect(await read(subscription)).toMatchObject({
      subscription_status: 'active',
      current_period_start: day('2026-04-13'),
      current_period_end: day('2026-05-13'),
    });
  });

  test('now: credits pay the first paid invoice, as previewed', async () => {
    const { subscription } = await subscribed('10', { trial_end: day('2026-04-20') });
    await world.api.post('/v1/wallets', {
      customer_id: subscription.customer_id,
      currency: 'usd',
      initial_credits_to_load: '30',
      config: { allowed_price_types: ['ALL'] },
    });
    const body = { type: 'trial_end', trial_end_params: { action: 'immediate' } };
    for (const command of ['preview', 'execute'] as const) {
      const { body: answer } = await modify(subscription, command, body);
      const [{ amount, invoice }] = answer.changed_resources.invoices;
      expect([amount, invoice.total_prepaid_credits_applied]).toEqual(['170', '30']);
    }
  });

  test('400', async () => {
    const { subscription } = await subscribed();
    const body = { type: 'trial_end', trial_end_params: { action: 'immediate' } };
    expect((await modify(subscription, 'execute', body)).status).toBe(400);
    const { subscription: onTrial } = await subscribed('10', { trial_end: day('2026-04-20') });
    const new_trial_end = day('2026-04-25');
    const dated = { ...body, trial_end_params: { action: 'immediate', new_trial_end } };
    const answer = await modify(onTrial, 'execute', dated);
    expect(answer).toMatchObject({
      status: 400,
      body: { details: [{ path: 'trial_end_params.new_trial_end' }] },
    });
  });
});
