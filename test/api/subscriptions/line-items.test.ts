import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-03-21T00:00:00.000Z');

const MONTHLY = { billing_period: 'MONTHLY', billing_period_count: 1, price_unit_type: 'FIAT' };

async function subscribed(more: object = {}) {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  const other = await catalog.plan('Other');
  const meter = await catalog.meter();
  await catalog.fixed(plan, '100', { display_name: 'Base' });
  await catalog.fixed(plan, '31', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  const extra = await catalog.fixed(other, '62', { display_name: 'Extra' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-03-01'),
    ...more,
  });
  const line = (name: string) =>
    subscription.line_items.find(({ display_name }: any) => display_name === name);
  return { plan, meter, customer, subscription, extra, line };
}
const add = (subscription: { id: string }, body: object) =>
  world.api.post(`/v1/subscriptions/${subscription.id}/lineitems`, body);
const change = (line: { id: string }, body: object) =>
  world.api.put(`/v1/subscriptions/lineitems/${line.id}`, body);
const end = (line: { id: string }, body: object = {}) =>
  world.api.delete(`/v1/subscriptions/lineitems/${line.id}`, body);
const invoicesOf = async (subscription: { id: string }) => {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
    expand: 'line_items',
  });
  return body.items as any[];
};
const preview = async (subscription: { id: string }) =>
  (await world.api.post('/v1/invoices/preview', { subscription_id: subscription.id })).body;
const rows = (invoice: any) =>
  invoice.line_items.map(
    (line: any) =>
      `${line.display_name} ${line.quantity} ${line.amount} ${line.period_start.slice(5, 10)}..${line.period_end.slice(5, 10)}`,
  );

describe('201 a line is added', () => {
  test('with none: nothing now, the full fee from the next period', async () => {
    const { subscription, extra } = await subscribed();
    const { status, body } = await add(subscription, {
      price_id: extra.id,
      quantity: '2',
      start_date: day('2026-03-21'),
      display_name: 'Added',
      metadata: { k: 'v' },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      subscription_id: subscription.id,
      display_name: 'Added',
      quantity: '2',
      start_date: day('2026-03-21'),
      metadata: { k: 'v' },
    });
    expect(await invoicesOf(subscription)).toHaveLength(1);
    world.api.clock.set(day('2026-04-01'));
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    await world.close();
    const [cycle] = await invoicesOf(subscription);
    expect(rows(cycle)).toEqual([
      'Base 1 100 04-01..05-01',
      'Support 1 31 03-01..04-01',
      'Added 2 124 04-01..05-01',
      'Calls 0 0 03-01..04-01',
    ]);
  });

  test('with create_prorations: an invoice for the rest of the period, now', async () => {
    const { subscription, extra } = await subscribed();
    await add(subscription, {
      price_id: extra.id,
      quantity: '2',
      start_date: day('2026-03-21'),
      proration_behavior: 'create_prorations',
    });
    const [invoice] = await invoicesOf(subscription);
    expect(invoice).toMatchObject({
      invoice_type: 'ONE_OFF',
      invoice_status: 'FINALIZED',
      billing_reason: 'SUBSCRIPTION_UPDATE',
      total: '44',
      period_start: day('2026-03-21'),
      period_end: day('2026-04-01'),
    });
    expect(rows(invoice)).toEqual(['Extra 2 44 03-21..04-01']);
  });

  test('a one-time fee that is due is billed in full at once, a later one on the next invoice', async () => {
    const { subscription } = await subscribed();
    const setup = {
      type: 'FIXED',
      billing_model: 'FLAT_FEE',
      invoice_cadence: 'ADVANCE',
      billing_period: 'ONETIME',
      price_unit_type: 'FIAT',
    };
    await add(subscription, {
      price: { ...setup, amount: '50', display_name: 'Setup' },
      start_date: day('2026-03-21'),
    });
    await add(subscription, {
      price: { ...setup, amount: '70', display_name: 'Visit' },
      start_date: day('2026-03-25'),
    });
    const [invoice, opening] = await invoicesOf(subscription);
    expect(rows(invoice)).toEqual(['Setup 1 50 03-21..03-21']);
    expect(opening.billing_reason).toBe('SUBSCRIPTION_CREATE');
    world.api.clock.set(day('2026-04-01'));
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    await world.close();
    const [cycle] = await invoicesOf(subscription);
    expect(rows(cycle).filter((row: string) => /Setup|Visit/.test(row))).toEqual([
      'Visit 1 70 03-25..03-25',
    ]);
  });

  test('an inline arrear price belongs to the subscription and starts with the period', async () => {
    const { subscription } = await subscribed();
    const { status, body } = await add(subscription, {
      price: {
        ...MONTHLY,
        type: 'FIXED',
        billing_model: 'FLAT_FEE',
        invoice_cadence: 'ARREAR',
        amount: '12',
        display_name: 'Inline',
      },
    });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      entity_type: 'subscription',
      entity_id: subscription.id,
      start_date: day('2026-03-01'),
      display_name: 'Inline',
    });
    expect(rows(await preview(subscription))).toContain('Inline 1 12 03-01..04-01');
  });

  test('what was due before is billed first', async () => {
    const { subscription, extra } = await subscribed();
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    world.api.clock.set(day('2026-05-11'));
    await add(subscription, {
      price_id: extra.id,
      start_date: day('2026-05-11'),
      proration_behavior: 'create_prorations',
    });
    const invoices = await invoicesOf(subscription);
    expect(invoices.map(({ billing_reason, total }) => `${billing_reason} ${total}`)).toEqual([
      'SUBSCRIPTION_UPDATE 42',
      'SUBSCRIPTION_CYCLE 131',
      'SUBSCRIPTION_CYCLE 131',
      'SUBSCRIPTION_CREATE 100',
    ]);
  });
});

