import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';
import { payOffline } from '../../support/payments.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.api.clock.set('2026-03-10T00:00:00.000Z'));

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const row = (display_name: string, amount: string, more: object = {}) => ({
  display_name,
  amount,
  quantity: '1',
  ...more,
});
const act = (id: string, action: string, body: object = {}) =>
  world.api.post(`/v1/invoices/${id}/${action}`, body);
const read = async (id: string) => (await world.api.get(`/v1/invoices/${id}`)).body;
const modify = (id: string, line_items: object[], more: object = {}) =>
  act(id, 'modify/execute', { line_items, ...more });
const rows = ({ line_items }: any) =>
  line_items.map(({ display_name, quantity, amount }: any) => [display_name, quantity, amount]);

/** The draft of March: 60 in arrears, calls at 0.5, taxed with 20 %, 10 % off. */
async function drafted() {
  const { api, catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '60', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  const code = `vat_${plan.id}`;
  const rate = { name: 'VAT', code, percentage_value: '20', tax_rate_type: 'percentage' };
  await api.post('/v1/taxes/rates', rate);
  const ten = { name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'forever' };
  const { body: coupon } = await api.post('/v1/coupons', ten);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('03-01'),
    coupons: [coupon.id],
    tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd', auto_apply: true }],
  });
  await api.pool`update meter_versions set backfill_state = 'complete'`;
  await world.usage.use(meter, customer, day('03-05'), '80');
  api.clock.set(day('04-01'));
  const body = {
    invoice_type: 'SUBSCRIPTION',
    customer_id: customer.id,
    subscription_id: subscription.id,
    currency: 'usd',
    period_start: day('03-01'),
    period_end: day('04-01'),
  };
  const { body: draft } = await api.post('/v1/invoices', body);
  expect(draft).toMatchObject({ subtotal: '100', total_discount: '10', total: '108' });
  return { plan, meter, customer, subscription, coupon, draft, body };
}
async function oneOff(more: object = {}) {
  const customer = await world.catalog.customer();
  const { body } = await world.api.post('/v1/invoices', {
    customer_id: customer.id,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: [row('A', '60'), row('B', '40')],
    ...more,
  });
  return body;
}

test('400: an issued invoice that a credit note adjusts is replaced only after the note is void (money 9.15)', async () => {
  const { draft } = await drafted();
  await act(draft.id, 'finalize');
  const [support] = (await read(draft.id)).line_items;
  const { body: note } = await world.api.post('/v1/creditnotes', {
    invoice_id: draft.id,
    reason: 'BILLING_ERROR',
    process_credit_note: true,
    line_items: [{ invoice_line_item_id: support.id, amount: '10' }],
  });
  expect(await read(draft.id)).toMatchObject({ adjustment_amount: '10' });
  const add = () => modify(draft.id, [{ action: 'add', ...row('Setup', '25') }]);
  for (const refused of [await add(), await act(draft.id, 'recalculate')])
    expect(refused).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('Credit notes adjust the invoice') } },
    });
  expect(await read(draft.id)).toMatchObject({ invoice_status: 'FINALIZED' });
  await world.api.post(`/v1/creditnotes/${note.id}/void`, {});
  expect(await add()).toMatchObject({ status: 200, body: { invoice_status: 'DRAFT' } });
});

