import { deliverWebhooks } from '../../jobs/deliver-webhooks.ts';
import { runJob } from '../../jobs/run-job.ts';
import { createOutbound, type Outbound } from '../../platform/outbound/guarded-request.ts';
import { startTestApi, type TestApi } from '../support/api.ts';
import { catalogOf } from '../support/catalog.ts';
import { startMailCatcher, type MailCatcher } from '../support/mail-catcher.ts';
import { sendDueEmails } from '../support/send-emails.ts';

/** E-mails that environments send to their customers (api 49). */
let api: TestApi;
let outbound: Outbound;
let catcher: MailCatcher;
beforeAll(async () => {
  api = await startTestApi();
  outbound = createOutbound();
  catcher = await startMailCatcher();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
beforeEach(async () => {
  api.clock.advance(2 * 3_600_000);
  await api.pool`delete from emails_outbox`;
  await api.pool`update outbox set delivered_at = now()`;
  catcher.mails.length = 0;
});
afterAll(async () => {
  outbound.close();
  await catcher.close();
  await api.close();
});

const configure = async (value: object) =>
  expect((await api.put('/v1/settings/email_config', { value })).status).toBe(200);
let ticks = 0;
/** Takes the notifications, then sends what is due. */
async function send(more: { readonly perTenantMax?: number } = {}) {
  ticks += 1;
  // Notifications have the time of the database.
  const runner = {
    pool: api.pool,
    log: api.deps.log,
    holder: 'test',
    now: async () => new Date(api.clock.now()).toISOString(),
  };
  const scheduled = new Date(Date.UTC(2026, 0, 1) + ticks * 1000).toISOString();
  await runJob(runner, deliverWebhooks, { ...api.deps, outbound }, scheduled);
  return await sendDueEmails(api, catcher, more);
}
let customers = 0;
const customerNamed = (name: string) =>
  catalogOf(api).customer({ name, email: `payer${(customers += 1)}@customer.test` });
async function issued(customer: { id: string }, amount = '40.5', currency = 'usd') {
  const { status, body } = await api.post('/v1/invoices', {
    invoice_type: 'ONE_OFF',
    invoice_status: 'FINALIZED',
    customer_id: customer.id,
    currency,
    line_items: [{ display_name: 'Work', amount, quantity: '1' }],
  });
  expect(status).toBe(201);
  if (body.invoice_status !== 'FINALIZED') await api.post(`/v1/invoices/${body.id}/finalize`);
  return (await api.get(`/v1/invoices/${body.id}`)).body;
}
const pay = (invoice: { id: string }, more: object) =>
  api.post('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    amount: '40.5',
    currency: 'usd',
    ...more,
  });
const subjects = () => catcher.mails.map(({ headers }) => headers['subject']);

test('nothing is sent until it is switched on', async () => {
  await issued(await customerNamed('Ann'));
  expect(await send()).toMatchObject({ sent: 0 });
  expect(await api.pool`select 1 from emails_outbox`).toEqual([]);
});

test('invoice, failed payment, receipt and low wallet, each once, as text and HTML', async () => {
  await configure({ enabled: true, from: 'Acme <Billing>', reply_to: 'help@acme.test' });
  const customer = await customerNamed('Ann & <b>Bob</b>');
  const invoice = await issued(customer);
  await send();
  await send();
  expect(catcher.mails).toMatchObject([
    {
      headers: {
        subject: `Invoice ${invoice.invoice_number} from Acme <Billing>`,
        from: expect.stringContaining('<billing@example.test>'),
        'reply-to': 'help@acme.test',
      },
      text: expect.stringContaining('To pay: $40.50'),
      html: expect.stringContaining('Hello Ann &amp; &lt;b&gt;Bob&lt;/b&gt;,'),
    },
  ]);

  const card = { payment_method_type: 'CARD', payment_gateway: 'test' };
  await pay(invoice, { ...card, payment_method_id: 'pm_test_decline' });
  await send();
  await pay(invoice, { ...card, payment_method_id: 'pm_test_success' });
  await send();
  const { body: wallet } = await api.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '20',
    alert_settings: { alert_enabled: true, critical: { threshold: '10', condition: 'below' } },
  });
  await api.post(`/v1/wallets/${wallet.id}/debit`, {
    credits: '15',
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: 'low',
  });
  await send();
  expect(subjects().slice(1)).toEqual([
    'Your payment to Acme <Billing> failed',
    'Receipt for your payment to Acme <Billing>',
    'Your balance with Acme <Billing> is low',
  ]);
  expect(catcher.mails[2]!.text).toContain(`Invoice: ${invoice.invoice_number}`);
  expect(catcher.mails[3]!.text).toContain('Balance: $5.00');

  const [event] = await api.pool<{ id: string }[]>`
    select id from outbox where entity_id = ${invoice.id} and event_type = 'invoice.update.finalized'`;
  await api.post('/v1/webhooks/retry', { event_id: event!.id });
  await send();
  expect(catcher.mails).toHaveLength(4);
});

