import { checkUsageOf } from '../../../api/billing/invoices/check-usage.ts';
import { getInvoice } from '../../../api/billing/records/invoice-repository.ts';
import { startBillingWorld, type BillingWorld } from '../../support/billing-world.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());
beforeEach(() => world.api.clock.set('2026-03-10T00:00:00.000Z'));

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const read = async (id: string) => (await world.api.get(`/v1/invoices/${id}`)).body;
const act = (id: string, action: string, body: object = {}) =>
  world.api.post(`/v1/invoices/${id}/${action}`, body);
const settle = (id: string, as: string, more: object = {}) =>
  act(id, 'late-usage/settle', { as, ...more });
const report = async (id: string, more: object = {}) =>
  (await world.api.post('/v1/invoices/late-usage/search', { invoice_ids: [id], ...more })).body;

/** The final invoice of March: 60 in arrears, 100 calls at 0.5, 10 % off, 20 % tax: 118.80. */
async function billed(calls = '100', fixed = true, credits = '0') {
  const { api, catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  if (fixed)
    await catalog.fixed(plan, '60', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  const code = `vat_${plan.id}`;
  await api.post('/v1/taxes/rates', {
    name: 'VAT',
    code,
    percentage_value: '20',
    tax_rate_type: 'percentage',
  });
  const { body: coupon } = await api.post('/v1/coupons', {
    name: 'Ten',
    type: 'percentage',
    percentage_off: '10',
    cadence: 'forever',
  });
  const customer = await catalog.customer();
  if (credits !== '0')
    await api.postOk('/v1/wallets', {
      ...{ customer_id: customer.id, currency: 'usd', initial_credits_to_load: credits },
      config: { allowed_price_types: ['ALL'] },
    });
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('03-01'),
    coupons: [coupon.id],
    tax_rate_overrides: [{ tax_rate_code: code, currency: 'usd', auto_apply: true }],
  });
  await api.pool`update meter_versions set backfill_state = 'complete'`;
  const use = (value: string) => world.usage.use(meter, customer, day('03-05'), value);
  await use(calls);
  api.clock.set(day('04-01'));
  const { body: draft } = await api.post('/v1/invoices', {
    invoice_type: 'SUBSCRIPTION',
    customer_id: customer.id,
    subscription_id: subscription.id,
    currency: 'usd',
    period_start: day('03-01'),
    period_end: day('04-01'),
  });
  await act(draft.id, 'finalize');
  const balance = async () => {
    const { body } = await api.get(`/v1/customers/${customer.id}/wallets`);
    return body[0].credit_balance;
  };
  return { invoice: await read(draft.id), use, subscription, balance };
}

