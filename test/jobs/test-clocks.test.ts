import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

const read = async (path: string) => (await world.api.get(`/v1${path}`)).body;
const clockAt = async (now: string, more: object = {}) => {
  const answer = await world.api.post('/v1/test-clocks', { now, ...more });
  expect(answer.status).toBe(201);
  return answer.body;
};
async function sold() {
  const { catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '100', { display_name: 'Base' });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  await completeBackfills(world.api.pool);
  return { plan, meter };
}
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items
    .sort((left: any, right: any) => left.billing_sequence - right.billing_sequence)
    .map(({ billing_reason, invoice_status, total, created_at, finalized_at }: any) =>
      [
        billing_reason,
        invoice_status,
        total,
        created_at.slice(0, 16),
        finalized_at?.slice(0, 16),
      ].join(' '),
    );
}

describe('a clock', () => {
  test('is made, read, searched; its customers name it for ever', async () => {
    const clock = await clockAt(day('2024-01-31'), { name: ' Leap ' });
    expect(clock).toMatchObject({
      name: 'Leap', now: day('2024-01-31'), status: 'ready', advancing_to: null, error: null,
    }); // prettier-ignore
    expect(clock.id).toMatch(/^clock_/);
    const { body } = await world.api.post('/v1/test-clocks/search', {
      status: 'ready',
      name: 'Leap',
    });
    expect(body.items).toEqual([clock]);
    const customer = await world.catalog.customer({ test_clock_id: clock.id });
    expect(customer).toMatchObject({ test_clock_id: clock.id, created_at: day('2024-01-31') });
    const changed = await world.api.put(`/v1/customers/${customer.id}`, { name: 'B' });
    expect(changed.body).toMatchObject({ test_clock_id: clock.id, updated_at: day('2024-01-31') });
  });

  test('does not exist in production; unknown and deleted clocks have no customers', async () => {
    const caller = await world.api.newCaller();
    await world.api.pool`
      update environments set type = 'production' where id = ${caller.scope.environment_id}`;
    const refused = await caller.post('/v1/test-clocks', { now: day('2024-01-01') });
    expect([refused.status, refused.body.code]).toEqual([400, 'not_in_production']);
    const person = { external_id: 'x', name: 'X' };
    const unknown = { ...person, test_clock_id: 'clock_unknown' };
    expect((await world.api.post('/v1/customers', unknown)).status).toBe(404);
    const clock = await clockAt(day('2024-01-01'));
    await world.api.delete(`/v1/test-clocks/${clock.id}`);
    const late = { ...person, test_clock_id: clock.id };
    expect((await world.api.post('/v1/customers', late)).status).toBe(400);
    expect(
      (await world.api.post(`/v1/test-clocks/${clock.id}/advance`, { to: day('2025-01-01') }))
        .status,
    ).toBe(400);
  });

  test('advances forward only, by at most five years, and once at a time', async () => {
    const clock = await clockAt(day('2024-02-29'));
    const advance = (to: string) => world.api.post(`/v1/test-clocks/${clock.id}/advance`, { to });
    expect((await advance(day('2024-02-29'))).status).toBe(400);
    expect((await advance('2029-03-01T00:00:00.001Z')).status).toBe(400);
    const asked = await advance(day('2024-03-01'));
    expect([asked.status, asked.body.status, asked.body.advancing_to]).toEqual([
      202, 'advancing', day('2024-03-01'),
    ]); // prettier-ignore
    const second = await advance(day('2024-03-02'));
    expect([second.status, second.body.code]).toEqual([409, 'clock_advancing']);
    const deleted = await world.api.delete(`/v1/test-clocks/${clock.id}`);
    expect([deleted.status, deleted.body.code]).toEqual([409, 'clock_advancing']);
    await world.advanceClocks();
    expect(await read(`/test-clocks/${clock.id}`)).toMatchObject({
      status: 'ready', now: day('2024-03-01'), advancing_to: null,
    }); // prettier-ignore
  });
});