describe('200 a line gets other terms', () => {
  test('usage is rated in slices, and tiers restart', async () => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    const meter = await catalog.meter();
    const tiers = [
      { up_to: 10, unit_amount: '1' },
      { up_to: null, unit_amount: '0.1' },
    ];
    await catalog.usage(plan, meter, {
      display_name: 'Calls',
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers,
    });
    await completeBackfills(api.pool);
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, { start_date: day('2026-03-01') });
    await world.usage.use(meter, customer, day('2026-03-05'), '15');
    await world.usage.use(meter, customer, day('2026-03-15'), '12');
    const [line] = subscription.line_items;
    const { status, body } = await change(line, {
      tiers: [
        { up_to: 10, unit_amount: '2' },
        { up_to: null, unit_amount: '0.2' },
      ],
      effective_from: day('2026-03-11'),
    });
    expect(status).toBe(200);
    expect(body.id).not.toBe(line.id);
    expect(body).toMatchObject({ start_date: day('2026-03-11'), end_date: null });
    expect(rows(await preview(subscription))).toEqual([
      'Calls 15 10.5 03-01..03-11',
      'Calls 12 20.4 03-11..04-01',
    ]);
    const { body: old } = await api.get(`/v1/subscriptions/lineitems/${line.id}`);
    expect(old.end_date).toBe(day('2026-03-11'));
  });

  test('an arrear fee pays each version its slice, with none as well', async () => {
    const { subscription, line } = await subscribed();
    await change(line('Support'), { amount: '62', effective_from: day('2026-03-11') });
    expect(rows(await preview(subscription))).toEqual([
      'Base 1 100 04-01..05-01',
      'Support 1 10 03-01..03-11',
      'Support 1 42 03-11..04-01',
      'Calls 0 0 03-01..04-01',
    ]);
  });

  test('an advance fee: with create_prorations the difference now, with its tax and coupon', async () => {
    const { subscription, line } = await subscribed({ proration_behavior: 'create_prorations' });
    await change(line('Base'), { amount: '131', effective_from: day('2026-03-21') });
    const [invoice] = await invoicesOf(subscription);
    // 11 of 31 days: 35.48 go back, 46.48 are charged.
    expect(rows(invoice)).toEqual(['Base 1 -35.48 03-21..04-01', 'Base 1 46.48 03-21..04-01']);
    expect(invoice.total).toBe('11');
    const again = await change(line('Base'), { amount: '1' });
    expect(again.status).toBe(400);
  });

  test('a commitment begins with the new line', async () => {
    const { subscription, line } = await subscribed();
    const { body } = await change(line('Calls'), {
      commitment_amount: '40',
      commitment_type: 'amount',
      commitment_overage_factor: '1.5',
      commitment_true_up_enabled: true,
      effective_from: day('2026-03-01'),
    });
    expect(body).toMatchObject({ commitment_amount: '40', commitment_true_up_enabled: true });
    expect(rows(await preview(subscription))).toContain('Calls 0 40 03-01..04-01');
  });

  test('metadata alone changes the line in place', async () => {
    const { line } = await subscribed();
    const { body } = await change(line('Base'), { metadata: { k: 'v' } });
    expect(body).toMatchObject({ id: line('Base').id, metadata: { k: 'v' }, end_date: null });
  });

  test('the coupon of a line continues on the line that replaces it', async () => {
    const { api, catalog } = world;
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '31', { invoice_cadence: 'ARREAR' });
    const { body: coupon } = await api.post('/v1/coupons', {
      name: 'half',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-03-01'),
      line_item_coupons: { [price.id]: [coupon.id] },
    });
    await change(subscription.line_items[0], { amount: '62', effective_from: day('2026-03-11') });
    const shown = await preview(subscription);
    expect(shown.line_items.map(({ line_item_discount }: any) => line_item_discount)).toEqual([
      '5',
      '21',
    ]);
    const { body: kept } = await api.get(`/v1/coupons/${coupon.id}`);
    expect(kept.total_redemptions).toBe(1);
  });
});

