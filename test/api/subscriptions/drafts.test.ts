import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';
import { day } from '../../support/day.ts';

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());

const activate = (id: string, body: object) => api.post(`/v1/subscriptions/${id}/activate`, body);
const discard = (id: string) => api.post(`/v1/subscriptions/${id}/discard`);
const read = async (id: string) => (await api.get(`/v1/subscriptions/${id}`)).body;

async function drafted(more: object = {}, feeTerms: object = {}) {
  const plan = await catalog.plan();
  const fee = await catalog.fixed(plan, '100', feeTerms);
  const once = await catalog.fixed(plan, '40', {
    billing_period: 'ONETIME',
    display_name: 'Setup',
  });
  const customer = await catalog.customer();
  const draft = await catalog.subscribe(customer, plan, {
    subscription_status: 'draft',
    start_date: day('2026-09-01'),
    ...more,
  });
  return { plan, fee, once, customer, draft };
}

describe('a draft', () => {
  test('has its lines, and neither an invoice nor a due time', async () => {
    const { draft } = await drafted();
    expect(draft).toMatchObject({
      subscription_status: 'draft',
      latest_invoice: null,
      current_period_start: day('2026-09-01'),
      line_items: [{}, {}],
    });
    const [row] = await api.pool`select due_at from subscriptions where id = ${draft.id}`;
    expect(row!['due_at']).toBe(null);
    const [event] = await api.pool`
      select event_type from outbox where entity_id = ${draft.id}`;
    expect(event!['event_type']).toBe('subscription.draft.created');
  });
  test('is found only by its status, and cannot be cancelled or invoiced', async () => {
    const { draft, customer } = await drafted();
    const found = async (more: object) =>
      (await api.post('/v1/subscriptions/search', { customer_id: customer.id, ...more })).body
        .items;
    expect(await found({})).toEqual([]);
    expect(await found({ subscription_status: ['draft'] })).toHaveLength(1);
    const cancelled = await api.post(`/v1/subscriptions/${draft.id}/cancel`, {
      cancellation_type: 'immediate',
    });
    expect(cancelled.status).toBe(400);
  });
});

