import { jobRunAt } from '../../support/job-run.ts';
import { createHmac } from 'node:crypto';
import { createCreditNote } from '../../../api/billing/credit-notes/create-credit-note.ts';
import { syncPayment } from '../../../api/billing/payments/dispatch-payment.ts';
import { dispatchRefund } from '../../../api/billing/refunds/settle-refund.ts';
import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { CreateCreditNoteBody } from '../../../schemas/credit-note.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { eventsOf, invoiceDue, payOffline } from '../../support/payments.ts';

const SECRET = 'whsec_of_the_test_gateway';
let api: TestApi;
let connection: { id: string };
beforeAll(async () => {
  api = await startTestApi();
  const sent = {
    name: 'Test',
    provider_type: 'test',
    encrypted_secret_data: { webhook_secret: SECRET },
  };
  connection = (await api.post('/v1/connections', sent)).body;
});
afterAll(() => api.close());

const card = (invoice: { id: string }, amount: string, outcome: string, more: object = {}) =>
  payOffline(api, invoice, amount, {
    payment_method_type: 'CARD',
    payment_method_id: `pm_test_${outcome}`,
    payment_gateway: 'test',
    ...more,
  });
const link = (invoice: { id: string }, amount: string, more: object = {}) =>
  payOffline(api, invoice, amount, {
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'test',
    ...more,
  });
const outcome = (payment: { id: string }, how: string) =>
  api.post(`/v1/test-gateway/payments/${payment.id}/outcome`, { outcome: how });
const read = async (payment: { id: string }) => (await api.get(`/v1/payments/${payment.id}`)).body;
const caller = () => ({ scope: api.scope, user_id: '' });

/** An event as the gateway sends it. */
async function send(
  event: object,
  options: { secret?: string; ageMs?: number; path?: string } = {},
) {
  const raw = JSON.stringify(event);
  const seconds = Math.floor((api.clock.now() - (options.ageMs ?? 0)) / 1000);
  const mac = createHmac('sha256', options.secret ?? SECRET).update(`${seconds}.${raw}`);
  const { tenant_id, environment_id } = api.scope;
  const path = options.path ?? `/v1/webhooks/test/${tenant_id}/${environment_id}/${connection.id}`;
  return await api.app.inject({
    method: 'POST',
    url: path,
    headers: {
      'content-type': 'application/json',
      'x-test-signature': `t=${seconds},v1=${mac.digest('hex')}`,
    },
    payload: raw,
  });
}

describe('cards', () => {
  test('success: paid at once, with the attempt', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { status, body } = await card(invoice, '50', 'success');
    expect(status).toBe(201);
    expect(body).toMatchObject({ payment_status: 'SUCCEEDED', payment_gateway: 'test' });
    expect(body.attempts.length).toBeGreaterThan(0);
    expect(await invoiceNow()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '50' });
  });

  test('decline: failed with the reason, and the invoice too; another card may pay', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body } = await card(invoice, '50', 'decline');
    expect(body).toMatchObject({ payment_status: 'FAILED', error_message: 'card_declined' });
    expect(await invoiceNow()).toMatchObject({ payment_status: 'FAILED', amount_paid: '0' });
    expect((await card(invoice, '50', 'success')).body.payment_status).toBe('SUCCEEDED');
    expect(await eventsOf(api, body.id)).toEqual(['payment.created', 'payment.failed']);
  });

  test('3ds: pending with the page to confirm on, then as the customer decides', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body } = await card(invoice, '50', '3ds');
    expect(body).toMatchObject({ payment_status: 'PENDING', payment_url: expect.any(String) });
    expect((await outcome(body, 'success')).body.payment_status).toBe('SUCCEEDED');
    expect(await invoiceNow()).toMatchObject({ payment_status: 'SUCCEEDED' });
  });

  test('timeout: stays pending until the job asks; the money counts once', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { status, body } = await card(invoice, '50', 'timeout');
    expect([status, body.payment_status]).toEqual([201, 'PENDING']);
    expect((await api.delete(`/v1/payments/${body.id}`)).status).toBe(400);
    const at = new Date(api.clock.now() + 3_600_000).toISOString();
    const report = await reconcilePayments.run(api.deps, jobRunAt(at));
    expect(report['failed']).toBe(0);
    expect((await read(body)).payment_status).toBe('SUCCEEDED');
    expect(await invoiceNow()).toMatchObject({ amount_paid: '50', overpaid_amount: '0' });
  });

  test('400: a card number, no method, more than is open, a gateway that is not connected', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const sent = [
      { payment_method_id: '4242424242424242' },
      { payment_method_id: undefined },
      { amount: '50.01' },
      { payment_gateway: 'stripe' },
    ];
    for (const more of sent) expect((await card(invoice, '50', 'success', more)).status).toBe(400);
    const found = await api.pool`select 1 from payments where payment_method_id like '4242%'`;
    expect(found).toHaveLength(0);
  });

  test('two tabs: payments in flight never exceed what is open', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const both = await Promise.all([card(invoice, '50', '3ds'), card(invoice, '50', '3ds')]);
    expect(both.map(({ status }) => status).sort()).toEqual([201, 400]);
  });

  test('double click: one key, one charge', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const pay = () => card(invoice, '20', 'success', { idempotency_key: 'click' });
    const [left, right] = await Promise.all([pay(), pay()]);
    expect(left.body.id).toBe(right.body.id);
    const charges = await api.pool`
      select count(*)::int as n from test_gateway_payments where reference = ${left.body.id}`;
    expect(charges).toEqual([{ n: 1 }]);
    expect(await invoiceNow()).toMatchObject({ amount_paid: '20' });
  });

  test('a recorded card payment is made once, for any number of repeats', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body } = await card(invoice, '50', 'success', { process_payment: false });
    expect(body.payment_status).toBe('INITIATED');
    const path = `/v1/payments/${body.id}/process`;
    const both = await Promise.all([api.post(path), api.post(path)]);
    expect(both.filter(({ status }) => status === 200)).toHaveLength(1);
    expect((await read(body)).payment_status).toBe('SUCCEEDED');
  });
});