describe('what a customer owns lives by the clock', () => {
  test('periods close and drafts are finalized, each at its instant; usage is on its invoice', async () => {
    const { plan, meter } = await sold();
    const clock = await clockAt('2024-01-31T10:00:00.000Z');
    const customer = await world.catalog.customer({ test_clock_id: clock.id });
    const subscription = await world.catalog.subscribe(customer, plan);
    expect(subscription).toMatchObject({
      start_date: clock.now,
      created_at: clock.now,
      current_period_end: '2024-02-29T10:00:00.000Z',
    });
    await world.usage.use(meter, customer, day('2024-02-10'), '7');
    await world.usage.use(meter, customer, day('2024-03-10'), '9');
    const { now, status } = await world.advance(clock, day('2024-04-15'));
    expect([now, status]).toEqual([day('2024-04-15'), 'ready']);
    expect(await invoicesOf(subscription)).toEqual([
      'SUBSCRIPTION_CREATE FINALIZED 100 2024-01-31T10:00 2024-01-31T10:00',
      'SUBSCRIPTION_CYCLE FINALIZED 103.5 2024-02-29T10:00 2024-02-29T11:00',
      'SUBSCRIPTION_CYCLE FINALIZED 104.5 2024-03-31T10:00 2024-03-31T11:00',
    ]);
  });

  test('a tax of the whole tenant starts in real time; the clocks of the past need its start_date (billing 22.6)', async () => {
    const { api, catalog } = world;
    const { plan } = await sold();
    const clock = await clockAt(day('2024-01-01'));
    const percentage = { tax_rate_type: 'percentage', percentage_value: '20' };
    const vat = { name: 'VAT', code: 'vat-22-6', ...percentage };
    expect((await api.post('/v1/taxes/rates', vat)).status).toBe(201);
    const totalWith = async (more: object) => {
      const tax = { entity_type: 'tenant', tax_rate_code: vat.code, auto_apply: true, ...more };
      const { status, body } = await api.post('/v1/taxes/associations', tax);
      expect(status).toBe(200);
      const customer = await catalog.customer({ test_clock_id: clock.id });
      const subscription = await catalog.subscribe(customer, plan);
      expect((await api.delete(`/v1/taxes/associations/${body.id}`)).status).toBe(200);
      const { items } = (
        await api.post('/v1/invoices/search', { subscription_id: subscription.id })
      ).body;
      return items.map(({ total }: { total: string }) => total);
    };
    expect(await totalWith({})).toEqual(['100']);
    expect(await totalWith({ start_date: day('2023-01-01') })).toEqual(['120']);
  });

  test('trials end, pauses begin and end, plans change and cancellations take effect in order', async () => {
    const { plan } = await sold();
    const clock = await clockAt(day('2025-01-01'));
    const customer = await world.catalog.customer({ test_clock_id: clock.id });
    const trial = await world.catalog.subscribe(customer, plan, { trial_period_days: 5 });
    expect(trial.trial_end).toBe(day('2025-01-06'));
    const ending = await world.catalog.subscribe(customer, plan);
    await world.api.post(`/v1/subscriptions/${ending.id}/cancel`, {
      cancellation_type: 'end_of_period',
    });
    await world.advance(clock, day('2025-01-05'));
    expect((await read(`/subscriptions/${trial.id}`)).subscription_status).toBe('trialing');
    await world.advance(clock, day('2025-02-03'));
    expect((await read(`/subscriptions/${trial.id}`)).subscription_status).toBe('active');
    expect(await read(`/subscriptions/${ending.id}`)).toMatchObject({
      subscription_status: 'cancelled', end_date: day('2025-02-01'), cancelled_at: day('2025-02-01'),
    }); // prettier-ignore
    expect(await invoicesOf(trial)).toEqual([
      'SUBSCRIPTION_TRIAL_START FINALIZED 0 2025-01-01T00:00 2025-01-01T00:00',
      'SUBSCRIPTION_TRIAL_END FINALIZED 100 2025-01-06T00:00 2025-01-06T00:00',
    ]);
  });

  test('credits are granted and expire at their instants; overdue invoices are announced once', async () => {
    const { plan } = await sold();
    const clock = await clockAt(day('2025-01-01'));
    const customer = await world.catalog.customer({ test_clock_id: clock.id });
    await world.catalog.subscribe(customer, plan, {
      credit_grants: [
        {
          name: 'Monthly', credits: '10', cadence: 'RECURRING', period: 'MONTHLY', period_count: 1,
          expiration_type: 'DURATION', expiration_duration: 10, expiration_duration_unit: 'DAY', scope: 'SUBSCRIPTION',
        },
      ],
    }); // prettier-ignore
    await world.advance(clock, day('2025-02-20'));
    const { body } = await world.api.post('/v1/wallets/transactions/search', {
      customer_id: customer.id,
    });
    const moved = body.items
      .map(
        ({ type, transaction_reason, created_at }: any) =>
          `${type} ${transaction_reason} ${created_at.slice(0, 10)}`,
      )
      .sort();
    expect(moved.filter((text: string) => text.startsWith('credit'))).toHaveLength(2);
    expect(moved.join(',')).toContain('2025-01-11');
    expect(moved.join(',')).toContain('2025-02-11');
    const overdue = await world.api.pool<{ clock_time: string; occurred_at: string }[]>`
      select clock_time, occurred_at from outbox
       where event_type = 'invoice.payment.overdue'
         and payload -> 'invoice' ->> 'customer_id' = ${customer.id} order by sequence`;
    expect(overdue.length).toBeGreaterThan(0);
    expect(
      overdue.every(
        ({ clock_time, occurred_at }) => clock_time < '2025-03' && occurred_at > '2026',
      ),
    ).toBe(true);
  });

  test('the audit log has both times', async () => {
    const clock = await clockAt(day('2025-05-01'));
    const customer = await world.catalog.customer({ test_clock_id: clock.id });
    const { body } = await world.api.get(`/v1/audit-logs?entity_id=${customer.id}`);
    expect(body.items[0]).toMatchObject({ action: 'created', clock_time: day('2025-05-01') });
    expect(body.items[0].created_at > '2026').toBe(true);
  });
});

