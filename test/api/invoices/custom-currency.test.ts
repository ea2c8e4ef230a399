import { billingWorldFrom } from '../../support/billing-world.ts';
import { Decimal } from '../../../domain/money.ts';
import { day } from '../../support/day.ts';
import { createRandom } from '../../support/random.ts';
import { readPdf } from '../../support/read-pdf.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-04-01T00:00:00.000Z');
beforeEach(async () => {
  await configure('0.1');
});

const configure = (usd: string) =>
  world.api.put('/v1/settings/custom_currency_config', {
    value: {
      currencies: [{ code: 'crx', name: 'Credits', symbol: '¤', conversion_factors: { usd } }],
    },
  });
let counter = 0;

/** 1000 crx a month and 3 crx a call, in a currency that is 0.1 usd. */
async function subscribed(more: object = {}) {
  const { catalog, api } = world;
  const currency = 'crx';
  const plan = await catalog.plan('Credits');
  const meter = await catalog.meter();
  const key = `crx${(counter += 1)}`;
  const of = { currency, display_name: 'Base', lookup_key: `${key}-base` };
  const base = await catalog.fixed(plan, '1000', of);
  await catalog.usage(plan, meter, { currency, display_name: 'Calls', amount: '3' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    currency,
    start_date: day('2026-04-01'),
    ...more,
  });
  return { plan, meter, base, customer, subscription };
}
const invoicesOf = async (subscription: { id: string }) =>
  (
    await world.api.post('/v1/invoices/search', {
      subscription_id: subscription.id,
      expand: 'line_items',
    })
  ).body.items as any[];
const rows = (invoice: any) =>
  invoice.line_items.map(
    (row: any) =>
      `${row.display_name} ${row.amount} ${row.currency} of ${row.custom_currency?.amount} ${row.custom_currency?.currency}`,
  );
async function cycle(subscription: { id: string }) {
  world.api.clock.set(day('2026-05-01'));
  await world.api
    .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
  await world.close();
  return (await invoicesOf(subscription))[0];
}