describe('late usage of final invoices (billing 17.6)', () => {
  test('a preview shows the document that the settlement issues, and issues nothing', async () => {
    const { invoice, use } = await billed();
    const preview = (as: string) => act(invoice.id, 'late-usage/preview', { as });
    const written = async () => {
      const counts = await world.api.pool`
        select (select count(*) from invoices) as invoices, (select count(*) from credit_notes) as notes,
               (select count(*) from outbox) as outbox, (select count(*) from wallet_transactions) as movements`;
      return { ...counts[0] };
    };
    expect((await preview('invoice')).status).toBe(400);
    await use('20');
    const before = await written();
    const shown = await preview('invoice');
    expect(shown).toMatchObject({
      status: 200,
      body: {
        amount: '9',
        credit_note: null,
        invoice: { invoice_number: null, subtotal: '9', total_tax: '1.8', total: '10.8' },
      },
    });
    expect(await written()).toEqual(before);
    expect((await read(shown.body.invoice.id)).id).toBeUndefined();
    expect((await report(invoice.id)).items).toMatchObject([{ outstanding_amount: '9' }]);
    expect((await settle(invoice.id, 'invoice')).body.invoice.total).toBe('10.8');

    await use('-5');
    expect(await preview('credit_note')).toMatchObject({
      status: 200,
      body: {
        amount: '-2.25',
        invoice: null,
        credit_note: { credit_note_number: '', total_amount: '2.7' },
      },
    });
    expect((await read(invoice.id)).amount_remaining).toBe('118.8');
  });

  test('a page of invoices is compared by one question up to now and one for each vector of a computation', async () => {
    const bills = [await billed('100'), await billed('40'), await billed('7', false)];
    await bills[1]!.use('20');
    await bills[2]!.use('-7');
    const { deps, pool, scope } = world.api;
    const invoices = await Promise.all(
      bills.map(({ invoice }) => getInvoice(pool, scope, invoice.id)),
    );
    let reads = 0;
    const usageReader: typeof deps.usageReader = {
      read(...asked) {
        reads += 1;
        return deps.usageReader.read(...asked);
      },
    };
    const checks = await checkUsageOf({ pool, usageReader }, scope, invoices);
    const vectors = new Set(invoices.map((each) => JSON.stringify(each.usage_watermarks)));
    expect(reads).toBe(1 + vectors.size);
    const differences = invoices.map(({ id }) => checks.get(id)!.lines.map((line) => line.difference)); // prettier-ignore
    expect(differences).toEqual([['0'], ['20'], ['-7']]);
    for (const { id } of invoices) {
      const alone = await world.api.get(`/v1/invoices/${id}/usage-check`);
      expect(checks.get(id)).toEqual(alone.body);
    }
  });

  test('each settlement charges or credits only what earlier ones did not', async () => {
    const { invoice, use } = await billed();
    expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', total: '118.8' });
    expect(await report(invoice.id)).toMatchObject({ items: [], pagination: { total: 1 } });
    expect(await settle(invoice.id, 'invoice')).toMatchObject({
      status: 400,
      body: { details: [{ path: 'as' }] },
    });

    await use('20');
    expect((await report(invoice.id)).items).toMatchObject([
      {
        invoice_id: invoice.id,
        amount_difference: '9',
        settled_amount: '0',
        outstanding_amount: '9',
        refusal: null,
        lines: [
          {
            line_item_id: invoice.line_items[1].id,
            display_name: 'Calls',
            billed_usage: '100',
            usage_now: '120',
            usage_difference: '20',
            amount_difference: '9',
          },
        ],
      },
    ]);
    const charge = await settle(invoice.id, 'invoice', { idempotency_key: `k_${invoice.id}` });
    expect(charge).toMatchObject({
      status: 201,
      body: {
        amount: '9',
        credit_note: null,
        invoice: {
          invoice_type: 'ONE_OFF',
          invoice_status: 'FINALIZED',
          subtotal: '9',
          total_tax: '1.8',
          total: '10.8',
          metadata: { late_usage_of: invoice.id },
          line_items: [{ display_name: 'Late usage: Calls', amount: '9', price_type: 'USAGE' }],
        },
      },
    });
    const again = await settle(invoice.id, 'invoice', { idempotency_key: `k_${invoice.id}` });
    expect(again.body.invoice.id).toBe(charge.body.invoice.id);
    expect((await report(invoice.id)).items).toEqual([]);
    expect((await report(invoice.id, { include_settled: true })).items).toMatchObject([
      { amount_difference: '9', settled_amount: '9', outstanding_amount: '0' },
    ]);
    expect((await read(invoice.id)).total).toBe('118.8');

    // Usage that is withdrawn later is credited to the invoice, with its tax.
    await use('-5');
    const credit = await settle(invoice.id, 'credit_note');
    expect(credit).toMatchObject({
      status: 201,
      body: {
        amount: '-2.25',
        invoice: null,
        credit_note: {
          credit_note_status: 'FINALIZED',
          total_amount: '2.7',
          line_items: [
            { invoice_line_item_id: invoice.line_items[1].id, amount: '2.25' },
            { invoice_line_item_id: 'tax', amount: '0.45' },
          ],
        },
      },
    });
    expect((await read(invoice.id)).amount_remaining).toBe('116.1');
    await use('-5');
    expect((await settle(invoice.id, 'credit_note')).body.credit_note.total_amount).toBe('2.7');
    expect((await report(invoice.id)).items).toEqual([]);
  });

  test('400: withdrawn usage that prepaid credits have paid; recalculation returns the credits', async () => {
    const { invoice, use, balance } = await billed('100', true, '1000');
    expect(invoice).toMatchObject({ total_prepaid_credits_applied: '99', total: '19.8' });
    expect(await balance()).toBe('901');
    await use('-60');
    for (const settling of [
      settle(invoice.id, 'credit_note'),
      act(invoice.id, 'late-usage/preview', { as: 'credit_note' }),
    ])
      expect(await settling).toMatchObject({
        status: 400,
        body: { details: [{ path: 'as', message: expect.stringContaining('Recalculate') }] },
      });
    const { body: draft } = await act(invoice.id, 'recalculate');
    expect(await balance()).toBe('1000');
    await act(draft.id, 'finalize');
    expect(await read(draft.id)).toMatchObject({
      total_prepaid_credits_applied: '72',
      total: '14.4',
    });
    expect(await balance()).toBe('928');
  });

  test('withdrawn usage up to the money that is due is credited also beside prepaid credits', async () => {
    const { invoice, use, balance } = await billed('100', true, '1000');
    await use('-10');
    const { status, body } = await settle(invoice.id, 'credit_note');
    expect([status, body.credit_note?.total_amount]).toEqual([201, '5.4']);
    expect((await read(invoice.id)).amount_remaining).toBe('14.4');
    expect(await balance()).toBe('901');
  });

  test('an invoice with charged late usage is void or recalculated only after that charge is void', async () => {
    const { invoice, use } = await billed();
    await use('10');
    const { body } = await settle(invoice.id, 'invoice');
    for (const action of ['void', 'recalculate'])
      expect(await act(invoice.id, action)).toMatchObject({
        status: 400,
        body: { message: expect.stringContaining(body.invoice.id) },
      });
    expect((await act(body.invoice.id, 'void')).status).toBe(200);
    expect((await report(invoice.id)).items).toMatchObject([
      { settled_amount: '0', outstanding_amount: '4.5' },
    ]);
    const { body: draft } = await act(invoice.id, 'recalculate');
    expect(draft).toMatchObject({ total: '124.2' });
  });

  test('twenty at once: one charge; another tenant finds nothing', async () => {
    const { invoice, use } = await billed();
    await use('10');
    const answers = await Promise.all(
      Array.from({ length: 20 }, () => settle(invoice.id, 'invoice')),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    for (const { status } of answers) expect([201, 400, 409]).toContain(status);
    expect((await report(invoice.id, { include_settled: true })).items).toMatchObject([
      { settled_amount: '4.5', outstanding_amount: '0' },
    ]);
    const stranger = await world.api.newCaller();
    const path = '/v1/invoices/late-usage/search';
    const found = await stranger.post(path, { invoice_ids: [invoice.id] });
    expect(found.body).toMatchObject({ items: [], pagination: { total: 0 } });
    const foreign = `/v1/invoices/${invoice.id}/late-usage/settle`;
    expect((await stranger.post(foreign, { as: 'invoice' })).status).toBe(404);
  });

  test('a skipped invoice is reported, and computed again instead of settled', async () => {
    const { invoice, use } = await billed('0', false);
    expect(invoice.invoice_status).toBe('SKIPPED');
    await use('10');
    expect((await report(invoice.id)).items).toMatchObject([
      { invoice_status: 'SKIPPED', outstanding_amount: '4.5' },
    ]);
    expect(await settle(invoice.id, 'invoice')).toMatchObject({
      status: 400,
      body: { details: [{ path: 'invoice_status' }] },
    });
    await act(invoice.id, 'compute');
    expect(await read(invoice.id)).toMatchObject({ invoice_status: 'DRAFT', total: '5.4' });
  });

  test('400: an edit has removed the rows of usage', async () => {
    const { invoice, use } = await billed();
    const calls = invoice.line_items.find((row: any) => row.display_name === 'Calls');
    const edit = { line_items: [{ action: 'remove', id: calls.id }] };
    const { body: draft } = await act(invoice.id, 'modify/execute', edit);
    await act(draft.id, 'finalize');
    await use('20');
    const { status, body } = await settle(draft.id, 'invoice');
    expect([status, body.message]).toEqual([400, 'No usage was billed with the invoice.']);
    expect((await report(draft.id)).items).toEqual([]);
  });

  test('pages: the total counts the compared invoices of the filters, and each late one is on one page', async () => {
    const bills = [await billed('10'), await billed('20'), await billed('30'), await billed('40')];
    for (const { use } of [bills[0]!, bills[3]!]) await use('5');
    const invoice_ids = bills.map(({ invoice }) => invoice.id);
    const search = async (more: object) =>
      (await world.api.post('/v1/invoices/late-usage/search', { invoice_ids, ...more })).body;
    const idsOf = ({ items }: any) => items.map(({ invoice_id }: any) => invoice_id);
    const late = [bills[3]!.invoice.id, bills[0]!.invoice.id];
    expect(idsOf(await search({}))).toEqual(late);
    const pages: any[] = [];
    for (let offset = 0; offset < 6; offset += 1) pages.push(await search({ limit: 1, offset }));
    expect(pages.map(({ pagination }) => pagination.total)).toEqual([4, 4, 4, 4, 4, 4]);
    expect(pages.flatMap(idsOf)).toEqual(late);
    const { customer_id, subscription_id } = bills[0]!.invoice;
    const found = async (more: object) => {
      const page = await search(more);
      return [page.pagination.total, idsOf(page)];
    };
    expect(await found({ customer_id })).toEqual([1, [late[1]]]);
    expect(await found({ subscription_id, limit: 1, offset: 1 })).toEqual([1, []]);
    expect(await found({ period_start_gte: day('03-01'), period_end_lte: day('04-01') })).toEqual([
      ...[4, late],
    ]);
    expect(await found({ period_start_gte: day('03-02') })).toEqual([0, []]);
    expect(await found({ period_end_lte: day('03-31') })).toEqual([0, []]);
    expect(await found({ start_time: day('04-02') })).toEqual([0, []]);
  });

  test('403: a credit note needs the permission of credit notes too', async () => {
    const { invoice, use } = await billed();
    await use('-10');
    const { body } = await world.api.post('/v1/secrets/api/keys', {
      name: 'invoices only',
      type: 'private_key',
      permissions: ['invoice:write'],
    });
    const path = `/v1/invoices/${invoice.id}/late-usage/settle`;
    const as = 'credit_note';
    const answer = await world.api.post(path, { as }, { 'x-api-key': body.api_key });
    expect(answer.status).toBe(403);
  });
});