describe('POST /invoices/{id}/modify/execute on a draft (billing 17.6)', () => {
  test('rows are added, updated and removed; an updated row has a new id', async () => {
    const { draft } = await drafted();
    const [support, calls] = draft.line_items;
    const { status, body } = await modify(draft.id, [
      { action: 'add', ...row('Setup', '25', { quantity: '2', metadata: { a: 'b' } }) },
      { action: 'update', id: support.id, amount: '50' },
      { action: 'remove', id: calls.id },
    ]);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: draft.id,
      invoice_status: 'DRAFT',
      is_manually_edited: true,
      subtotal: '75',
    });
    expect(rows(body)).toEqual([
      ['Support', '1', '50'],
      ['Setup', '2', '25'],
    ]);
    expect(body.line_items[0].id).not.toBe(support.id);
    expect(body.line_items[0]).toMatchObject({
      subscription_line_item_id: support.subscription_line_item_id,
      period_start: support.period_start,
    });
    expect(rows(await read(draft.id))).toEqual(rows(body));
  });

  test('the discount keeps its amount as far as the rows allow; apply_discount derives it again', async () => {
    const { draft } = await drafted();
    const [support, calls] = draft.line_items;
    const kept = (await modify(draft.id, [{ action: 'update', id: support.id, amount: '160' }]))
      .body;
    expect(kept).toMatchObject({
      subtotal: '200',
      total_discount: '10',
      total_tax: '38',
      total: '228',
    });
    const derived = (await modify(draft.id, [], { apply_discount: true })).body;
    expect(derived).toMatchObject({ total_discount: '20', total_tax: '36', total: '216' });
    const removed = [kept.line_items[0].id, calls.id].map((id) => ({ action: 'remove', id }));
    expect((await modify(draft.id, removed)).body).toMatchObject({
      subtotal: '0',
      total_discount: '0',
      total: '0',
      coupon_applications: [],
      invoice_status: 'DRAFT',
    });
  });

  test('later computations and the finalization keep the rows', async () => {
    const { draft, meter, customer } = await drafted();
    await modify(draft.id, [{ action: 'add', ...row('Setup', '25') }]);
    const before = rows(await read(draft.id));
    await world.usage.use(meter, customer, day('03-06'), '1000');
    expect(await act(draft.id, 'compute')).toMatchObject({ status: 200, body: { skipped: false } });
    expect(await act(draft.id, 'finalize')).toMatchObject({ status: 200 });
    const final = await read(draft.id);
    expect(rows(final)).toEqual(before);
    expect(final).toMatchObject({
      invoice_status: 'FINALIZED',
      subtotal: '125',
      total_discount: '10',
      total: '138',
      coupon_applications: [{ discounted_amount: '10' }],
    });
  });

  test.each`
    name                                 | edits                                                                | status | path
    ${'no edits'}                        | ${[]}                                                                | ${400} | ${'line_items'}
    ${'a negative quantity'}             | ${[{ action: 'add', ...row('A', '5', { quantity: '-1' }) }]}         | ${400} | ${'line_items[0].quantity'}
    ${'more decimals than the currency'} | ${[{ action: 'add', ...row('A', '5.001') }]}                         | ${400} | ${'line_items[0].amount'}
    ${'a sum below zero'}                | ${[{ action: 'add', ...row('A', '-101') }]}                          | ${400} | ${'line_items'}
    ${'an unknown price'}                | ${[{ action: 'add', ...row('A', '5', { price_id: 'price_none' }) }]} | ${404} | ${null}
    ${'an unknown row'}                  | ${[{ action: 'remove', id: 'inv_line_none' }]}                       | ${404} | ${null}
    ${'an unknown action'}               | ${[{ action: 'move', id: 'inv_line_none' }]}                         | ${400} | ${'line_items[0].action'}
  `('$status: $name; nothing changes', async ({ edits, status, path }) => {
    const { draft } = await drafted();
    const answer = await modify(draft.id, edits);
    expect(answer.status).toBe(status);
    if (path !== null) expect(answer.body.details[0].path).toBe(path);
    expect(rows(await read(draft.id))).toEqual(rows(draft));
  });
});