describe('200 a line ends', () => {
  test('an arrear fee pays until the end; usage before it is billed', async () => {
    const { meter, customer, subscription, line } = await subscribed();
    await world.usage.use(meter, customer, day('2026-03-05'), '4');
    await world.usage.use(meter, customer, day('2026-03-15'), '8');
    const { status, body } = await end(line('Support'), { effective_from: day('2026-03-11') });
    expect(status).toBe(200);
    expect(body.end_date).toBe(day('2026-03-11'));
    await end(line('Calls'), { effective_from: day('2026-03-11') });
    expect(rows(await preview(subscription))).toEqual([
      'Base 1 100 04-01..05-01',
      'Support 1 10 03-01..03-11',
      'Calls 4 2 03-01..03-11',
    ]);
    expect((await end(line('Support'))).status).toBe(400);
  });

  test('with create_prorations: what is not served returns to the wallet, at most what was paid', async () => {
    const { subscription, line, customer } = await subscribed();
    await end(line('Base'), {
      effective_from: day('2026-03-21'),
      proration_behavior: 'create_prorations',
    });
    const { body: wallets } = await world.api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets).toMatchObject([{ name: 'Proration Credit Wallet', balance: '35.48' }]);
    expect(await invoicesOf(subscription)).toHaveLength(1);
  });

  test('a credit is net of the discount and has the tax of the row in it', async () => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '100', { display_name: 'Base' });
    const { body: coupon } = await api.post('/v1/coupons', {
      name: 'half',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const code = `vat${Date.now()}`;
    await api.post('/v1/taxes/rates', {
      name: 'vat',
      code,
      tax_rate_type: 'percentage',
      percentage_value: '20',
    });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      start_date: day('2026-03-01'),
      coupons: [coupon.id],
      tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd', auto_apply: true }],
    });
    expect(subscription.latest_invoice.total).toBe('60');
    await end(subscription.line_items[0], {
      effective_from: '2026-03-16T12:00:00.000Z',
      proration_behavior: 'create_prorations',
    });
    const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets[0].balance).toBe('30');
  });

  test('the tax that returns with a whole fee is in cents, like the credit (billing 0.2, 5.3)', async () => {
    const { api, catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10', { display_name: 'Base' });
    await catalog.fixed(plan, '0.05', { display_name: 'Small' });
    const code = 'CENTS';
    await api.post('/v1/taxes/rates', {
      ...{ name: code, code, tax_rate_type: 'percentage', percentage_value: '8.25' },
    });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, {
      ...{ start_date: day('2026-03-01'), proration_behavior: 'create_prorations' },
      tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd', auto_apply: true }],
    });
    const small = subscription.line_items.find((line: any) => line.display_name === 'Small');
    const ended = await end(small, { effective_from: day('2026-03-01') });
    expect(ended.status).toBe(200);
    // 0.83 of tax on 10.05: 0.0041 of it is on 0.05.
    const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets[0].balance).toBe('0.05');
  });

  test('a draft in its grace keeps the advances it had', async () => {
    const { subscription, line } = await subscribed();
    world.api.clock.set(day('2026-04-01'));
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    await world.close();
    world.api.clock.set('2026-04-01T01:00:00.000Z');
    const [draft] = await invoicesOf(subscription);
    await end(line('Base'), { proration_behavior: 'none' });
    await change(line('Support'), { amount: '62' });
    await world.api.post(`/v1/invoices/${draft.id}/compute`, {});
    const [same] = await invoicesOf(subscription);
    expect(rows(same)).toEqual(rows(draft));
    expect(same.line_items.map(({ id }: any) => id)).toEqual(
      draft.line_items.map(({ id }: any) => id),
    );
  });
});