describe('an invoice of a subscription in a custom currency (money 12.5)', () => {
  test('is in fiat: each row is converted once, and keeps its custom amount', async () => {
    const { subscription, meter, customer } = await subscribed();
    const [opening] = await invoicesOf(subscription);
    expect(rows(opening)).toEqual(['Base 100 usd of 1000 crx']);
    expect(opening).toMatchObject({
      currency: 'usd',
      total: '100',
      custom_currency: {
        currency: 'crx',
        symbol: '¤',
        conversion_factor: '0.1',
        subtotal: '1000',
      },
    });
    const { body: explained } = await world.api.get(
      `/v1/invoices/${opening.id}/lines/${opening.line_items[0].id}/explanation`,
    );
    expect(JSON.stringify(explained)).toContain('conversion');

    await world.usage.use(meter, customer, day('2026-04-05'), '7');
    const { body: shown } = await world.api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
    });
    const billed = await cycle(subscription);
    expect(rows(billed)).toEqual(['Base 100 usd of 1000 crx', 'Calls 2.1 usd of 21 crx']);
    expect([shown.currency, shown.total]).toEqual([billed.currency, billed.total]);
    expect(rows(shown)).toEqual(rows(billed));
    expect(billed.line_items.at(-1)).toMatchObject({ quantity: '7' });
  });

  test('any factor: the preview is the bill, and each row is converted once', async () => {
    const seed = Number(process.env['SEED'] ?? Date.now() % 100_000);
    const random = createRandom(seed);
    for (let round = 0; round < 6; round += 1) {
      // 1 to 12 significant digits, from 10^-6 to 10^5.
      const digits = String(1 + random.below(10 ** (1 + random.below(12))));
      const factor = new Decimal(digits).times(
        new Decimal(10).pow(random.below(6) - digits.length - random.below(6)),
      );
      await configure(factor.toFixed());
      world.api.clock.set(day('2026-04-01'));
      const { subscription, meter, customer } = await subscribed();
      const used = random.below(5_000);
      await world.usage.use(meter, customer, day('2026-04-05'), String(used));
      const { body: shown } = await world.api.post('/v1/invoices/preview', {
        subscription_id: subscription.id,
      });
      const billed = await cycle(subscription);
      const inFiat = (custom: number) =>
        factor.times(custom).toDecimalPlaces(2, Decimal.ROUND_HALF_UP);
      const rated = [inFiat(1000), inFiat(3 * used)];
      const told = { seed, factor: factor.toFixed(), used };
      expect({ ...told, rows: billed.line_items.map((row: any) => row.amount) }).toEqual({
        ...told,
        rows: rated.map((amount) => amount.toFixed()),
      });
      expect({ ...told, subtotal: billed.subtotal, preview: rows(shown) }).toEqual({
        ...told,
        subtotal: rated[0]!.plus(rated[1]!).toFixed(),
        preview: rows(billed),
      });
    }
  });

  test('is printed with both amounts and the factor', async () => {
    await configure('0.1234567');
    const { subscription } = await subscribed();
    const [opening] = await invoicesOf(subscription);
    const { rawPayload } = await world.api.app.inject({
      method: 'GET',
      url: `/v1/invoices/${opening.id}/pdf`,
      headers: { 'x-api-key': world.api.key },
    });
    const { text } = await readPdf(rawPayload);
    for (const part of [
      '1 CRX = 0.1234567 USD',
      '1,000 CRX × 0.1234567 USD',
      'Subtotal in CRX',
      '$123.46',
    ])
      expect(text.replace(/\s+/g, ' ')).toContain(part);
  });

  test('the factor is live in a draft and frozen by finalization', async () => {
    const { subscription } = await subscribed();
    const [opening] = await invoicesOf(subscription);
    const draft = await cycle(subscription);
    await configure('0.2');
    const { body: live } = await world.api.post(`/v1/invoices/${draft.id}/compute`, {});
    expect(live.invoice).toMatchObject({
      total: '200',
      custom_currency: { conversion_factor: '0.2' },
    });
    await world.api.post(`/v1/invoices/${draft.id}/finalize`, {});
    await configure('0.3');
    const { body: frozen } = await world.api.get(`/v1/invoices/${draft.id}`);
    expect(frozen).toMatchObject({
      invoice_status: 'FINALIZED',
      total: '200',
      custom_currency: { conversion_factor: '0.2', subtotal: '1000' },
    });
    expect((await world.api.get(`/v1/invoices/${opening.id}`)).body.total).toBe('100');
  });

  test('a fixed coupon in the currency and a tax: discount before tax, both in fiat', async () => {
    const code = `crx-${Date.now()}`;
    await world.api.post('/v1/coupons', {
      name: 'Off',
      coupon_code: code,
      type: 'fixed',
      amount_off: '200',
      currency: 'crx',
      cadence: 'forever',
    });
    const { body: rate } = await world.api.post('/v1/taxes/rates', {
      name: 'vat',
      code: `vat-${Date.now()}`,
      tax_rate_type: 'percentage',
      percentage_value: '20',
    });
    const { subscription } = await subscribed({
      subscription_coupons: [{ coupon_code: code }],
      tax_rate_overrides: [
        { tax_rate_id: rate.id, tax_rate_code: rate.code, currency: 'usd', auto_apply: true },
      ],
    });
    const [opening] = await invoicesOf(subscription);
    expect(opening).toMatchObject({ subtotal: '100', total_discount: '20', total_tax: '16' });
    expect(opening).toMatchObject({ total: '96', currency: 'usd' });
  });

  test('a tax that is added later is in the currency of the invoices', async () => {
    const { body: rate } = await world.api.post('/v1/taxes/rates', {
      name: 'vat',
      code: `vat-later-${Date.now()}`,
      tax_rate_type: 'percentage',
      percentage_value: '20',
    });
    const { subscription } = await subscribed();
    const added = await world.api.post(`/v1/subscriptions/${subscription.id}/modify/execute`, {
      type: 'tax',
      tax_params: { action: 'add', tax_rate_id: rate.id },
    });
    expect(added.status).toBe(200);
    const shown = await world.api.post('/v1/invoices/preview', {
      subscription_id: subscription.id,
    });
    expect(shown.body).toMatchObject({ currency: 'usd', subtotal: '100', total_tax: '20' });
  });

  test('a plan may also have prices in the fiat currency; another custom currency is left out', async () => {
    const { catalog } = world;
    const plan = await catalog.plan('Mixed');
    await catalog.fixed(plan, '1000', { currency: 'crx', display_name: 'Base' });
    await catalog.fixed(plan, '5', { display_name: 'Support' });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      currency: 'crx',
      start_date: day('2026-04-01'),
    });
    const [opening] = await invoicesOf(subscription);
    expect(rows(opening).sort()).toEqual([
      'Base 100 usd of 1000 crx',
      'Support 5 usd of undefined undefined',
    ]);
    expect(opening).toMatchObject({ total: '105', custom_currency: { subtotal: '1000' } });
  });
});