describe('links', () => {
  test('a declined attempt leaves the link payable', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50');
    expect(body).toMatchObject({ payment_status: 'PENDING', payment_url: expect.any(String) });
    await outcome(body, 'decline');
    expect(await read(body)).toMatchObject({
      payment_status: 'PENDING',
      error_message: 'card_declined',
    });
    expect((await outcome(body, 'success')).body).toMatchObject({
      payment_status: 'SUCCEEDED',
      error_message: null,
    });
  });

  test('a returning browser settles nothing; PUT of the status is refused', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50', { success_url: 'https://shop.example/thanks' });
    const { status } = await api.put(`/v1/payments/${body.id}`, { payment_status: 'SUCCEEDED' });
    expect(status).toBe(400);
  });

  test.each(['duplicate', 'reordered', 'late'])('%s events count the money once', async (how) => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body } = await link(invoice, '50');
    await outcome(body, how);
    await outcome(body, how);
    expect(await invoiceNow()).toMatchObject({ amount_paid: '50', payment_status: 'SUCCEEDED' });
    const events = await eventsOf(api, body.id);
    expect(events.filter((event) => event === 'payment.success')).toHaveLength(1);
  });

  test('a dispute takes the money back, once, and leaves nothing to refund', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body } = await card(invoice, '50', 'dispute');
    await outcome(body, 'dispute');
    await outcome(body, 'dispute');
    expect(await invoiceNow()).toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '50' });
    expect((await api.post('/v1/refunds', { payment_id: body.id })).status).toBe(400);
  });

  test('a dispute that is told before the payment takes the money back as well', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const link = { payment_method_type: 'PAYMENT_LINK', payment_gateway: 'test' };
    const { body } = await payOffline(api, invoice, '50', link);
    // Paid, and never told.
    await outcome(body, 'timeout');
    await outcome(body, 'dispute');
    expect(await invoiceNow()).toMatchObject({
      ...{ amount_paid: '50', payment_status: 'REFUNDED', refunded_amount: '50' },
    });
    await outcome(body, 'success');
    expect(await invoiceNow()).toMatchObject({ payment_status: 'REFUNDED', refunded_amount: '50' });
  });
});