describe('POST /invoices/{id}/modify/execute on a finalized invoice', () => {
  test('the original is void and linked to a draft with the edited rows', async () => {
    const { draft } = await drafted();
    await act(draft.id, 'finalize');
    const original = await read(draft.id);
    const { status, body: next } = await modify(draft.id, [
      { action: 'update', id: original.line_items[0].id, amount: '50' },
    ]);
    expect(status).toBe(200);
    expect(next).toMatchObject({
      invoice_status: 'DRAFT',
      invoice_number: null,
      billing_reason: 'SUBSCRIPTION_CYCLE',
      billing_sequence: original.billing_sequence,
      period_start: original.period_start,
      is_manually_edited: true,
      subtotal: '90',
      total_discount: '10',
      total: '96',
      taxes: [{ entity_id: next.id, tax_amount: '16' }],
    });
    expect(rows(next)).toEqual([
      ['Support', '1', '50'],
      ['Calls', '80', '40'],
    ]);
    const ids = original.line_items.map(({ id }: any) => id);
    for (const { id, invoice_id } of next.line_items) {
      expect(ids).not.toContain(id);
      expect(invoice_id).toBe(next.id);
    }
    const lineIds = next.line_items.map(({ id }: any) => id);
    for (const share of next.coupon_applications[0].shares)
      expect(lineIds).toContain(share.invoice_line_item_id);
    expect(await read(draft.id)).toMatchObject({
      invoice_status: 'VOIDED',
      invoice_number: original.invoice_number,
      recalculated_invoice_id: next.id,
      total: original.total,
    });
    expect(await modify(draft.id, [{ action: 'add', ...row('A', '5') }])).toMatchObject({
      status: 400,
      body: { details: [{ path: 'invoice_status' }] },
    });
    await act(next.id, 'finalize');
    expect(await read(next.id)).toMatchObject({ invoice_status: 'FINALIZED', total: '96' });
  });

  test('a one-off invoice too, with its coupon and tax; the draft is finalized by hand', async () => {
    const ten = { name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'once' };
    const { body: coupon } = await world.api.post('/v1/coupons', ten);
    const rate = { name: 'V', code: 'v21', percentage_value: '21', tax_rate_type: 'percentage' };
    const { body: vat } = await world.api.post('/v1/taxes/rates', rate);
    const original = await oneOff({ coupons: [coupon.id], tax_rates: [vat.id] });
    const add = [{ action: 'add', ...row('C', '100') }];
    const { body: next } = await modify(original.id, add, { apply_discount: true });
    expect(next).toMatchObject({
      invoice_status: 'DRAFT',
      subtotal: '200',
      total_discount: '20',
      total_tax: '37.8',
      total: '217.8',
    });
    expect(await act(next.id, 'finalize')).toMatchObject({ status: 200 });
    expect(await read(next.id)).toMatchObject({
      invoice_status: 'FINALIZED',
      total: '217.8',
      coupon_applications: [{ coupon_snapshot: { name: 'Ten' } }],
    });
  });

  test('what was paid moves to the replacement: nothing is refunded', async () => {
    const original = await oneOff();
    const paid = await world.api.post('/v1/payments', {
      destination_type: 'INVOICE',
      destination_id: original.id,
      payment_method_type: 'OFFLINE',
      amount: '100',
      currency: 'usd',
      process_payment: true,
    });
    expect(paid.status).toBe(201);
    const { body: next } = await modify(original.id, [{ action: 'add', ...row('C', '30') }]);
    expect(next).toMatchObject({ amount_paid: '100', amount_remaining: '30' });
    expect(await read(original.id)).toMatchObject({ amount_paid: '0', refunded_amount: '0' });
    await act(next.id, 'finalize');
    expect(await read(next.id)).toMatchObject({ amount_paid: '100', amount_remaining: '30' });
  });

  test('the taxes of its closed period stay; /recalculate takes the present ones', async () => {
    const { draft, customer } = await drafted();
    await act(draft.id, 'finalize');
    await world.api.put(`/v1/customers/${customer.id}`, { tax_treatment: 'exempt' });
    const { body: next } = await modify(draft.id, [{ action: 'add', ...row('Setup', '25') }]);
    expect(next).toMatchObject({ subtotal: '125', total_discount: '10', total_tax: '23' });
    await act(next.id, 'finalize');
    expect(await read(next.id)).toMatchObject({ total_tax: '23', total: '138' });
    expect((await act(next.id, 'recalculate')).body).toMatchObject({ total_tax: '0' });
  });

  test('what was refunded of it moves too: a void returns the rest only', async () => {
    const original = await oneOff();
    const { id: payment_id } = (await payOffline(world.api, original, '100')).body;
    const forty = { payment_id, amount: '40', target: 'PREPAID_WALLET' };
    const { body: refund } = await world.api.post('/v1/refunds', forty);
    const { body: next } = await modify(original.id, [{ action: 'add', ...row('C', '30') }]);
    await act(next.id, 'finalize');
    expect(await read(next.id)).toMatchObject({
      amount_paid: '100',
      refunded_amount: '40',
      payment_status: 'PARTIALLY_REFUNDED',
    });
    expect(await read(original.id)).toMatchObject({ amount_paid: '0', refunded_amount: '0' });
    const moved = (await world.api.get(`/v1/refunds/${refund.id}`)).body;
    expect(moved).toMatchObject({ invoice_id: next.id });
    expect((await act(next.id, 'void')).status).toBe(200);
    const { body: wallets } = await world.api.get(`/v1/customers/${original.customer_id}/wallets`);
    expect(wallets).toMatchObject([{ credit_balance: '100' }]);
  });

  test('an invoice that a checkout session sold: its replacement waits for no session', async () => {
    await world.api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
    const sold = await oneOff({ checkout: { payment_provider: 'test' } });
    const { checkout_payment_id } = sold.checkout_session;
    const path = `/v1/test-gateway/payments/${checkout_payment_id}/outcome`;
    await world.api.post(path, { outcome: 'success' });
    const { body: next } = await modify(sold.id, [{ action: 'add', ...row('C', '30') }]);
    expect(next).toMatchObject({ amount_paid: '100', amount_remaining: '30', source_type: null });
    expect(await act(next.id, 'finalize')).toMatchObject({ status: 200 });
    expect(await read(next.id)).toMatchObject({ invoice_status: 'FINALIZED', amount_paid: '100' });
  });

  test.each([true, false])(
    '400: an invoice that sells credits, paid: %s; its rows are the purchase',
    async (isPaid) => {
      const customer = await world.catalog.customer();
      const wallet = { customer_id: customer.id, currency: 'usd' };
      const { body: opened } = await world.api.post('/v1/wallets', wallet);
      const { body: bought } = await world.api.post(`/v1/wallets/${opened.id}/top-up`, {
        credits_to_add: '100',
        transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      });
      const invoice = await read(bought.invoice_id);
      if (isPaid) await payOffline(world.api, invoice, '100');
      const answer = await modify(invoice.id, [{ action: 'add', ...row('C', '30') }]);
      expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_operation' } });
      expect(await read(invoice.id)).toMatchObject({ invoice_status: 'FINALIZED' });
      const after = (await world.api.get(`/v1/wallets/${opened.id}`)).body;
      expect(after).toMatchObject({ credit_balance: isPaid ? '100' : '0' });
    },
  );
});

