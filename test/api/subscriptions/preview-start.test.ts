import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

const monthly = { billing_period: 'MONTHLY', billing_period_count: 1, currency: 'usd' };

/** 30.00 in advance, 12.00 in arrears, and 0.50 for each call. */
async function sold() {
  const { catalog, usage, api } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30', { display_name: 'Base' });
  await catalog.fixed(plan, '12', { invoice_cadence: 'ARREAR', display_name: 'Support' });
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { amount: '0.5', display_name: 'Calls' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const request = { ...monthly, customer_id: customer.id, plan_id: plan.id };
  return { plan, customer, request, use: (at: string) => usage.use(meter, customer, at, '10') };
}

const rowsOf = (invoice: any) =>
  invoice.line_items
    .map(({ display_name, amount, period_start }: any) => [display_name, amount, period_start])
    .sort();

async function storedRows() {
  const [row] = await world.api.pool`
    select (select count(*) from subscriptions)::int as subscriptions, (select count(*) from invoices)::int as invoices,
           (select count(*) from outbox)::int as events, (select count(*) from wallets)::int as wallets`;
  return row;
}

describe('the preview of a new subscription', () => {
  test('is what its creation issues and what its first period is billed, and stores nothing', async () => {
    world.api.clock.set(day('2026-09-10'));
    const { request, use } = await sold();
    await use(day('2026-09-04'));
    const body = { ...request, start_date: day('2026-09-01') };
    const before = await storedRows();
    const preview = await world.api.postOk('/v1/subscriptions/preview', body);
    expect(await storedRows()).toEqual(before);
    expect(preview.opening_invoice).toMatchObject({
      invoice_status: 'DRAFT',
      invoice_number: null,
      billing_reason: 'SUBSCRIPTION_CREATE',
      metadata: { is_preview: 'true' },
      amount_due: '30',
    });
    expect(rowsOf(preview.opening_invoice)).toEqual([['Base', '30', day('2026-09-01')]]);
    expect(rowsOf(preview.closing_invoice)).toEqual([
      ['Base', '30', day('2026-10-01')],
      ['Calls', '5', day('2026-09-01')],
      ['Support', '12', day('2026-09-01')],
    ]);
    expect(preview.closing_invoice.line_items[0].explanation).not.toBe(null);
    const { latest_invoice, id } = await world.api.postOk('/v1/subscriptions', body);
    expect(latest_invoice).toMatchObject({ total: '30', billing_reason: 'SUBSCRIPTION_CREATE' });
    const closing = await world.api.postOk('/v1/invoices/preview', { subscription_id: id });
    expect(rowsOf(preview.closing_invoice)).toEqual(rowsOf(closing));
  });

  test('takes no invoice number', async () => {
    world.api.clock.set(day('2026-09-01'));
    const { request } = await sold();
    const first = await world.api.postOk('/v1/subscriptions', request);
    await world.api.postOk('/v1/subscriptions/preview', request);
    const second = await world.api.postOk('/v1/subscriptions', request);
    const [before, after] = [first, second].map(({ latest_invoice }) =>
      Number(latest_invoice.invoice_number.replace(/.*-/, '')),
    );
    expect(after! - before!).toBe(1);
  });

  test('shows the opening invoice of a start in the future', async () => {
    world.api.clock.set(day('2026-09-10'));
    const { request } = await sold();
    const body = { ...request, start_date: day('2026-10-05'), billing_cycle: 'calendar' };
    const prorated = { ...body, proration_behavior: 'create_prorations' };
    const preview = await world.api.postOk('/v1/subscriptions/preview', prorated);
    const { id, latest_invoice } = await world.api.postOk('/v1/subscriptions', prorated);
    expect(latest_invoice).toBe(null);
    world.api.clock.set(day('2026-10-06'));
    await world.close();
    const opened = (await world.api.get(`/v1/subscriptions/${id}`)).body.latest_invoice;
    expect(Number(opened.total)).toBeGreaterThan(0);
    expect(preview.opening_invoice).toMatchObject({
      total: opened.total,
      period_start: opened.period_start,
      period_end: opened.period_end,
    });
  });

  test('spends prepaid credits once: the opening invoice first, then the end of the period', async () => {
    world.api.clock.set(day('2026-09-01'));
    const { customer, request } = await sold();
    await world.api.postOk('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      initial_credits_to_load: '35',
      config: { allowed_price_types: ['ALL'] },
    });
    const preview = await world.api.postOk('/v1/subscriptions/preview', request);
    expect(preview.opening_invoice).toMatchObject({
      total_prepaid_credits_applied: '30',
      amount_due: '0',
    });
    expect(preview.closing_invoice).toMatchObject({
      subtotal: '42',
      total_prepaid_credits_applied: '5',
    });
    const [{ balance }] = (await world.api.get(`/v1/customers/${customer.id}/wallets`)).body;
    expect(balance).toBe('35');
  });

  test('has the terms of its first phase', async () => {
    world.api.clock.set(day('2026-09-01'));
    const { request } = await sold();
    const coupon = await world.api.postOk('/v1/coupons', {
      name: 'Half',
      type: 'percentage',
      percentage_off: '50',
      cadence: 'forever',
    });
    const preview = await world.api.postOk('/v1/subscriptions/preview', {
      ...request,
      phases: [
        { start_date: day('2026-09-01'), end_date: day('2026-10-01'), coupons: [coupon.id] },
        { start_date: day('2026-10-01') },
      ],
    });
    expect(preview.opening_invoice).toMatchObject({ subtotal: '30', total_discount: '15' });
  });

  test('of a trial: nothing is due at the start, and the first fees at its end', async () => {
    world.api.clock.set(day('2026-09-01'));
    const { request } = await sold();
    const body = { ...request, trial_period_days: 10 };
    const preview = await world.api.postOk('/v1/subscriptions/preview', body);
    expect(preview.opening_invoice).toMatchObject({ total: '0' });
    expect(rowsOf(preview.closing_invoice)).toEqual([['Base', '30', day('2026-09-11')]]);
  });

  test('is refused as the creation is', async () => {
    const { request } = await sold();
    const body = { ...request, coupons: ['coupon_unknown'] };
    const [previewed, created] = [
      await world.api.post('/v1/subscriptions/preview', body),
      await world.api.post('/v1/subscriptions', body),
    ];
    expect(previewed.status).toBe(created.status);
    expect(previewed.status).toBeGreaterThanOrEqual(400);
    expect(previewed.body.message).toBe(created.body.message);
  });
});