test('a name cannot add a header or a line', async () => {
  await configure({ enabled: true, from: '' });
  const name = 'Eve\r\nBcc: all@customer.test\u2028x';
  await issued(await customerNamed(name));
  await send();
  const [mail] = catcher.mails;
  expect(Object.keys(mail!.headers)).not.toContain('bcc');
  expect(mail!.to).toHaveLength(1);
  expect(mail!.text).toContain('Hello Eve  Bcc: all@customer.test x,');
  for (const value of [{ from: 'A\r\nB' }, { reply_to: 'a@b.test\r\nBcc: c@d.test' }])
    expect((await api.put('/v1/settings/email_config', { value })).status).toBe(400);
});

test('only the kinds that are listed; no invoice of zero; not to an address that has changed', async () => {
  await configure({ enabled: true, types: ['receipt'] });
  await issued(await customerNamed('Ann'));
  await send();
  await configure({ types: ['invoice_issued'] });
  await issued(await customerNamed('Ann'), '0');
  const moved = await customerNamed('Ann');
  await issued(moved);
  api.clock.advance(1000);
  ticks += 1;
  await api.put(`/v1/customers/${moved.id}`, { email: '' });
  await send();
  expect(subjects()).toEqual([]);
});

test('a tenant sends a limited number an hour: the others wait, and none is lost', async () => {
  await configure({ enabled: true, types: ['invoice_issued'] });
  for (let count = 0; count < 3; count += 1) await issued(await customerNamed('Ann'));
  expect(await send({ perTenantMax: 2 })).toMatchObject({ sent: 2, dropped: 0 });
  expect(await send({ perTenantMax: 2 })).toMatchObject({ sent: 0 });
  api.clock.advance(2 * 3_600_000);
  expect(await send({ perTenantMax: 2 })).toMatchObject({ sent: 1 });
});

test('other environments and customers of test clocks get none', async () => {
  await configure({ enabled: true, types: ['invoice_issued'] });
  const clock = (await api.post('/v1/test-clocks', { now: '2026-11-01T00:00:00Z' })).body;
  const clocked = await catalogOf(api).customer({
    email: 'clock@customer.test',
    test_clock_id: clock.id,
  });
  await issued(clocked);
  const other = await api.newCaller({ inTenantOf: api });
  const stranger = await catalogOf(other).customer({ email: 'other@customer.test' });
  await other.post('/v1/invoices', {
    invoice_type: 'ONE_OFF',
    invoice_status: 'FINALIZED',
    customer_id: stranger.id,
    currency: 'usd',
    line_items: [{ display_name: 'Work', amount: '5', quantity: '1' }],
  });
  expect(await send()).toMatchObject({ sent: 0 });
});

test('amounts have the digits of their currency, days are those of the customer, with the zone', async () => {
  await configure({ enabled: true, types: ['invoice_issued', 'receipt'] });
  const customer = await catalogOf(api).customer({
    email: 'tokyo@customer.test',
    timezone: 'Asia/Tokyo',
  });
  api.clock.set('2026-12-01T23:30:00.000Z');
  const invoice = await issued(customer, '1235', 'jpy');
  expect(invoice.total).toBe('1235');
  await pay(invoice, { payment_method_type: 'OFFLINE', amount: '1235', currency: 'jpy' });
  await api.pool`update outbox set occurred_at = ${new Date(api.clock.now())} where delivered_at is null`;
  await send();
  const textOf = (subject: string) =>
    catcher.mails.find(({ headers }) => headers['subject']!.startsWith(subject))?.text;
  const [first, receipt] = [textOf('Invoice'), textOf('Receipt')];
  expect(first).toContain('Total: ¥1,235\n');
  expect(first).toContain('Due: 3 Dec 2026 (Asia/Tokyo)\n');
  expect(receipt).toContain('Amount: ¥1,235\n');
  expect(receipt).toContain('Date: 2 Dec 2026 (Asia/Tokyo)\n');
});