describe('POST /invoices/{id}/recalculate and /recalculate-v2', () => {
  test('a finalized invoice is void; its linked draft has the usage of now', async () => {
    const { draft, meter, customer, body } = await drafted();
    await act(draft.id, 'finalize');
    await world.usage.use(meter, customer, day('03-06'), '20');
    const { status, body: next } = await act(draft.id, 'recalculate');
    expect(status).toBe(200);
    expect(next).toMatchObject({
      invoice_status: 'DRAFT',
      billing_reason: 'SUBSCRIPTION_CYCLE',
      billing_sequence: draft.billing_sequence,
      subtotal: '110',
      total_discount: '11',
      total: '118.8',
    });
    expect(await read(draft.id)).toMatchObject({
      invoice_status: 'VOIDED',
      recalculated_invoice_id: next.id,
    });
    for (const id of [draft.id, next.id])
      expect(await act(id, 'recalculate')).toMatchObject({
        status: 400,
        body: { code: 'invalid_operation' },
      });
    // The period has its invoice: the same question gives the replacement.
    expect((await world.api.post('/v1/invoices', body)).body.id).toBe(next.id);
    await act(next.id, 'finalize');
    expect(await read(next.id)).toMatchObject({ invoice_status: 'FINALIZED', total: '118.8' });
  });

  test('an opening invoice stays an opening invoice, with its coupon that counts once', async () => {
    const { api, catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '40', { display_name: 'Base' });
    const five = { name: 'F', type: 'fixed', amount_off: '5', currency: 'usd', cadence: 'once' };
    const { body: coupon } = await api.post('/v1/coupons', five);
    const customer = await catalog.customer();
    const { latest_invoice: opening } = await catalog.subscribe(customer, plan, {
      start_date: day('03-01'),
      coupons: [coupon.id],
    });
    expect(opening).toMatchObject({ billing_reason: 'SUBSCRIPTION_CREATE', total: '35' });
    const { body: next } = await act(opening.id, 'recalculate');
    expect(next).toMatchObject({
      billing_reason: 'SUBSCRIPTION_CREATE',
      total: '35',
      line_items: [{ display_name: 'Base', period_start: day('03-01') }],
    });
    expect(await act(next.id, 'finalize')).toMatchObject({ status: 200 });
    const { body: edited } = await modify(next.id, [], { apply_discount: true });
    expect(edited).toMatchObject({ total: '35', is_manually_edited: false });
  });

  test('rows that a person wrote are kept', async () => {
    const { draft } = await drafted();
    await modify(draft.id, [{ action: 'add', ...row('Setup', '25') }]);
    await act(draft.id, 'finalize');
    const { body: next } = await act(draft.id, 'recalculate');
    expect(next).toMatchObject({ subtotal: '125', is_manually_edited: true });
    expect(rows(next)).toContainEqual(['Setup', '1', '25']);
  });

  test('nothing is left to bill: the replacement is skipped', async () => {
    const { draft } = await drafted();
    await act(draft.id, 'finalize');
    await world.api.pool`
      update subscription_line_items set end_date = start_date
       where subscription_id = ${draft.subscription_id}`;
    expect((await act(draft.id, 'recalculate')).body).toMatchObject({ invoice_status: 'SKIPPED' });
  });

  test('400 for a draft, a voided or a one-off invoice; 404 when it is unknown', async () => {
    const { draft } = await drafted();
    const refused = { status: 400, body: { code: 'invalid_operation' } };
    expect(await act(draft.id, 'recalculate')).toMatchObject(refused);
    await act(draft.id, 'void');
    expect(await act(draft.id, 'recalculate')).toMatchObject(refused);
    expect(await act(draft.id, 'recalculate-v2')).toMatchObject(refused);
    const { id } = await oneOff();
    expect(await act(id, 'recalculate')).toMatchObject(refused);
    for (const action of ['recalculate', 'recalculate-v2', 'modify/execute'])
      expect(
        await act('inv_none', action, { line_items: [{ action: 'remove', id: 'x' }] }),
      ).toMatchObject({ status: 404 });
  });

  test('recalculate-v2 computes a draft and finalizes it, unless it is to stay one', async () => {
    const { draft, meter, customer } = await drafted();
    await world.usage.use(meter, customer, day('03-06'), '20');
    expect(await act(draft.id, 'recalculate-v2?finalize=false')).toMatchObject({
      status: 200,
      body: { id: draft.id, invoice_status: 'DRAFT', subtotal: '110' },
    });
    expect(await act(draft.id, 'recalculate-v2')).toMatchObject({
      status: 200,
      body: {
        invoice_status: 'FINALIZED',
        subtotal: '110',
        invoice_number: expect.stringMatching(/^INV-/),
      },
    });
    expect(await act(draft.id, 'recalculate-v2')).toMatchObject({ status: 400 });
  });

  test('two at once make one replacement', async () => {
    const { draft } = await drafted();
    await act(draft.id, 'finalize');
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => act(draft.id, 'recalculate')),
    );
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    const [count] = await world.api.pool`
      select count(*)::int as n from invoices
       where subscription_id = ${draft.subscription_id} and invoice_status <> 'VOIDED'`;
    expect(count).toEqual({ n: 1 });
  });
});