describe('changes', () => {
  async function changing() {
    const from = await subscribed();
    const plan = await world.catalog.plan('More credits');
    await world.catalog.fixed(plan, '2000', {
      currency: 'crx',
      display_name: 'Base',
      lookup_key: `more-${from.subscription.id}`,
    });
    world.api.clock.set(day('2026-04-16'));
    const change = (kind: string, target: { id: string }) =>
      world.api.post(`/v1/subscriptions/${from.subscription.id}/change/v2/${kind}`, {
        target_plan_id: target.id,
        proration_behavior: 'create_prorations',
      });
    return { ...from, to: plan, change };
  }

  test('a larger plan is charged in fiat, as previewed', async () => {
    const { subscription, to, change } = await changing();
    const { body: shown } = await change('preview', to);
    const { body: done } = await change('execute', to);
    const [invoice] = await invoicesOf(subscription);
    expect(rows(invoice)).toEqual(['Base -50 usd of -500 crx', 'Base 100 usd of 1000 crx']);
    expect(invoice).toMatchObject({ currency: 'usd', total: '50' });
    for (const answer of [shown, done])
      expect(answer.changed_resources.invoices).toMatchObject([{ amount: '50' }]);
  });

  test('what returns goes to a wallet in fiat', async () => {
    const { customer, plan, to, change } = await changing();
    await change('execute', to);
    const { body: done } = await change('execute', plan);
    expect(done.changed_resources.invoices).toMatchObject([
      { action: 'wallet_credit', amount: '50' },
    ]);
    const { body: wallets } = await world.api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets).toMatchObject([{ currency: 'usd', balance: '50' }]);
  });
});

describe('wallets', () => {
  test('a wallet in the currency pays its rows at the frozen factor (money 12.7)', async () => {
    const { subscription, meter, customer } = await subscribed();
    const { body: wallet } = await world.api.post('/v1/wallets', {
      customer_id: customer.id,
      currency: 'crx',
      initial_credits_to_load: '50',
    });
    await world.usage.use(meter, customer, day('2026-04-05'), '7');
    const draft = await cycle(subscription);
    const { status } = await world.api.post(`/v1/invoices/${draft.id}/finalize`, {});
    expect(status).toBe(200);
    const { body: paid } = await world.api.get(`/v1/invoices/${draft.id}`);
    expect(paid).toMatchObject({ total_prepaid_credits_applied: '2.1', amount_due: '100' });
    const { body: after } = await world.api.get(`/v1/wallets/${wallet.id}`);
    expect(after).toMatchObject({ credit_balance: '29', balance: '29' });
  });

  test('usage counts against a fiat wallet at the factor of now', async () => {
    const { meter, customer } = await subscribed();
    const { body: wallet } = await world.api.post('/v1/wallets', {
      customer_id: customer.id,
      currency: 'usd',
      initial_credits_to_load: '10',
    });
    world.api.clock.set(day('2026-04-06'));
    await world.usage.use(meter, customer, day('2026-04-05'), '7');
    const { body } = await world.api.get(`/v1/wallets/${wallet.id}/balance/real-time`);
    expect(body).toMatchObject({ real_time_balance: '7.9' });
  });
});

describe('400', () => {
  test('a code that is not configured is refused by name', async () => {
    const { catalog, api } = world;
    const plan = await catalog.plan();
    const customer = await catalog.customer();
    const price = {
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      currency: 'zzq',
      entity_type: 'PLAN',
      entity_id: plan.id,
      price_unit_type: 'FIAT',
      billing_model: 'FLAT_FEE',
      type: 'FIXED',
      invoice_cadence: 'ADVANCE',
      amount: '1',
    };
    for (const [path, body] of [
      ['/prices', price],
      ['/coupons', { name: 'C', type: 'fixed', amount_off: '5', currency: 'zzq', cadence: 'once' }],
      ['/wallets', { customer_id: customer.id, currency: 'zzq' }],
      [
        '/subscriptions',
        {
          customer_id: customer.id,
          plan_id: plan.id,
          currency: 'zzq',
          billing_period: 'MONTHLY',
          billing_period_count: 1,
        },
      ],
    ] as const) {
      const { status, body: refusal } = await api.post(`/v1${path}`, body);
      expect([path, status, refusal.details?.[0]?.path]).toEqual([path, 400, 'currency']);
      expect(refusal.message).toContain('zzq');
    }
  });
});