test('an open payment does not stop the clock every half minute: its gateway is asked at growing intervals', async () => {
  const { api } = world;
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
  const clock = await clockAt(day('2025-01-01'));
  const customer = await world.catalog.customer({ test_clock_id: clock.id });
  const { body: invoice } = await api.post('/v1/invoices', {
    customer_id: customer.id,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: [{ display_name: 'Work', amount: '50', quantity: '1' }],
  });
  const { body: payment } = await api.post('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice.id,
    payment_method_type: 'CARD',
    payment_method_id: 'pm_test_3ds',
    payment_gateway: 'test',
    amount: '50',
    currency: 'usd',
  });
  expect(payment.payment_status).toBe('PENDING');
  const advance = async (to: string) => {
    await api.post(`/v1/test-clocks/${clock.id}/advance`, { to });
    return (await world.advanceClocks())!['instants'];
  };
  expect(await advance('2025-01-01T01:00:00.000Z')).toBeLessThan(15);
  expect(await advance(day('2025-01-11'))).toBeLessThan(25);
  // A charge that waits behind a link that nobody opens.
  const value = { enabled: true, intervals_days: [1], final_action: 'none' };
  await api.put('/v1/settings/payment_retry_config', { value });
  const methods = `/v1/customers/${customer.id}/payment-methods`;
  await api.post(methods, { gateway_method_id: 'pm_test_decline' });
  const subscription = await world.catalog.subscribe(customer, (await sold()).plan);
  const link = await api.post('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: subscription.latest_invoice.id,
    payment_method_type: 'PAYMENT_LINK',
    payment_gateway: 'test',
    amount: '100',
    currency: 'usd',
  });
  expect(link.status).toBe(201);
  expect(await advance(day('2025-01-14'))).toBeLessThan(60);
  await api.delete('/v1/settings/payment_retry_config');
  // The gateway has the money and sent no event.
  await api.pool`update test_gateway_payments set state = 'succeeded' where reference = ${payment.id}`;
  await advance(day('2025-01-16'));
  expect(await read(`/payments/${payment.id}`)).toMatchObject({ payment_status: 'SUCCEEDED' });
});