describe('activation', () => {
  test('counts anchor, period and lines from the new start, and issues the opening invoice', async () => {
    const { draft } = await drafted();
    const { status, body } = await activate(draft.id, { start_date: day('2026-11-10') });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      subscription_status: 'active',
      start_date: day('2026-11-10'),
      billing_anchor: day('2026-11-10'),
      current_period_start: day('2026-11-10'),
      current_period_end: day('2026-12-10'),
      line_items: [{ start_date: day('2026-11-10') }, { start_date: day('2026-11-10') }],
      latest_invoice: {
        invoice_status: 'FINALIZED',
        billing_reason: 'SUBSCRIPTION_CREATE',
        billing_sequence: 1,
        total: '140',
      },
    });
    const [row] = await api.pool`select due_at from subscriptions where id = ${draft.id}`;
    expect(row!['due_at']).toBe(day('2026-12-10'));
    const events = await api.pool`
      select event_type from outbox where entity_id = ${draft.id} order by position`.catch(
      () => api.pool`select event_type from outbox where entity_id = ${draft.id}`,
    );
    expect(events.map(({ event_type }) => event_type)).toContain('subscription.activated');
  });

  test('an earlier start works as well, and a start in the future opens then', async () => {
    const { draft } = await drafted();
    const earlier = await activate(draft.id, { start_date: day('2026-08-01') });
    expect(earlier.body).toMatchObject({
      current_period_start: day('2026-08-01'),
      line_items: [{ start_date: day('2026-08-01') }, { start_date: day('2026-08-01') }],
      latest_invoice: { period_start: day('2026-08-01') },
    });
    const { draft: later } = await drafted();
    const future = await activate(later.id, { start_date: day('2027-01-01') });
    expect(future.body).toMatchObject({ subscription_status: 'active', latest_invoice: null });
    const [row] = await api.pool`select due_at from subscriptions where id = ${later.id}`;
    expect(row!['due_at']).toBe(day('2027-01-01'));
  });

  test('an earlier start counts for overridden prices too, from the start of the plan price on', async () => {
    const plan = await catalog.plan();
    const [seats, late] = [
      await catalog.fixed(plan, '10'),
      await catalog.fixed(plan, '7', { start_date: day('2026-08-21') }),
    ];
    const customer = await catalog.customer();
    const draft = await catalog.subscribe(customer, plan, {
      ...{ subscription_status: 'draft', start_date: day('2026-09-01') },
      override_line_items: [
        { price_id: seats.id, quantity: '4' },
        { price_id: late.id, amount: '5' },
      ],
    });
    const { body } = await activate(draft.id, { start_date: day('2026-08-01') });
    const starts = body.line_items.map(({ price_id, start_date }: any) => [price_id, start_date]);
    const own = new Map<string, string>(starts);
    const prices = await api.pool`
      select id, parent_price_id, start_date from prices where id = any(${[...own.keys()]})`;
    const startOf = (root: string) => {
      const price = prices.find(({ parent_price_id }) => parent_price_id === root)!;
      return [own.get(price['id']), price['start_date']];
    };
    expect(startOf(seats.id)).toEqual([day('2026-08-01'), day('2026-08-01')]);
    expect(startOf(late.id)).toEqual([day('2026-08-21'), day('2026-08-21')]);
    // 4 × 10.00 for all of the period.
    expect(body.latest_invoice).toMatchObject({
      line_items: [{ amount: '40', period_start: day('2026-08-01') }, {}],
    });
  });

  test('the trial is as long as before; one-time fees and grants wait for its end', async () => {
    const { draft } = await drafted({
      trial_period_days: 10,
      credit_grants: [
        {
          name: 'Welcome',
          scope: 'SUBSCRIPTION',
          cadence: 'ONETIME',
          credits: '5',
          expiration_type: 'NEVER',
        },
      ],
    });
    expect(draft).toMatchObject({ trial_end: day('2026-09-11') });
    const { body } = await activate(draft.id, { start_date: day('2026-11-15') });
    expect(body).toMatchObject({
      subscription_status: 'trialing',
      trial_start: day('2026-11-15'),
      trial_end: day('2026-11-25'),
      current_period_end: day('2026-11-25'),
      credit_grants: [{ start_date: day('2026-11-25') }],
      latest_invoice: { billing_reason: 'SUBSCRIPTION_TRIAL_START', total: '0' },
    });
    const shown = await api.post('/v1/invoices/preview', { subscription_id: draft.id });
    const dates = shown.body.line_items.map((row: any) => [row.display_name, row.period_start]);
    expect(Object.fromEntries(dates)).toMatchObject({ Setup: day('2026-11-25') });
  });

  test('a calendar cycle gets a new anchor; an anchor of its own stays', async () => {
    const calendar = await drafted({ billing_cycle: 'calendar' });
    const aligned = await activate(calendar.draft.id, { start_date: day('2026-11-10') });
    expect(aligned.body).toMatchObject({
      billing_anchor: day('2026-12-01'),
      current_period_end: day('2026-12-01'),
    });
    const own = await drafted({ billing_anchor: day('2026-09-15') });
    const kept = await activate(own.draft.id, { start_date: day('2026-11-10') });
    expect(kept.body).toMatchObject({
      billing_anchor: day('2026-09-15'),
      current_period_end: day('2026-11-15'),
    });
  });

  test('coupons, taxes and lines with dates of their own', async () => {
    const coupon = (
      await api.post('/v1/coupons', {
        name: 'Half',
        type: 'percentage',
        percentage_off: '50',
        cadence: 'repeated',
        duration_in_periods: 2,
      })
    ).body;
    await api.post('/v1/taxes/rates', {
      name: 'VAT',
      code: 'vat_draft',
      tax_rate_type: 'percentage',
      percentage_value: '10',
      scope: 'INTERNAL',
    });
    const { plan, customer } = await drafted();
    const draft = await catalog.subscribe(customer, plan, {
      subscription_status: 'draft',
      start_date: day('2026-12-01'),
      coupons: [coupon.id],
      tax_rate_overrides: [{ tax_rate_code: 'vat_draft', currency: 'usd', auto_apply: true }],
    });
    const { body } = await activate(draft.id, { start_date: day('2026-11-10') });
    expect(body.coupon_associations).toMatchObject([
      { start_date: day('2026-11-10'), end_date: day('2027-01-10') },
    ]);
    // (100 + 40) / 2, and a tenth of it.
    expect(body.latest_invoice).toMatchObject({
      total_discount: '70',
      total_tax: '7',
      total: '77',
    });
  });

  test('the payment behavior decides as at creation', async () => {
    const { draft } = await drafted({ payment_behavior: 'default_incomplete' });
    const unpaid = await activate(draft.id, { start_date: day('2026-11-10') });
    expect(unpaid.body.subscription_status).toBe('incomplete');
    const { draft: strict } = await drafted({ payment_behavior: 'error_if_incomplete' });
    const refused = await activate(strict.id, { start_date: day('2026-11-10') });
    expect(refused.status).toBe(400);
    expect(await read(strict.id)).toMatchObject({
      subscription_status: 'draft',
      start_date: day('2026-09-01'),
      latest_invoice: null,
    });
  });
});

