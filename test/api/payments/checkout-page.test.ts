import { Decimal } from '../../../domain/money.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { invoiceDue, payOffline } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

const NOBODY = { 'x-api-key': '' };
const MINUTE_MS = 60_000;

interface Link {
  readonly session_id: string;
  readonly secret: string;
}

const linkOf = ({ id, payment_action }: any): Link => ({
  session_id: id,
  secret: new URL(payment_action.url).hash.slice(1),
});

/** A session for an invoice of 40, and the link of its page. */
async function opened(more: object = {}) {
  const due = await invoiceDue(api, '40');
  const { body } = await api.post('/v1/checkout/sessions', {
    customer_external_id: due.customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'test',
    configuration: { pay_invoice_params: { invoice_id: due.invoice.id } },
    ...more,
  });
  return { due, session: body, link: linkOf(body) };
}

const open = (link: Link) => api.post('/v1/checkout/pages/open', link, NOBODY);
const choose = (link: Link, outcome: string) =>
  api.post('/v1/checkout/pages/outcome', { ...link, outcome }, NOBODY);

describe('the page of a checkout session', () => {
  test('200: lines, amounts, seller and end, without a credential; nothing keeps or forwards the answer', async () => {
    const accent = '#1d4ed8';
    await api.put('/v1/settings/invoice_pdf_config', {
      value: { template_name: 'invoice.typ', colors: { accent } },
    });
    const due = await invoiceDue(api, '40');
    await payOffline(api, due.invoice, '10');
    const { body: session } = await api.post('/v1/checkout/sessions', {
      customer_external_id: due.customer.external_id,
      action: 'pay_invoice',
      payment_provider: 'test',
      configuration: { pay_invoice_params: { invoice_id: due.invoice.id } },
      success_url: 'https://shop.example/done',
      metadata: { note: 'private-note' },
    });
    const page = await open(linkOf(session));
    expect(page.status).toBe(200);
    expect(page.body).toMatchObject({
      checkout_status: 'pending',
      terminal: false,
      seller: { name: 'Test', logo: null, accent },
      currency: 'usd',
      lines: [{ display_name: 'Base', quantity: '1', amount: '40' }],
      hidden_lines: 0,
      subtotal: '40',
      settled: '10',
      amount: '30',
      is_test: true,
      decline: null,
      expires_in_ms: 30 * MINUTE_MS,
      success_url: 'https://shop.example/done',
    });
    expect(JSON.stringify(page.body)).not.toContain('private-note');
    expect(page.headers).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    });
  });

  test('200: each coupon and each tax by its name, and they add up to the sums', async () => {
    const post = (path: string, body: object) => api.postOk(`/v1/${path}`, body);
    const coupon = (name: string, more: object) =>
      post('coupons', { name, cadence: 'forever', currency: 'usd', ...more });
    const spring = await coupon('Spring', { type: 'percentage', percentage_off: '10' });
    const welcome = await coupon('Welcome', { type: 'fixed', amount_off: '4' });
    const rate = (name: string, percentage_value: string) =>
      post('taxes/rates', {
        ...{ name, code: name.toLowerCase() },
        ...{ percentage_value, tax_rate_type: 'percentage' },
      });
    const vat = await rate('VAT', '20');
    const city = await rate('City', '1.5');
    const customer = await post('customers', { external_id: 'deducted', name: 'Deducted' });
    const { checkout_session } = await post('invoices', {
      ...{ customer_id: customer.id, invoice_type: 'ONE_OFF', currency: 'usd' },
      line_items: [
        { display_name: 'Set-up', amount: '60', quantity: '1' },
        { display_name: 'Training', amount: '40', quantity: '1' },
      ],
      coupons: [spring.id, welcome.id],
      tax_rates: [vat.id, city.id],
      checkout: { payment_provider: 'test' },
    });
    const { body } = await open(linkOf(checkout_session));
    expect(body).toMatchObject({ subtotal: '100', prepaid_credits: '0', settled: '0' });
    const sorted = (rows: { name: string }[]) =>
      rows.toSorted((a, b) => a.name.localeCompare(b.name));
    expect(sorted(body.discounts)).toEqual([
      { name: 'Spring', percentage: '10', is_included: false, amount: expect.any(String) },
      { name: 'Welcome', percentage: null, is_included: false, amount: '4' },
    ]);
    expect(sorted(body.taxes)).toMatchObject([
      { name: 'City', percentage: '1.5', is_included: false },
      { name: 'VAT', percentage: '20', is_included: false },
    ]);
    const added = (rows: { amount: string }[]) =>
      rows.reduce((sum, { amount }) => sum.plus(amount), new Decimal(0));
    expect(added(body.discounts).toFixed()).toBe(body.discount);
    expect(added(body.taxes).toFixed()).toBe(body.tax);
    expect(new Decimal('100').minus(body.discount).plus(body.tax).toFixed()).toBe(body.amount);
  });

  test('the secret has 256 bits, stays the same while the session is read, and is stored nowhere', async () => {
    const { session, link } = await opened();
    expect(session.payment.payment_url).toBe(session.payment_action.url);
    expect(session.payment_action.url).toMatch(
      new RegExp(`^http://[^/?]+/checkout/${session.id}#[A-Za-z0-9_-]{43}$`),
    );
    const { body: again } = await api.get(`/v1/checkout/sessions/${session.id}`);
    expect(linkOf(again)).toEqual(link);
    const hex = Buffer.from(link.secret, 'base64url').toString('hex');
    for (const table of [
      'checkout_sessions',
      'payments',
      'outbox',
      'audit_log',
      'gateway_events',
    ]) {
      const rows = JSON.stringify(await api.pool`select * from ${api.pool(table)}`);
      expect([table, rows.includes(link.secret), rows.includes(hex)]).toEqual([
        table,
        false,
        false,
      ]);
    }
  });

  test('404: another secret, another session, another amount, and no session at all look the same', async () => {
    const { session, link } = await opened();
    const { link: other } = await opened();
    const changed = `${link.secret[0] === 'A' ? 'B' : 'A'}${link.secret.slice(1)}`;
    const wrong: Link[] = [
      { ...link, secret: changed },
      { ...link, secret: other.secret },
      { ...link, secret: '' },
      { ...link, secret: 'é' },
      { ...link, session_id: other.session_id },
      { ...link, session_id: 'cs_01JAAAAAAAAAAAAAAAAAAAAAAA' },
    ];
    const answers = [];
    for (const one of wrong)
      for (const answer of [await open(one), await choose(one, 'success')])
        answers.push([answer.status, answer.body.code, answer.body.message]);
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
    expect(answers[0]![0]).toBe(404);

    await api.pool`update payments set amount = 39 where id = ${session.checkout_payment_id}`;
    expect((await open(link)).status).toBe(404);
    await api.pool`update payments set amount = 40 where id = ${session.checkout_payment_id}`;
    await api.pool`
      update checkout_sessions set checkout_invoice_id = null where id = ${session.id}`;
    expect((await open(link)).status).toBe(404);
  });

  test('opening it and coming back settle nothing; only the outcome at the gateway does', async () => {
    const { due, link } = await opened();
    for (let visit = 0; visit < 3; visit += 1) {
      api.clock.advance(3_000);
      expect((await open(link)).body.checkout_status).toBe('pending');
    }
    expect(await due.read()).toMatchObject({ amount_paid: '0' });
    expect((await choose(link, 'success')).body).toMatchObject({
      checkout_status: 'completed',
      terminal: true,
      next_poll_after_ms: 0,
    });
    expect(await due.read()).toMatchObject({ amount_paid: '40', payment_status: 'SUCCEEDED' });
    // A second click, or a second tab.
    expect((await choose(link, 'success')).status).toBe(400);
    expect(await due.read()).toMatchObject({ amount_paid: '40' });
  });

  test('after one and two declines it is still payable; a confirmation is required; then it is paid', async () => {
    const { due, link } = await opened();
    const declined = { checkout_status: 'pending', decline: 'card_declined' };
    expect((await choose(link, 'decline')).body).toMatchObject(declined);
    expect((await choose(link, '3ds')).body).toMatchObject({
      checkout_status: 'pending',
      decline: null,
      needs_confirmation: true,
    });
    expect((await choose(link, 'decline')).body).toMatchObject({
      ...declined,
      needs_confirmation: false,
    });
    expect((await choose(link, 'success')).body.checkout_status).toBe('completed');
    expect(await due.read()).toMatchObject({ amount_paid: '40' });
  });

  test('an outcome whose event was lost is unknown until a poll reads it from the gateway', async () => {
    const { due, link } = await opened();
    expect((await choose(link, 'timeout')).body.checkout_status).toBe('pending');
    expect(await due.read()).toMatchObject({ amount_paid: '0' });
    api.clock.advance(3_000);
    expect((await open(link)).body.checkout_status).toBe('completed');
    expect(await due.read()).toMatchObject({ amount_paid: '40' });
  });

  test('cancelled and expired sessions say so for an hour; then the link is over', async () => {
    const cancelled = await opened();
    await api.post(`/v1/checkout/sessions/${cancelled.session.id}/cancel`);
    expect((await open(cancelled.link)).body).toMatchObject({
      checkout_status: 'expired',
      is_cancelled: true,
      terminal: true,
    });
    expect((await choose(cancelled.link, 'success')).status).toBe(400);

    const expired = await opened();
    api.clock.advance(30 * MINUTE_MS);
    expect((await open(expired.link)).body).toMatchObject({
      checkout_status: 'expired',
      is_cancelled: false,
      expires_in_ms: 0,
    });
    api.clock.advance(60 * MINUTE_MS - 1);
    expect((await open(expired.link)).status).toBe(200);
    api.clock.advance(1);
    expect((await open(expired.link)).status).toBe(404);
  });

  test('400: an outcome that is not offered', async () => {
    const { link } = await opened();
    expect((await choose(link, 'dispute')).status).toBe(400);
  });
});