describe('refunds at the gateway', () => {
  test('BACK_TO_SOURCE reaches the gateway and settles once', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body: payment } = await card(invoice, '50', 'success');
    const sent = { payment_id: payment.id, amount: '20', target: 'BACK_TO_SOURCE' };
    const { body: refund } = await api.post('/v1/refunds', sent);
    expect(refund).toMatchObject({
      refund_status: 'SUCCEEDED',
      gateway_refund_id: expect.stringMatching(/^tgr_/),
    });
    await dispatchRefund(api.deps, caller(), refund.id);
    expect(await invoiceNow()).toMatchObject({ refunded_amount: '20' });
    expect(await eventsOf(api, refund.id)).toEqual(['refund.created', 'refund.succeeded']);
  });

  test('a failed one frees its money and may be paid into the wallet, once', async () => {
    const { invoice, customer, read: invoiceNow } = await invoiceDue(api, '50');
    const { body: payment } = await card(invoice, '50', 'success');
    const sent = { payment_id: payment.id, amount: '20.13', target: 'BACK_TO_SOURCE' };
    const { body: failed } = await api.post('/v1/refunds', sent);
    expect(failed).toMatchObject({ refund_status: 'FAILED', failure_reason: 'refund_declined' });
    expect(await invoiceNow()).toMatchObject({ refunded_amount: '0', payment_status: 'SUCCEEDED' });
    const path = `/v1/refunds/${failed.id}/retry`;
    const both = await Promise.all([api.post(path), api.post(path)]);
    expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
    expect(await invoiceNow()).toMatchObject({ refunded_amount: '20.13' });
    const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets).toMatchObject([{ balance: '20.13' }]);
  });

  const noteOf = (invoice: any, more: object = {}) => ({
    invoice_id: invoice.id,
    reason: 'SERVICE_ISSUE',
    refund_target: 'BACK_TO_SOURCE',
    line_items: [{ invoice_line_item_id: invoice.line_items[0]!.id, amount: '10' }],
    ...more,
  });
  const refundsOf = async (query: string) => (await api.get(`/v1/refunds?${query}`)).body.items;
  const atGateway = async (refund: { payment_id: string }) =>
    (
      await api.pool`
      select r.id from test_gateway_refunds r
        join payments p on p.gateway_payment_id = r.gateway_payment_id
       where p.id = ${refund.payment_id}`
    ).length;
  const reconcile = () =>
    reconcilePayments.run(api.deps, jobRunAt(new Date(api.clock.now()).toISOString()));

  test.each(['at once', 'when it is finalized', 'under an idempotency key'])(
    'a credit note back to the source is refunded %s',
    async (when) => {
      const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
      await card(invoice, '50', 'success');
      const isDraft = when === 'when it is finalized';
      const headers = when === 'under an idempotency key' ? { 'idempotency-key': invoice.id } : {};
      const body = noteOf(invoice, { process_credit_note: !isDraft });
      const made = await api.post('/v1/creditnotes', body, headers);
      const { body: note } = isDraft
        ? await api.post(`/v1/creditnotes/${made.body.id}/finalize`)
        : made;
      expect(note).toMatchObject({ credit_note_status: 'FINALIZED', refund_status: 'SUCCEEDED' });
      expect(await invoiceNow()).toMatchObject({ refunded_amount: '10' });
      const again = await api.post('/v1/creditnotes', body, headers);
      expect(again.body.id).toBe(note.id);
      api.clock.advance(120_000);
      await reconcile();
      const refunds = await refundsOf(`credit_note_id=${note.id}`);
      expect(refunds).toMatchObject([{ refund_status: 'SUCCEEDED', amount: '10' }]);
      expect(await atGateway(refunds[0])).toBe(1);
    },
  );

  test('a credit note whose process ends after the commit is refunded by the job, once', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    await card(invoice, '50', 'success');
    const body = CreateCreditNoteBody.parse(noteOf(invoice, { process_credit_note: true }));
    const { refunds } = await api.pool.begin((tx) =>
      createCreditNote(tx, api.deps, caller(), body),
    );
    expect(refunds).toMatchObject([{ refund_status: 'PENDING' }]);
    api.clock.advance(120_000);
    await Promise.all([reconcile(), dispatchRefund(api.deps, caller(), refunds[0]!.id)]);
    expect(await invoiceNow()).toMatchObject({ refunded_amount: '10' });
    expect(await atGateway(refunds[0]!)).toBe(1);
    expect(await eventsOf(api, refunds[0]!.id)).toEqual(['refund.created', 'refund.succeeded']);
  });

  test('a credit note is finalized although the connection of the payment is gone', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body: payment } = await card(invoice, '50', 'success');
    await api.pool`update payments set connection_id = 'conn_gone' where id = ${payment.id}`;
    const sent = noteOf(invoice, { process_credit_note: true });
    const { status, body: note } = await api.post('/v1/creditnotes', sent);
    expect([status, note.refund_status]).toEqual([201, 'PENDING']);
  });

  test('the money of a voided invoice goes back to the source at once', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    await card(invoice, '50', 'success');
    const sent = { refund_target: 'BACK_TO_SOURCE' };
    expect((await api.post(`/v1/invoices/${invoice.id}/void`, sent)).status).toBe(200);
    const refunds = await refundsOf(`invoice_id=${invoice.id}`);
    expect(refunds).toMatchObject([{ refund_status: 'SUCCEEDED', amount: '50' }]);
    expect(await atGateway(refunds[0])).toBe(1);
    expect(await invoiceNow()).toMatchObject({ invoice_status: 'VOIDED', refunded_amount: '50' });
  });
});