describe('a voided invoice is billed again', () => {
  test('an opening invoice, with its reason; not while another one exists', async () => {
    const { api, catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '40');
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, { start_date: day('03-01') });
    const opening = subscription.latest_invoice;
    const again = () =>
      api.post('/v1/invoices', {
        invoice_type: 'SUBSCRIPTION',
        customer_id: customer.id,
        subscription_id: subscription.id,
        currency: 'usd',
        billing_reason: 'SUBSCRIPTION_CREATE',
      });
    expect(await again()).toMatchObject({
      status: 400,
      body: { details: [{ path: 'billing_reason' }] },
    });
    await act(opening.id, 'void');
    const { status, body: draft } = await again();
    expect(status).toBe(201);
    expect(draft).toMatchObject({
      invoice_status: 'DRAFT',
      billing_reason: 'SUBSCRIPTION_CREATE',
      period_start: opening.period_start,
      total: '40',
    });
    expect((await again()).body.id).toBe(draft.id);
    expect(await act(draft.id, 'finalize')).toMatchObject({ status: 200 });
    expect(await again()).toMatchObject({ status: 409, body: { code: 'already_exists' } });
    expect((await read(opening.id)).invoice_status).toBe('VOIDED');
  });
});

describe('finalizing (billing 17.4)', () => {
  test('409 not_due while the period runs, with the instant; from its end on it is final', async () => {
    const { draft } = await drafted();
    world.api.clock.set('2026-03-31T23:59:59.000Z');
    for (const action of ['finalize', 'recalculate-v2']) {
      const answer = await act(draft.id, action);
      expect(answer).toMatchObject({
        status: 409,
        headers: { 'retry-after': '1' },
        body: { code: 'not_due', details: [{ path: 'period_end', code: 'not_due' }] },
      });
      expect(answer.body.message).toContain(day('04-01'));
    }
    expect((await read(draft.id)).invoice_status).toBe('DRAFT');
    world.api.clock.set(day('04-01'));
    expect(await act(draft.id, 'finalize')).toMatchObject({ status: 200 });
  });

  test('409 not_due while accepted events are not counted yet, by hand too', async () => {
    const { draft } = await drafted();
    world.heads = { 0: 10n ** 15n };
    const behind = await act(draft.id, 'finalize');
    world.heads = {};
    expect(behind).toMatchObject({
      status: 409,
      headers: { 'retry-after': expect.stringMatching(/^[1-9]\d*$/) },
      body: { code: 'not_due' },
    });
    expect((await read(draft.id)).invoice_status).toBe('DRAFT');
    expect(await act(draft.id, 'finalize')).toMatchObject({ status: 200 });
  });

  test('an invoice without usage is final at once, while its period runs', async () => {
    const { api, catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '60', { invoice_cadence: 'ARREAR' });
    const customer = await catalog.customer();
    const subscription = await catalog.subscribe(customer, plan, { start_date: day('03-01') });
    const { body: draft } = await api.post('/v1/invoices', {
      invoice_type: 'SUBSCRIPTION',
      customer_id: customer.id,
      subscription_id: subscription.id,
      currency: 'usd',
    });
    world.heads = { 0: 10n ** 15n };
    const answer = await act(draft.id, 'finalize');
    world.heads = {};
    expect(answer).toMatchObject({ status: 200 });
  });

  test('an edit of the meter that is not complete yet is waited for: 503, and the job waits', async () => {
    const { draft, meter } = await drafted();
    const { pool } = world.api;
    await world.api.put(`/v1/meters/${meter.id}`, {
      aggregation: { type: 'COUNT' },
      effective_from: day('03-01'),
    });
    const states = await pool`
      select version, backfill_state from meter_versions where meter_id = ${meter.id} order by version`;
    expect(states).toHaveLength(2);
    await pool`
      update meter_versions set backfill_state = 'replaying'
       where meter_id = ${meter.id} and version = 2`;
    expect(await act(draft.id, 'finalize')).toMatchObject({
      status: 503,
      body: { code: 'usage_unavailable', message: expect.stringContaining('Version 2') },
    });
    await pool`
      update invoices set finalize_after = ${day('04-01')} where id = ${draft.id}`;
    world.api.clock.set('2026-04-01T02:00:00.000Z');
    const { finalizeInvoices } = await import('../../../api/billing/invoices/finalize-invoices.ts');
    const [invoice] = await pool`select * from invoices where id = ${draft.id}`;
    const finalizing = {
      scope: world.api.scope, at: '2026-04-01T02:00:00.000Z', user_id: '', hold: async () => {},
    }; // prettier-ignore
    expect(
      await finalizeInvoices(world.api.deps, finalizing, [
        { ...invoice, stream_heads: {} } as never,
      ]),
    ).toMatchObject({ finalized: 0, failed: [{ invoice_id: draft.id }] });
    expect(await read(draft.id)).toMatchObject({
      invoice_status: 'DRAFT',
      finalize_refusal: null,
    });
    await pool`
      update meter_versions set backfill_state = 'complete' where meter_id = ${meter.id}`;
    expect(await act(draft.id, 'finalize')).toMatchObject({ status: 200 });
    expect(rows(await read(draft.id))).toEqual([
      ['Support', '1', '60'],
      ['Calls', '0', '0'],
    ]);
  });
});

describe('POST /invoices/preview', () => {
  test('each row embeds its explanation; stored rows have a route for it', async () => {
    const { subscription, draft } = await drafted();
    const { body: preview } = await world.api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
      period_start: day('03-01'),
      period_end: day('04-01'),
    });
    for (const line of preview.line_items)
      expect(line.explanation).toMatchObject({
        amount: line.amount,
        steps: expect.arrayContaining([expect.objectContaining({ rule: expect.any(String) })]),
        settlement: expect.arrayContaining([
          expect.objectContaining({ step: 'discount' }),
          expect.objectContaining({ step: 'tax' }),
        ]),
      });
    expect(draft.line_items.map(({ explanation }: any) => explanation)).toEqual([null, null]);
  });
});
