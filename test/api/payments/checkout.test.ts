import { jobRunAt } from '../../support/job-run.ts';
import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { planFor } from '../../support/checkout-kinds.ts';
import { eventsOf, invoiceDue, payOffline } from '../../support/payments.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

const open = (due: any, more: object = {}) =>
  api.post('/v1/checkout/sessions', {
    customer_external_id: due.customer.external_id,
    action: 'pay_invoice',
    payment_provider: 'test',
    configuration: { pay_invoice_params: { invoice_id: due.invoice?.id } },
    ...more,
  });
const read = async (session: { id: string }) =>
  (await api.get(`/v1/checkout/sessions/${session.id}`)).body;
const pay = (session: any, outcome = 'success') =>
  api.post(`/v1/test-gateway/payments/${session.checkout_payment_id}/outcome`, { outcome });

describe('checkout of an invoice', () => {
  test('201: a page for the open amount; paid, the session is completed with the invoice', async () => {
    const due = await invoiceDue(api, '40');
    await payOffline(api, due.invoice, '10');
    const { status, body } = await open(due);
    expect(status).toBe(201);
    expect(body).toMatchObject({
      checkout_status: 'pending',
      payment_action: { type: 'payment_link', url: expect.any(String) },
      payment: { amount: '30', payment_status: 'PENDING' },
      terminal: false,
      next_poll_after_ms: 2000,
    });
    await pay(body);
    expect(await read(body)).toMatchObject({
      checkout_status: 'completed',
      terminal: true,
      next_poll_after_ms: 0,
      completed_at: expect.any(String),
    });
    expect(await due.read()).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '40' });
    expect(await eventsOf(api, body.id)).toEqual([
      'checkout.session.initiated',
      'checkout.session.completed',
    ]);
  });

  test('a poll finds money whose event was lost', async () => {
    const due = await invoiceDue(api, '40');
    const { body } = await open(due);
    await pay(body, 'timeout');
    api.clock.advance(3_000);
    expect(await read(body)).toMatchObject({ checkout_status: 'completed' });
  });

  test('an open session is not stale while its gateway answers (money 11.20)', async () => {
    const { body } = await open(await invoiceDue(api, '40'));
    api.clock.advance(90_000);
    expect(await read(body)).toMatchObject({ stale: false, next_poll_after_ms: 5_000 });
  });

  test('one active session per invoice; the same key is the same session', async () => {
    const due = await invoiceDue(api, '40');
    const both = await Promise.all([open(due), open(due)]);
    expect(both.filter(({ status }) => status === 201)).toHaveLength(1);
    const again = await invoiceDue(api, '40');
    const first = await open(again, { idempotency_key: 'two tabs' });
    const second = await open(again, { idempotency_key: 'two tabs' });
    expect(second.body.id).toBe(first.body.id);
    const later = { idempotency_key: 'two tabs' };
    expect((await open(due, later)).body.code).toBe('idempotency_key_reused');
    const elsewhere = { ...later, success_url: 'https://example.com/thanks' };
    expect((await open(again, elsewhere)).body.code).toBe('idempotency_key_reused');
  });

  test('the key of the session for one plan does not open one for another plan (money 11.10)', async () => {
    const { catalog, plan, customer } = await planFor(api, '30');
    const dear = await catalog.plan();
    await catalog.fixed(dear, '300');
    const subscribe = (plan_id: string) =>
      api.post('/v1/checkout/sessions', {
        customer_external_id: customer.external_id,
        action: 'create_subscription',
        payment_provider: 'test',
        idempotency_key: 'subscribe',
        configuration: {
          create_subscription_params: {
            ...{ plan_id, currency: 'usd', billing_cycle: 'anniversary' },
            ...{ billing_period: 'MONTHLY', billing_period_count: 1 },
          },
        },
      });
    const first = await subscribe(plan.id);
    expect(first).toMatchObject({ status: 201, body: { payment: { amount: '30' } } });
    expect((await subscribe(plan.id)).body.id).toBe(first.body.id);
    expect(await subscribe(dear.id)).toMatchObject({
      status: 409,
      body: { code: 'idempotency_key_reused' },
    });
  });

  test('cancel: expired once, the page is closed; money that comes late counts', async () => {
    const due = await invoiceDue(api, '40');
    const { body } = await open(due);
    const path = `/v1/checkout/sessions/${body.id}/cancel`;
    const both = await Promise.all([api.post(path), api.post(path)]);
    expect(both.map((answer) => answer.body.terminal)).toEqual([true, true]);
    const [, ...ends] = await eventsOf(api, body.id);
    expect(ends).toHaveLength(1);
    expect((await api.get(`/v1/payments/${body.checkout_payment_id}`)).body.payment_status).toMatch(
      /VOIDED|FAILED/,
    );
    await pay(body);
    expect(await due.read()).toMatchObject({ amount_paid: '40', payment_status: 'SUCCEEDED' });
    expect((await read(body)).checkout_status).toMatch(/expired|failed/);
  });

  test('400: a completed session is not cancelled; 204 and 400 for DELETE', async () => {
    const due = await invoiceDue(api, '40');
    const { body } = await open(due);
    await pay(body);
    expect((await api.post(`/v1/checkout/sessions/${body.id}/cancel`)).status).toBe(400);
    expect((await api.delete(`/v1/checkout/sessions/${body.id}`)).status).toBe(400);
    const other = await open(await invoiceDue(api, '40'));
    expect((await api.delete(`/v1/checkout/sessions/${other.body.id}`)).status).toBe(204);
  });

  test('the job ends sessions whose time is over, and completes those that were paid', async () => {
    const over = await open(await invoiceDue(api, '40'));
    const paid = await open(await invoiceDue(api, '40'));
    await pay(paid.body, 'timeout');
    const at = new Date(api.clock.now() + 1_801_000).toISOString();
    const report = await expireCheckouts.run(api.deps, jobRunAt(at));
    expect(report['failed']).toBe(0);
    expect((await read(over.body)).checkout_status).toBe('expired');
    expect((await read(paid.body)).checkout_status).toBe('completed');
  });

  test('an addon and a change of quantities wait for the payment of their session', async () => {
    const catalog = catalogOf(api);
    const [plan, customer] = [await catalog.plan(), await catalog.customer()];
    await catalog.fixed(plan, '10', { display_name: 'Seat' });
    const subscription = await catalog.subscribe(customer, plan, {
      payment_behavior: 'default_active',
    });
    const { body: addon } = await api.post('/v1/addons', { name: 'More', lookup_key: 'more' });
    await catalog.fixed({ id: addon.id }, '30', { entity_type: 'ADDON' });
    const change = (action: string, params: object, more: object = {}) =>
      open(
        { customer },
        {
          action,
          configuration: { [`${action}_params`]: { subscription_id: subscription.id, ...params } },
          ...more,
        },
      );
    const current = async () => (await api.get(`/v1/subscriptions/${subscription.id}`)).body;
    const quantities = async () =>
      (await current()).line_items
        .filter((line: any) => line.end_date === null)
        .map((line: any) => `${line.display_name} ${line.quantity}`);

    const [line] = subscription.line_items;
    const seats = (quantity: string, more: object = {}) =>
      change(
        'modify_subscription',
        { line_item_modifications: [{ line_item_id: line.id, quantity }] },
        more,
      );
    const more = await seats('4', { idempotency_key: 'seats' });
    expect([more.status, more.body.action, more.body.payment.amount]).toEqual([
      201,
      'modify_subscription',
      '30',
    ]);
    expect((await seats('4', { idempotency_key: 'seats' })).body.id).toBe(more.body.id);
    const other = await seats('7', { idempotency_key: 'seats' });
    expect([other.status, other.body.code]).toEqual([409, 'idempotency_key_reused']);
    expect(await quantities()).toEqual(['Seat 1']);
    expect((await seats('5')).status).toBe(409);
    await pay(more.body);
    expect(await quantities()).toEqual(['Seat 4']);

    const added = await change('add_addon', {
      addons: [{ addon_id: addon.id, proration_behavior: 'create_prorations' }],
    });
    expect([added.status, added.body.action, added.body.payment.amount]).toEqual([
      201,
      'add_addon',
      '30',
    ]);
    await pay(added.body);
    expect((await quantities()).toSorted()).toEqual(['More 1', 'Seat 4']);

    const two = [{ addon_id: addon.id }, { addon_id: addon.id }];
    const unknown = { line_item_modifications: [{ line_item_id: line.id, quantity: '1' }] };
    const stranger = await catalog.customer();
    const refused: [Promise<any>, number, string | null][] = [
      [change('add_addon', { addons: two }), 400, 'configuration.add_addon_params.addons'],
      [change('add_addon', {}), 400, 'configuration.add_addon_params.addons'],
      [change('add_addon', { addons: [{ addon_id: addon.id, proration_behavior: 'none' }] }), 400, 'configuration'],
      [open({ customer: stranger }, { action: 'modify_subscription', configuration: { modify_subscription_params: { subscription_id: subscription.id, ...unknown } } }), 404, null],
      [change('add_addon', { addons: [{ addon_id: addon.id }] }, { action: 'modify_subscription' }), 400, 'configuration.modify_subscription_params'],
    ]; // prettier-ignore
    for (const [call, status, path] of refused) {
      const answer = await call;
      expect([answer.status, answer.body.details?.[0]?.path ?? null]).toEqual([status, path]);
    }
    expect((await quantities()).toSorted()).toEqual(['More 1', 'Seat 4']);
  });

  test('refused: what is missing, unknown, not connected or not offered', async () => {
    const due = await invoiceDue(api, '40');
    const subscription = { create_subscription_params: {} };
    const refused: [object, number][] = [
      [{ customer_external_id: undefined }, 400],
      [{ action: undefined }, 400],
      [{ action: 'fly' }, 400],
      [{ action: 'wallet_topup' }, 400],
      [{ payment_provider: 'shells' }, 400],
      [{ payment_provider: 'razorpay' }, 400],
      [{ configuration: {} }, 400],
      [{ action: 'create_subscription', configuration: subscription }, 400],
      [{ customer_external_id: 'nobody' }, 404],
      [{ configuration: { pay_invoice_params: { invoice_id: 'inv_none' } } }, 404],
    ];
    for (const [more, status] of refused)
      expect([more, (await open(due, more)).status]).toEqual([more, status]);
    const paid = await invoiceDue(api, '40');
    await payOffline(api, paid.invoice, '40');
    expect((await open(paid)).status).toBe(400);
  });
});
