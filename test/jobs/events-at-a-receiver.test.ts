import { createHmac } from 'node:crypto';
import { deliverWebhooks } from '../../jobs/deliver-webhooks.ts';
import { createOutbound, type Outbound } from '../../platform/outbound/guarded-request.ts';
import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { runAtNow } from '../support/job-run.ts';
import { invoiceDue, payOffline } from '../support/payments.ts';
import { startReceiver, type TestReceiver } from '../support/receiver.ts';

/**
 * Notifications as a receiver gets them: caused over HTTP or by the job that causes them, sent by the delivering job,
 * with its signature (money 17.2) and the section and keys of money 17.3.1.
 */
let world: BillingWorld;
let outbound: Outbound;
let receiver: TestReceiver;
let endpoint: { id: string; secret: string };
/** An endpoint of another tenant, which is sent none of the events. */
let stranger: TestReceiver;
beforeAll(async () => {
  world = await startBillingWorld();
  outbound = createOutbound();
  receiver = await startReceiver();
  await ok('/connections', { name: 'Test', provider_type: 'test' });
  endpoint = await ok('/webhooks/endpoints', { url: `${receiver.url}/hook` });
  stranger = await startReceiver();
  const other = await world.api.newCaller();
  const made = await other.post('/v1/webhooks/endpoints', { url: `${stranger.url}/hook` });
  expect(made.status).toBe(201);
});
beforeEach(() => {
  world.api.clock.set('2026-11-20T00:00:00.000Z');
  receiver.received.length = 0;
});
afterEach(() => expect(stranger.received).toEqual([]));
afterAll(async () => {
  outbound.close();
  await stranger.close();
  await receiver.close();
  await world.stop();
});