describe('events of the gateway', () => {
  const event = (payment: any, more: object = {}) => ({
    id: `evt-${payment.id}`,
    type: 'payment',
    gateway_payment_id: payment.gateway_payment_id,
    reference: payment.id,
    ...more,
  });

  test('signed by the connection of the path, within five minutes; else 401 and no effect', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body: payment } = await link(invoice, '50');
    await api.pool`update test_gateway_payments set state = 'succeeded' where reference = ${payment.id}`;
    expect((await send(event(payment), { secret: 'other' })).statusCode).toBe(401);
    expect((await send(event(payment), { ageMs: 301_000 })).statusCode).toBe(401);
    expect((await read(payment)).payment_status).toBe('PENDING');
    expect((await send(event(payment))).statusCode).toBe(200);
    expect((await read(payment)).payment_status).toBe('SUCCEEDED');
  });

  test('the content of the event is not trusted, the gateway is asked', async () => {
    const { invoice } = await invoiceDue(api, '50');
    const { body: payment } = await link(invoice, '50');
    expect((await send(event(payment))).statusCode).toBe(200);
    expect((await read(payment)).payment_status).toBe('PENDING');
  });

  test('without the connection in the path, while there is one; unknown ones are 404', async () => {
    const { tenant_id, environment_id } = api.scope;
    const base = `/v1/webhooks/test/${tenant_id}/${environment_id}`;
    const nothing = { id: 'evt-none', type: 'payment', gateway_payment_id: 'tgp_none' };
    expect((await send(nothing, { path: base })).statusCode).toBe(200);
    const other = await api.newCaller();
    const foreign = `/v1/webhooks/test/${other.scope.tenant_id}/${other.scope.environment_id}`;
    expect((await send(nothing, { path: `${foreign}/${connection.id}` })).statusCode).toBe(404);
    expect((await send(nothing, { path: foreign })).statusCode).toBe(404);
    expect((await send(nothing, { path: `${base}/conn_none` })).statusCode).toBe(404);
  });

  test.each`
    what          | change
    ${'amount'}   | ${{ amount: '5' }}
    ${'currency'} | ${{ currency: 'eur' }}
  `('money of another $what is set aside and never counts', async ({ change }) => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body: payment } = await link(invoice, '50');
    await api.pool`
      update test_gateway_payments set ${api.pool({ ...change, state: 'succeeded' })}
       where reference = ${payment.id}`;
    expect((await send(event(payment))).statusCode).toBe(200);
    expect(await read(payment)).toMatchObject({ payment_status: 'PENDING' });
    expect(await invoiceNow()).toMatchObject({ amount_paid: '0' });
    const [row] =
      await api.pool`select outcome from gateway_events where event_id = ${`evt-${payment.id}`}`;
    expect(row).toEqual({ outcome: 'set_aside' });
  });

  test('what came is listed with its effect; a repeat is counted and has none', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body: payment } = await link(invoice, '50');
    await api.pool`
      update test_gateway_payments set state = 'succeeded' where reference = ${payment.id}`;
    const first = api.clock.now();
    const second = first + 60_000;
    await send(event(payment));
    api.clock.advance(60_000);
    await send(event(payment));
    await send(event(payment));
    const { status, body } = await api.post('/v1/payments/gateway-events/search', {
      payment_id: payment.id,
    });
    expect([status, body.items]).toEqual([
      200,
      [
        {
          id: expect.any(String),
          event_id: `evt-${payment.id}`,
          kind: 'payment',
          outcome: 'applied',
          reason: null,
          repeats: 2,
          last_repeated_at: new Date(second).toISOString(),
          created_at: new Date(first).toISOString(),
        },
      ],
    ]);
    expect(await invoiceNow()).toMatchObject({ amount_paid: '50' });
    const other = await api.newCaller();
    const by = { invoice_id: payment.destination_id };
    const searched = (caller: TestApi | typeof other) =>
      caller.post('/v1/payments/gateway-events/search', by);
    expect((await searched(api)).body).toMatchObject({
      items: body.items,
      pagination: { total: 1 },
    });
    expect((await searched(other)).body).toMatchObject({ items: [], pagination: { total: 0 } });
  });

  test('an event may come before the answer of the request', async () => {
    const { invoice, read: invoiceNow } = await invoiceDue(api, '50');
    const { body: payment } = await card(invoice, '50', 'timeout');
    expect(payment.gateway_payment_id).toBeNull();
    const [row] = await api.pool<{ id: string }[]>`
      select id from test_gateway_payments where reference = ${payment.id}`;
    await send(event({ ...payment, gateway_payment_id: row!.id }));
    expect((await read(payment)).payment_status).toBe('SUCCEEDED');
    await syncPayment(api.deps, caller(), payment.id);
    expect(await invoiceNow()).toMatchObject({ amount_paid: '50', overpaid_amount: '0' });
  });
});

