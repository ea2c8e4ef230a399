import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { day } from '../support/day.ts';

/** A record that a job cannot process holds up no other record of its environment. */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
  await world.api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => world.stop());

const balanceOf = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/customers/${id}/wallets`)).body[0].credit_balance;

test('credits of other subscriptions are given', async () => {
  world.api.clock.set(day('2026-01-01'));
  const { catalog } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '10');
  await world.api.postOk('/v1/creditgrants', {
    ...{ name: 'Credits', scope: 'PLAN', plan_id: plan.id, credits: '100', cadence: 'RECURRING' },
    ...{ period: 'MONTHLY', period_count: 1, expiration_type: 'NEVER' },
  });
  const customers = [await catalog.customer(), await catalog.customer(), await catalog.customer()];
  const made = [];
  for (const customer of customers)
    made.push(await catalog.subscribe(customer, plan, { start_date: day('2026-01-01') }));
  const [first] = made.map(({ id }) => id).sort();
  await world.api.pool`update credit_grants set period = null where subscription_id = ${first!}`;
  world.api.clock.set(day('2026-02-01'));
  expect(await world.run('apply-credit-grants')).toMatchObject({ applied: 2, failed: 1 });
  expect((await Promise.all(customers.map(balanceOf))).sort()).toEqual(['100', '200', '200']);
  await world.api.pool`update credit_grants set period = 'MONTHLY' where period is null`;
  expect(await world.run('apply-credit-grants')).toMatchObject({ applied: 1, failed: 0 });
});

describe('automatic top-ups', () => {
  const auto = { enabled: true, invoicing: true, threshold: '10', amount: '1' };
  const terms = { currency: 'jpy', conversion_rate: '0.3', initial_credits_to_load: '20' };
  const debit = (wallet: { id: string }, credits: string, key: string) =>
    world.api.post(`/v1/wallets/${wallet.id}/debit`, {
      ...{ credits, transaction_reason: 'MANUAL_BALANCE_DEBIT' },
      idempotency_key: `${key} ${wallet.id}`,
    });

  test.each`
    currency | rate        | amount | status
    ${'jpy'} | ${'0.3'}    | ${'1'} | ${400}
    ${'jpy'} | ${'0.3'}    | ${'2'} | ${200}
    ${'kwd'} | ${'0.0004'} | ${'1'} | ${400}
    ${'kwd'} | ${'0.0005'} | ${'1'} | ${200}
  `(
    'an invoice needs a minor unit: $amount credits at $rate $currency: $status',
    async ({ currency, rate, amount, status }) => {
      const customer = await world.catalog.customer();
      const of = { ...terms, currency, conversion_rate: rate };
      const body = { customer_id: customer.id, ...of, auto_topup: { ...auto, amount } };
      const answer = await world.api.post('/v1/wallets', body);
      expect(answer.status).toBe(status);
      if (status === 400) expect(answer.body.details[0].path).toBe('auto_topup.amount');
      const direct = { ...body, auto_topup: { ...auto, amount, invoicing: false } };
      if (status === 400) expect((await world.api.post('/v1/wallets', direct)).status).toBe(200);
    },
  );

  /** A wallet with 5 credits and an automatic top-up that was stored without the checks of today. */
  async function walletWith(more: object) {
    const customer = await world.catalog.customer();
    const body = { customer_id: customer.id, ...terms, initial_credits_to_load: '5' };
    const wallet = await world.api.postOk('/v1/wallets', body);
    const stored = { ...auto, amount: '100', cooldown_ms: null, ...more };
    await world.api.pool`
      update wallets set auto_topup = ${world.api.pool.json(stored)} where id = ${wallet.id}`;
    return wallet;
  }
  const invoicesOf = async ({ customer_id }: { customer_id: string }) =>
    (await world.api.postOk('/v1/invoices/search', { customer_id })).items;

  test('one that is worth less than a minor unit is not invoiced, and refuses no debit', async () => {
    const wallet = await walletWith({ amount: '1' });
    expect((await debit(wallet, '1', 'first')).status).toBe(200);
    expect(await invoicesOf(wallet)).toEqual([]);
  });

  test('one that cannot be read leaves the others theirs', async () => {
    const wallets = [await walletWith({}), await walletWith({})];
    const [bad, good] = wallets.sort((left, right) => (left.id < right.id ? -1 : 1));
    await world.api.pool`
      update wallets set auto_topup = auto_topup || '{"amount": "none"}' where id = ${bad.id}`;
    expect(await world.run('evaluate-wallets')).toMatchObject({ failed: 1 });
    expect(await invoicesOf(good)).toMatchObject([
      { billing_reason: 'WALLET_AUTO_TOPUP', total: '30' },
    ]);
    await world.api.pool`update wallets set auto_topup = null where id = ${bad.id}`;
  });
});

const refuses = async (table: string, check: string, work: () => Promise<void>) => {
  const alter = (sql: string) => world.api.pool.unsafe(`alter table ${table} ${sql}`);
  await alter(`add constraint refuses check (${check}) not valid`);
  try {
    await work();
  } finally {
    await alter('drop constraint refuses');
  }
};

test('credits of other wallets expire', async () => {
  world.api.clock.set(day('2026-03-01'));
  const customers = [await world.catalog.customer(), await world.catalog.customer()];
  for (const { id } of customers)
    await world.api.postOk('/v1/wallets', {
      ...{ customer_id: id, currency: 'usd', initial_credits_to_load: '50' },
      initial_credits_expiry_date_utc: day('2026-03-02'),
    });
  const [bad] = await world.api.pool`
    select wallet_id from wallet_transactions where expiry_date is not null order by wallet_id limit 1`;
  world.api.clock.set(day('2026-03-10'));
  const check = `wallet_id <> '${bad!['wallet_id']}' or type <> 'debit'`;
  await refuses('wallet_transactions', check, async () => {
    expect(await world.run('expire-credits')).toEqual({ expired: 1, failed: 1 });
    expect((await Promise.all(customers.map(balanceOf))).sort()).toEqual(['0', '50']);
  });
  expect(await world.run('expire-credits')).toEqual({ expired: 1, failed: 0 });
});

test('other subscriptions with an uncollected invoice are cancelled', async () => {
  const { api, catalog } = world;
  api.clock.set(day('2026-04-01'));
  const value = { enabled: true, intervals_days: [1], final_action: 'cancel' };
  await api.put('/v1/settings/payment_retry_config', { value });
  const plan = await catalog.plan();
  await catalog.fixed(plan, '100');
  const made: { id: string }[] = [];
  // More than a page, so that the bad ones are not in the way of the last one.
  for (let index = 0; index < 12; index += 1) {
    const customer = await catalog.customer();
    const saved = { gateway_method_id: 'pm_test_decline', is_default: true };
    await world.api.postOk(`/v1/customers/${customer.id}/payment-methods`, saved);
    made.push(await catalog.subscribe(customer, plan, { start_date: day('2026-04-01') }));
  }
  const statusOf = async ({ id }: { id: string }) =>
    (await api.get(`/v1/subscriptions/${id}`)).body.subscription_status;
  const bad = made.slice(0, 11);
  const check = `id not in (${bad.map(({ id }) => `'${id}'`)}) or subscription_status <> 'cancelled'`;
  await refuses('subscriptions', check, async () => {
    // The bad ones fail first, so that theirs are the oldest marks.
    api.clock.set(day('2026-04-02'));
    expect(await world.collect()).toMatchObject({ charged: 12, cancelled: 1, failed: 11 });
    expect(await Promise.all(made.map(statusOf))).toEqual([
      ...bad.map(() => 'active'),
      'cancelled',
    ]);
  });
  expect(await world.collect()).toMatchObject({ charged: 0, cancelled: 11, failed: 0 });
});

test('other invoices are charged, when a page of the longest due ones cannot be', async () => {
  const { api, catalog } = world;
  await api.delete('/v1/settings/payment_retry_config');
  api.clock.set(day('2026-05-01'));
  const plan = await catalog.plan();
  await catalog.fixed(plan, '100', { invoice_cadence: 'ARREAR' });
  const customers: { id: string }[] = [];
  for (let index = 0; index < 12; index += 1) {
    const customer = await catalog.customer();
    const saved = { gateway_method_id: 'pm_test_success', is_default: true };
    await world.api.postOk(`/v1/customers/${customer.id}/payment-methods`, saved);
    await catalog.subscribe(customer, plan, { start_date: day('2026-05-01') });
    customers.push(customer);
  }
  api.clock.set('2026-06-01T03:00:00.000Z');
  await world.close();
  await world.finalize();
  const ids = customers.map(({ id }) => id);
  const due = await api.pool<{ customer_id: string }[]>`
    select customer_id from invoice_collections
     where customer_id = any(${ids}::text[]) order by next_attempt_at, invoice_id`;
  const bad = due.slice(0, 11).map(({ customer_id }) => `'${customer_id}'`);
  await refuses('payments', `customer_id not in (${bad})`, async () => {
    expect(await world.collect()).toMatchObject({ charged: 1, failed: 11 });
  });
  expect(await world.collect()).toMatchObject({ charged: 11, failed: 0 });
});

describe('notices', () => {
  const noticesOf = async (event_type: string, ids: readonly string[]) =>
    (
      await world.api.pool<{ entity_id: string }[]>`
        select entity_id from outbox
         where event_type = ${event_type} and entity_id = any(${ids}::text[])`
    ).map(({ entity_id }) => entity_id);

  test('other overdue invoices are reported', async () => {
    world.api.clock.set(day('2026-07-01'));
    await world.notifyOverdue();
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1)
      ids.push(
        (
          await world.api.postOk('/v1/invoices', {
            ...{ customer_id: (await world.catalog.customer()).id, invoice_type: 'ONE_OFF' },
            ...{ currency: 'usd', due_date: day(`2026-07-0${index + 2}`) },
            line_items: [{ display_name: 'A', amount: '10', quantity: '1' }],
          })
        ).id,
      );
    const [bad, ...others] = ids;
    world.api.clock.set(day('2026-07-10'));
    const check = `id <> '${bad}' or overdue_notified_for is null`;
    await refuses('invoices', check, async () => {
      expect(await world.notifyOverdue()).toEqual({ notified: 2, failed: 1 });
      expect((await noticesOf('invoice.payment.overdue', ids)).sort()).toEqual(others.sort());
    });
    expect(await world.notifyOverdue()).toEqual({ notified: 1, failed: 0 });
  });

  test('other renewals are announced', async () => {
    world.api.clock.set(day('2026-08-01'));
    await world.run('notify-renewals');
    const { catalog } = world;
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1)
      ids.push(
        (
          await catalog.subscribe(await catalog.customer(), plan, {
            start_date: day('2026-08-01'),
          })
        ).id,
      );
    const [bad, ...others] = ids;
    world.api.clock.set('2026-08-31T12:00:00.000Z');
    const check = `id <> '${bad}' or renewal_notified_for is null`;
    await refuses('subscriptions', check, async () => {
      expect(await world.run('notify-renewals')).toEqual({ notified: 2, failed: 1 });
      expect((await noticesOf('subscription.renewal.due', ids)).sort()).toEqual(others.sort());
    });
    expect(await world.run('notify-renewals')).toEqual({ notified: 1, failed: 0 });
  });
});