async function ok(path: string, body: object = {}, method: 'post' | 'put' = 'post'): Promise<any> {
  const answer = await world.api[method](`/v1${path}`, body);
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** What the receiver was sent, oldest first, each with the signature that a receiver checks. */
async function received(): Promise<any[]> {
  await runAtNow(world.api, deliverWebhooks, { ...world.api.deps, outbound });
  const key = Buffer.from(endpoint.secret.slice('whsec_'.length), 'base64');
  return receiver.received.map(({ headers, body }) => {
    const signed = `${headers['webhook-id']}.${headers['webhook-timestamp']}.${body}`;
    const mac = createHmac('sha256', key).update(signed).digest('base64');
    expect(headers['webhook-signature']).toBe(`v1,${mac}`);
    expect(headers['svix-signature']).toBe(`v1,${mac}`);
    const sent = JSON.parse(body);
    expect(sent).toMatchObject({
      id: headers['webhook-id'],
      environment_id: world.api.scope.environment_id,
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      sequence: expect.any(Number),
    });
    return sent;
  });
}
/** The sections of one type that arrived. */
const sectionsOf = async (type: string, section: string) =>
  (await received())
    .filter(({ event_type }) => event_type === type)
    .map((sent) => {
      expect(sent).toHaveProperty(section);
      return sent[section];
    });

const KEYS = {
  subscription:
    'id customer_id plan_id lookup_key subscription_status currency start_date end_date current_period_start current_period_end cancelled_at cancel_at cancel_at_period_end trial_start trial_end billing_cadence billing_period billing_period_count pause_status subscription_type parent_subscription_id metadata customer',
  payment:
    'id destination_type destination_id payment_method_type amount currency payment_status payment_gateway succeeded_at failed_at refunded_at voided_at error_message invoice_number',
  refund:
    'id payment_id invoice_id credit_note_id amount currency refund_status refund_reason refund_target failure_reason succeeded_at failed_at',
  invoice:
    'id customer_id environment_id subscription_id invoice_type invoice_status payment_status currency amount_due amount_paid amount_remaining total subtotal invoice_number due_date paid_at voided_at finalized_at period_start period_end invoice_pdf_url billing_reason subscription customer line_items line_items_truncated metadata',
  phase: 'id subscription_id start_date end_date metadata',
  checkout_session:
    'id customer_id action checkout_status payment_provider checkout_invoice_id checkout_payment_id failure_reason expires_at completed_at cancelled_at payment_action',
  wallet:
    'id customer_id currency balance credit_balance wallet_status name wallet_type conversion_rate real_time_balance real_time_credit_balance',
};
const hasKeys = (section: object, of: keyof typeof KEYS) =>
  expect(Object.keys(section)).toEqual(expect.arrayContaining(KEYS[of].split(' ')));

const card = (invoice: { id: string }, amount: string, outcome: string) =>
  payOffline(world.api, invoice, amount, {
    payment_method_type: 'CARD',
    payment_method_id: `pm_test_${outcome}`,
    payment_gateway: 'test',
  });

test('subscription.renewal.due: from the job, a day before the end of the period', async () => {
  const { subscription, customer } = await invoiceDue(world.api, '30');
  world.api.clock.set('2026-11-30T00:00:00.000Z');
  await world.run('notify-renewals');
  await world.run('notify-renewals');
  const [sent, ...more] = await sectionsOf('subscription.renewal.due', 'subscription');
  expect(more).toEqual([]);
  hasKeys(sent, 'subscription');
  expect(sent).toMatchObject({
    id: subscription.id,
    customer: { id: customer.id, external_id: customer.external_id },
    current_period_end: '2026-12-01T00:00:00.000Z',
  });
});

test('payment.failed: a card that is declined, over HTTP and by the job that collects', async () => {
  const { invoice } = await invoiceDue(world.api, '30');
  const { body: payment } = await card(invoice, '30', 'decline');
  const [sent, ...more] = await sectionsOf('payment.failed', 'payment');
  expect(more).toEqual([]);
  hasKeys(sent, 'payment');
  expect(sent).toMatchObject({
    id: payment.id,
    destination_id: invoice.id,
    invoice_number: invoice.invoice_number,
    amount: '30',
    payment_status: 'FAILED',
    error_message: 'card_declined',
    failed_at: '2026-11-20T00:00:00.000Z',
  });

  receiver.received.length = 0;
  const { catalog, api } = world;
  const [plan, customer] = [await catalog.plan(), await catalog.customer()];
  await catalog.fixed(plan, '40');
  await api.pool`update subscriptions set due_at = null`;
  await catalog.subscribe(customer, plan, { start_date: '2026-11-01T00:00:00.000Z' });
  const saved = { gateway_method_id: 'pm_test_decline', is_default: true };
  await ok(`/customers/${customer.id}/payment-methods`, saved);
  api.clock.set('2026-12-01T03:00:00.000Z');
  await world.close();
  await world.finalize();
  await world.collect();
  const [collected, ...others] = await sectionsOf('payment.failed', 'payment');
  expect(others).toEqual([]);
  expect(collected).toMatchObject({
    amount: '40',
    customer_id: customer.id,
    payment_method_type: 'CARD',
    error_message: 'card_declined',
    failed_at: '2026-12-01T03:00:00.000Z',
  });
});

test('refund.failed: the gateway declines', async () => {
  const { invoice } = await invoiceDue(world.api, '50');
  const { body: payment } = await card(invoice, '50', 'success');
  const of = { payment_id: payment.id, amount: '20.13', target: 'BACK_TO_SOURCE' };
  const refund = await ok('/refunds', of);
  const [sent, ...more] = await sectionsOf('refund.failed', 'refund');
  expect(more).toEqual([]);
  hasKeys(sent, 'refund');
  expect(sent).toMatchObject({
    id: refund.id,
    payment_id: payment.id,
    invoice_id: invoice.id,
    amount: '20.13',
    currency: 'usd',
    refund_status: 'FAILED',
    failure_reason: 'refund_declined',
    failed_at: expect.any(String),
    succeeded_at: null,
  });
});

test('invoice.payment.overdue: from the job, once', async () => {
  const { invoice } = await invoiceDue(world.api, '30');
  world.api.clock.set('2027-01-15T00:00:00.000Z');
  await world.notifyOverdue();
  await world.notifyOverdue();
  const found = await sectionsOf('invoice.payment.overdue', 'invoice');
  const own = found.filter(({ id }) => id === invoice.id);
  expect(own).toHaveLength(1);
  hasKeys(own[0], 'invoice');
  expect(own[0]).toMatchObject({
    amount_remaining: '30',
    payment_status: 'PENDING',
    line_items: [
      { id: expect.any(String), price_id: expect.any(String), display_name: 'Base', amount: '30' },
    ],
  });
});

test('subscription.phase.*: with the phase as it is after the change', async () => {
  const plan = await world.catalog.plan();
  await world.catalog.fixed(plan, '30');
  const customer = await world.catalog.customer();
  const boundary = '2027-01-20T00:00:00.000Z';
  const { id, phases } = await world.catalog.subscribe(customer, plan, {
    start_date: '2026-11-20T00:00:00.000Z',
    phases: [
      { start_date: '2026-11-20T00:00:00.000Z', end_date: boundary, metadata: { n: '1' } },
      { start_date: boundary },
    ],
  });
  const created = await sectionsOf('subscription.phase.created', 'phase');
  for (const phase of created) hasKeys(phase, 'phase');
  expect(created).toMatchObject([
    { id: phases[0].id, subscription_id: id, end_date: boundary, metadata: { n: '1' } },
    { id: phases[1].id, subscription_id: id, start_date: boundary, end_date: null },
  ]);

  receiver.received.length = 0;
  const later = '2027-02-20T00:00:00.000Z';
  await ok(`/subscriptions/${id}/phases/${phases[1].id}`, { start_date: later }, 'put');
  const moved = await sectionsOf('subscription.phase.updated', 'phase');
  const dates = moved.map((phase) => [phase.id, phase.start_date, phase.end_date]);
  expect(dates.sort()).toEqual(
    [
      [phases[0].id, '2026-11-20T00:00:00.000Z', later],
      [phases[1].id, later, null],
    ].sort(),
  );

  receiver.received.length = 0;
  await world.api.delete(`/v1/subscriptions/${id}/phases/${phases[1].id}`);
  const deleted = await sectionsOf('subscription.phase.deleted', 'phase');
  expect(deleted).toMatchObject([{ id: phases[1].id, subscription_id: id, start_date: later }]);
});

test('checkout.session.completed: once, although it is paid twice', async () => {
  const { invoice, customer } = await invoiceDue(world.api, '40');
  const session = await ok('/checkout/sessions', {
    customer_external_id: customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'test',
    configuration: { pay_invoice_params: { invoice_id: invoice.id } },
  });
  const pay = () =>
    ok(`/test-gateway/payments/${session.checkout_payment_id}/outcome`, { outcome: 'success' });
  await pay();
  await pay().catch(() => null);
  const [sent, ...more] = await sectionsOf('checkout.session.completed', 'checkout_session');
  expect(more).toEqual([]);
  hasKeys(sent, 'checkout_session');
  expect(sent).toMatchObject({
    id: session.id,
    customer_id: customer.id,
    action: 'pay_invoice',
    checkout_status: 'completed',
    checkout_invoice_id: invoice.id,
    checkout_payment_id: session.checkout_payment_id,
    completed_at: '2026-11-20T00:00:00.000Z',
  });
});

test('wallet.ongoing_balance.updated: from the job that sees usage', async () => {
  const { catalog, usage } = world;
  const [plan, meter, customer] = [
    await catalog.plan(),
    await catalog.meter(),
    await catalog.customer(),
  ];
  await catalog.usage(plan, meter, { amount: '0.5' });
  await catalog.subscribe(customer, plan, { start_date: '2026-11-01T00:00:00.000Z' });
  const level = { threshold: '5', condition: 'below' };
  const wallet = await ok('/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', conversion_rate: '0.5' },
    ...{ initial_credits_to_load: '100', name: 'Credits' },
    alert_settings: { alert_enabled: true, critical: level },
  });
  await world.run('evaluate-wallets');
  await usage.use(meter, customer, '2026-11-19T00:00:00.000Z', '30');
  await world.run('evaluate-wallets');
  await world.run('evaluate-wallets');
  const [sent, ...more] = await sectionsOf('wallet.ongoing_balance.updated', 'wallet');
  expect(more).toEqual([]);
  hasKeys(sent, 'wallet');
  expect(sent).toMatchObject({
    ...{ id: wallet.id, balance: '50', credit_balance: '100', conversion_rate: '0.5' },
    ...{ real_time_balance: '35', real_time_credit_balance: '70' },
  });
});