describe('times stay apart', () => {
  test('real-time jobs leave the customers of clocks alone, and clocks leave all others alone', async () => {
    const { plan } = await sold();
    const one = await clockAt(day('2025-01-01'));
    const two = await clockAt(day('2025-01-01'));
    const mine = await world.catalog.subscribe(
      await world.catalog.customer({ test_clock_id: one.id }),
      plan,
    );
    const other = await world.catalog.subscribe(
      await world.catalog.customer({ test_clock_id: two.id }),
      plan,
    );
    const real = await world.catalog.subscribe(await world.catalog.customer(), plan, {
      start_date: day('2026-11-01'),
    });
    await world.close();
    await world.finalize();
    expect(await invoicesOf(mine)).toHaveLength(1);
    const before = await invoicesOf(real);
    await world.advance(one, day('2025-05-15'));
    expect(await invoicesOf(mine)).toHaveLength(5);
    expect(await invoicesOf(other)).toHaveLength(1);
    expect(await invoicesOf(real)).toEqual(before);
  });

  test('a request that would join customers of two times is refused; a search of both is answered', async () => {
    const clock = await clockAt(day('2025-01-01'));
    const clocked = await world.catalog.customer({ test_clock_id: clock.id });
    const real = await world.catalog.customer();
    const body = {
      customer_id: real.id,
      external_customer_id: clocked.external_id,
      currency: 'usd',
    };
    const refused = await world.api.post('/v1/wallets', body);
    expect([refused.status, refused.body.code]).toEqual([400, 'invalid_operation']);
    const both = { customer_ids: [clocked.id, real.id] };
    expect((await world.api.post('/v1/customers/search', both)).body.items).toHaveLength(2);
  });
});

describe('an advance that does not get through', () => {
  test('stops at the failed instant with the reason; advanced again, it continues and bills nothing twice', async () => {
    const { plan, meter } = await sold();
    const clock = await clockAt(day('2025-01-01'));
    const customer = await world.catalog.customer({ test_clock_id: clock.id });
    const subscription = await world.catalog.subscribe(customer, plan);
    await world.usage.use(meter, customer, day('2025-01-10'), '2');
    world.usage.failFor(customer, new TypeError('bug'));
    expect(await world.advance(clock, day('2025-03-15'))).toMatchObject({
      status: 'failed',
      now: day('2025-02-01'),
      advancing_to: day('2025-03-15'),
      error: `subscription ${subscription.id}: an unexpected error of the service`,
    });
    world.usage.failFor(customer, null);
    expect(await world.advance(clock, day('2025-03-15'))).toMatchObject({
      status: 'ready', now: day('2025-03-15'), error: null,
    }); // prettier-ignore
    expect(await invoicesOf(subscription)).toEqual([
      'SUBSCRIPTION_CREATE FINALIZED 100 2025-01-01T00:00 2025-01-01T00:00',
      'SUBSCRIPTION_CYCLE FINALIZED 101 2025-02-01T00:00 2025-02-01T01:00',
      'SUBSCRIPTION_CYCLE FINALIZED 100 2025-03-01T00:00 2025-03-01T01:00',
    ]);
  });

  test('an outage does not fail the clock: the next run continues', async () => {
    const { plan } = await sold();
    const clock = await clockAt(day('2025-01-01'));
    const customer = await world.catalog.customer({ test_clock_id: clock.id });
    const subscription = await world.catalog.subscribe(customer, plan);
    world.usage.outage(true);
    const asked = await world.advance(clock, day('2025-02-15'));
    expect(asked).toMatchObject({ status: 'advancing', now: day('2025-02-01') });
    world.usage.outage(false);
    await world.advanceClocks();
    expect(await read(`/test-clocks/${clock.id}`)).toMatchObject({ status: 'ready' });
    expect(await invoicesOf(subscription)).toHaveLength(2);
  });

  test('waits until the stream has passed what was accepted before the call', async () => {
    const clock = await clockAt(day('2025-01-01'));
    world.heads = { 3: 2n ** 40n };
    await world.api.post(`/v1/test-clocks/${clock.id}/advance`, { to: day('2025-02-01') });
    world.heads = {};
    const stop = world.advanceClocks();
    const stored = await read(`/test-clocks/${clock.id}`);
    expect(stored).toMatchObject({ status: 'advancing', now: day('2025-01-01') });
    await world.api.pool`update test_clocks set stream_heads = '{}' where id = ${clock.id}`;
    await stop;
    expect(await read(`/test-clocks/${clock.id}`)).toMatchObject({ status: 'ready' });
  });
});