describe('400 and 404', () => {
  test('no start, an end before it, or not a draft', async () => {
    const { draft } = await drafted({ end_date: day('2026-11-01') });
    expect((await activate(draft.id, {})).body.details[0].path).toBe('start_date');
    expect((await activate(draft.id, { start_date: day('2026-11-10') })).body.details[0].path).toBe(
      'end_date',
    );
    await activate(draft.id, { start_date: day('2026-10-10') });
    const twice = await activate(draft.id, { start_date: day('2026-10-10') });
    expect(twice).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
  });
  test('an unknown subscription', async () => {
    expect((await activate('subs_none', { start_date: day('2026-11-10') })).status).toBe(404);
  });
});

describe('a draft that is discarded', () => {
  test('200: it is gone with its parts, and its coupon may be redeemed again', async () => {
    const { body: coupon } = await api.post('/v1/coupons', {
      name: 'Once', type: 'percentage', percentage_off: '10', cadence: 'forever', max_redemptions: 1,
    }); // prettier-ignore
    const { draft, customer, plan } = await drafted({ coupons: [coupon.id] });
    const again = { customer_id: customer.id, subscription_status: ['draft'] };
    expect((await discard(draft.id)).body).toEqual({ message: 'subscription draft discarded' });
    const found = await api.post('/v1/subscriptions/search', again);
    expect(found.body.items).toEqual([]);
    const rows = await api.pool<{ status: string }[]>`
      select status from subscriptions where id = ${draft.id}
      union all select status from subscription_line_items where subscription_id = ${draft.id}
      union all select status from coupon_associations where subscription_id = ${draft.id}`;
    expect(rows.map(({ status }) => status)).toEqual(Array(4).fill('archived'));
    expect((await discard(draft.id)).status).toBe(404);
    const other = await catalog.subscribe(customer, plan, { coupons: [coupon.id] });
    expect(other.coupon_associations).toHaveLength(1);
  });

  test('with the inherited drafts below it, which are not discarded alone', async () => {
    const [parent, child] = [await catalog.customer(), await catalog.customer()];
    const plan = await catalog.plan();
    await catalog.fixed(plan, '100');
    const draft = await catalog.subscribe(parent, plan, {
      subscription_status: 'draft',
      inheritance: { external_customer_ids_to_inherit_subscription: [child.external_id] },
    });
    const [row] = await api.pool<{ id: string }[]>`
      select id from subscriptions where parent_subscription_id = ${draft.id}`;
    expect((await discard(row!.id)).status).toBe(400);
    expect((await discard(draft.id)).status).toBe(200);
    const left = await api.pool`
      select id from subscriptions
       where ${draft.id} in (id, parent_subscription_id) and status = 'published'`;
    expect([...left]).toEqual([]);
  });

  test('400: only a draft', async () => {
    const { draft } = await drafted();
    await activate(draft.id, { start_date: day('2026-09-01') });
    expect(await discard(draft.id)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('active') } },
    });
    expect(await read(draft.id)).toMatchObject({ subscription_status: 'active' });
  });
});