describe('the preview of an activation', () => {
  test('is what the activation issues, and leaves the draft as it is', async () => {
    world.api.clock.set(day('2026-09-10'));
    const { request, use } = await sold();
    await use(day('2026-09-04'));
    const draft = await world.api.postOk('/v1/subscriptions', {
      ...request,
      subscription_status: 'draft',
      start_date: day('2026-12-01'),
    });
    const body = { start_date: day('2026-09-01') };
    const path = `/v1/subscriptions/${draft.id}/activate`;
    const read = async () => (await world.api.get(`/v1/subscriptions/${draft.id}`)).body;
    const before = await read();
    const preview = await world.api.postOk(`${path}/preview`, body);
    expect(rowsOf(preview.opening_invoice)).toEqual([['Base', '30', day('2026-09-01')]]);
    expect(rowsOf(preview.closing_invoice)).toEqual([
      ['Base', '30', day('2026-10-01')],
      ['Calls', '5', day('2026-09-01')],
      ['Support', '12', day('2026-09-01')],
    ]);
    expect(await read()).toEqual(before);
    const { latest_invoice } = await world.api.postOk(path, body);
    expect(latest_invoice.total).toBe(preview.opening_invoice.total);
  });

  test('is refused for a subscription that runs', async () => {
    const { request } = await sold();
    const { id } = await world.api.postOk('/v1/subscriptions', request);
    const { status, body } = await world.api.post(`/v1/subscriptions/${id}/activate/preview`, {
      start_date: day('2026-09-01'),
    });
    expect(status).toBe(400);
    expect(body.message).toContain('Only a draft can be activated');
  });
});