describe('search', () => {
  test('by subscription, with prices and only those in force', async () => {
    const { subscription, line } = await subscribed();
    await change(line('Support'), { amount: '62', effective_from: day('2026-03-11') });
    const search = async (more: object) =>
      (
        await world.api.post('/v1/subscriptions/lineitems/search', {
          subscription_ids: [subscription.id],
          ...more,
        })
      ).body;
    expect((await search({})).pagination.total).toBe(4);
    const live = await search({ active_filter: true, expand: 'prices' });
    expect(live.pagination.total).toBe(3);
    expect(live.items.every(({ price }: any) => price !== null)).toBe(true);
    expect((await search({ entity_type: 'addon' })).items).toEqual([]);
  });
});

describe('refused', () => {
  test('400: no price, two prices, a closed period, the end of the subscription', async () => {
    const { subscription, extra } = await subscribed({ end_date: day('2026-06-01') });
    expect((await add(subscription, { quantity: '1' })).status).toBe(400);
    const early = await add(subscription, { price_id: extra.id, start_date: day('2026-02-01') });
    expect(early.body.message).toMatch(/start_date: must not be before the running period/);
    const late = await add(subscription, { price_id: extra.id, start_date: day('2026-06-01') });
    expect(late.body.message).toMatch(/start_date/);
    const negative = await add(subscription, { price_id: extra.id, quantity: '-1' });
    expect(negative.status).toBe(400);
  });

  test('400: a price that would rate the same usage', async () => {
    const { catalog } = world;
    const { subscription, meter } = await subscribed();
    const other = await catalog.plan();
    const same = await catalog.usage(other, meter, { amount: '1' });
    const { status, body } = await add(subscription, { price_id: same.id });
    expect(status).toBe(400);
    const named = `“[^”]+” \\(price_[0-9A-Z]+\\)`;
    expect(body.message).toMatch(
      new RegExp(`${named} and ${named} would both bill the same usage of meter “[^”]+” \\(meter_`),
    );
  });

  test('404: unknown price, line and subscription', async () => {
    const { subscription, extra } = await subscribed();
    const unknown = '00000000000000000000000000';
    expect((await add(subscription, { price_id: `price_${unknown}` })).status).toBe(404);
    expect((await add({ id: `subs_${unknown}` }, { price_id: extra.id })).status).toBe(404);
    expect((await change({ id: `subs_line_${unknown}` }, { amount: '1' })).status).toBe(404);
    expect((await end({ id: `subs_line_${unknown}` })).status).toBe(404);
    expect((await world.api.get(`/v1/subscriptions/lineitems/subs_line_${unknown}`)).status).toBe(
      404,
    );
  });

  test('400: a cancelled subscription', async () => {
    const { subscription, extra, line } = await subscribed();
    await world.api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      cancellation_type: 'immediate',
    });
    expect((await add(subscription, { price_id: extra.id })).status).toBe(400);
    expect((await end(line('Base'))).status).toBe(400);
  });
});