/**
 * Everything that may happen to an invoice of 50 with a payment link over 50 that the customer pays. In either
 * order and at once, the money is accounted for: each payment that succeeded at the gateway is one settled
 * payment here, the invoice agrees with its rows, and a void invoice keeps no money.
 */
describe('races', () => {
  type Due = { invoice: { id: string; line_items: { id: string }[] }; payment: any };
  const ACTIONS: Readonly<Record<string, (due: Due) => Promise<unknown>>> = {
    'the customer pays': ({ payment }) => outcome(payment, 'success'),
    'the event comes twice': ({ payment }) => outcome(payment, 'duplicate'),
    'an attempt is declined': async ({ payment }) => {
      const [row] = await api.pool`
        select state from test_gateway_payments where reference = ${payment.id}`;
      if (row!['state'] !== 'succeeded') await outcome(payment, 'decline');
    },
    'the job asks': ({ payment }) => syncPayment(api.deps, caller(), payment.id),
    'the invoice is voided': ({ invoice }) => api.post(`/v1/invoices/${invoice.id}/void`),
    'the payment is deleted': ({ payment }) => api.delete(`/v1/payments/${payment.id}`),
    'offline money arrives': ({ invoice }) => payOffline(api, invoice, '20'),
    'a note lowers it': ({ invoice }) =>
      api.post('/v1/creditnotes', {
        invoice_id: invoice.id,
        reason: 'DUPLICATE',
        line_items: [{ invoice_line_item_id: invoice.line_items[0]!.id, amount: '10' }],
        process_credit_note: true,
      }),
  };
  const names = Object.keys(ACTIONS);
  const pairs = names.flatMap((left) =>
    names.filter((right) => right !== left).map((right) => [left, right] as const),
  );

  async function accounted({ invoice, payment }: Due) {
    for (const { id } of (await api.get(`/v1/refunds?invoice_id=${invoice.id}`)).body.items)
      await dispatchRefund(api.deps, caller(), id);
    const { body: now } = await api.get(`/v1/invoices/${invoice.id}`);
    const paidAtGateway = await api.pool<{ id: string }[]>`
      select t.id from test_gateway_payments t join payments p on p.id = t.reference
       where p.destination_id = ${invoice.id} and t.state = 'succeeded'`;
    for (const { id } of paidAtGateway) {
      const settled = await api.pool`
        select 1 from payments where gateway_payment_id = ${id}
           and payment_status in ('SUCCEEDED', 'PARTIALLY_REFUNDED', 'REFUNDED')`;
      expect(settled).toHaveLength(1);
    }
    const { body: ledger } = await api.get(`/v1/invoices/${invoice.id}/ledger`);
    const open = Number(ledger.entries.at(-1).open_amount);
    expect(Number(now.amount_remaining) - Number(now.overpaid_amount)).toBe(open);
    const payments = await api.pool<{ total: string | null }[]>`
      select sum(amount) as total from payments
       where destination_id = ${invoice.id} and status = 'published'
         and payment_status in ('SUCCEEDED', 'PARTIALLY_REFUNDED', 'REFUNDED')`;
    expect(now.amount_paid).toBe(payments[0]!.total ?? '0');
    if (now.invoice_status === 'VOIDED') expect(now.refunded_amount).toBe(now.amount_paid);
    expect(payment.id).toBeDefined();
  }

  test.each(pairs)('%s, then: %s', async (first, second) => {
    const due = await invoiceDue(api, '50');
    const { body: payment } = await link(due.invoice, '50');
    const all = { invoice: due.invoice, payment };
    await ACTIONS[first]!(all);
    await ACTIONS[second]!(all);
    await outcome(payment, 'success');
    await accounted(all);
  });

  test.each(pairs.filter(([left, right]) => left < right))('%s while: %s', async (left, right) => {
    const due = await invoiceDue(api, '50');
    const { body: payment } = await link(due.invoice, '50');
    const all = { invoice: due.invoice, payment };
    await Promise.all([ACTIONS[left]!(all), ACTIONS[right]!(all)]);
    await accounted(all);
  });
});