describe('entitlements of plans, which are written in real time', () => {
  const aSecondPasses = () =>
    world.api.clock.set(new Date(world.api.clock.now() + 1000).toISOString());
  const chargeOf = async ({ id }: { id: string }, month: string) => {
    const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
    const invoice = body.items.find(
      ({ period_start, invoice_status }: any) =>
        period_start === day(month) && invoice_status === 'FINALIZED',
    );
    const { line_items } = await read(`/invoices/${invoice.id}`);
    const row = line_items.find(({ display_name }: any) => display_name === 'Calls');
    return { invoice, amount: row.amount, free: row.adjusted_entitlement_quantity };
  };

  test.each(['2024-01-01', '2031-01-01'])(
    'count from when they were written, at the time that the clock of %s then had (billing 4.7)',
    async (start) => {
      const { plan, meter } = await sold();
      const year = start.slice(0, 4);
      const { body: feature } = await world.api.post('/v1/features', {
        name: 'Calls', lookup_key: `calls-${start}`, type: 'metered', meter_id: meter.id,
      }); // prettier-ignore
      const granted = await world.api.post('/v1/entitlements', {
        entity_type: 'PLAN', entity_id: plan.id, feature_id: feature.id,
        feature_type: 'metered', is_enabled: true, usage_limit: 10,
      }); // prettier-ignore
      expect(granted.status).toBe(201);
      const clock = await clockAt(day(start));
      const customer = await world.catalog.customer({ test_clock_id: clock.id });
      const subscription = await world.catalog.subscribe(customer, plan, {
        start_date: day(start),
      });
      aSecondPasses();
      await world.usage.use(meter, customer, day(`${year}-01-10`), '15');
      await world.advance(clock, day(`${year}-02-02`));
      expect(await chargeOf(subscription, start)).toMatchObject({ amount: '2.5', free: '10' });

      aSecondPasses();
      const path = `/v1/entitlements/${granted.body.id}`;
      expect((await world.api.put(path, { usage_limit: 3 })).status).toBe(200);
      aSecondPasses();
      await world.usage.use(meter, customer, day(`${year}-02-10`), '15');
      await world.advance(clock, day(`${year}-03-02`));
      expect(await chargeOf(subscription, `${year}-02-01`)).toMatchObject({
        amount: '6', free: '3',
      }); // prettier-ignore

      const { invoice } = await chargeOf(subscription, start);
      const again = await world.api.post(`/v1/invoices/${invoice.id}/recalculate`);
      expect(again.body.line_items).toContainEqual(
        expect.objectContaining({ display_name: 'Calls', amount: '2.5' }),
      );
    },
  );
});

test('deleting a clock archives its customers and cancels their subscriptions at its time', async () => {
  const { plan } = await sold();
  const clock = await clockAt(day('2025-01-01'));
  const customer = await world.catalog.customer({ test_clock_id: clock.id });
  const subscription = await world.catalog.subscribe(customer, plan);
  await world.advance(clock, day('2025-01-20'));
  const deleted = await world.api.delete(`/v1/test-clocks/${clock.id}`);
  expect([deleted.status, deleted.body]).toEqual([200, { message: 'test clock deleted' }]);
  expect((await read(`/customers/${customer.id}`)).status).toBe('archived');
  expect(await read(`/subscriptions/${subscription.id}`)).toMatchObject({
    subscription_status: 'cancelled', end_date: day('2025-01-20'),
  }); // prettier-ignore
  expect((await read(`/test-clocks/${clock.id}`)).status).toBe('archived');
  expect((await world.api.delete(`/v1/test-clocks/${clock.id}`)).status).toBe(200);
});
