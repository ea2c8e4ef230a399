import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

const world = billingWorldFrom('2026-03-10T00:00:00.000Z');

/** A plan of 100 in advance, 10 in arrears, 30 once in arrears, and calls at 0.5. */
async function trialing(more: object = {}) {
  const { catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.fixed(plan, '100', { display_name: 'Base' });
  await catalog.fixed(plan, '10', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.fixed(plan, '30', {
    display_name: 'Setup',
    invoice_cadence: 'ARREAR',
    billing_period: 'ONETIME',
  });
  await catalog.usage(plan, meter, { display_name: 'Calls', amount: '0.5' });
  await completeBackfills(world.api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, plan, {
    start_date: day('2026-03-10'),
    ...more,
  });
  return { meter, customer, subscription };
}
const rows = (invoice: any) =>
  invoice.line_items.map(
    (line: any) =>
      `${line.display_name} ${line.quantity} ${line.amount} ${line.period_start.slice(5, 16)}..${line.period_end.slice(5, 16)}`,
  );
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items
    .sort((left: any, right: any) => left.billing_sequence - right.billing_sequence)
    .map((invoice: any) => [invoice.billing_reason, invoice.invoice_status, ...rows(invoice)]);
}
const preview = async (subscription: { id: string }, more: object = {}) =>
  (await world.api.post('/v1/invoices/preview', { subscription_id: subscription.id, ...more }))
    .body;

describe('a trial with a start in the future (billing 10.4)', () => {
  test('is trialing from creation; its preview is issued when it begins', async () => {
    const { subscription } = await trialing({
      start_date: day('2026-03-20'),
      trial_period_days: 5,
    });
    expect(subscription).toMatchObject({
      subscription_status: 'trialing',
      trial_end: day('2026-03-25'),
      latest_invoice: null,
    });
    world.api.clock.set('2026-03-19T23:59:00.000Z');
    expect(await world.close()).toEqual({ advanced: 0, invoices: 0, failed: 0 });
    world.api.clock.set(day('2026-03-20'));
    await world.close();
    expect(await invoicesOf(subscription)).toEqual([
      ['SUBSCRIPTION_TRIAL_START', 'FINALIZED', 'Base 1 0 03-20T00:00..03-25T00:00'],
    ]);
    world.api.clock.set(day('2026-03-25'));
    await world.close();
    expect((await invoicesOf(subscription))[1]).toEqual([
      'SUBSCRIPTION_TRIAL_END',
      'FINALIZED',
      'Base 1 100 03-25T00:00..04-25T00:00',
    ]);
    expect((await world.api.get(`/v1/subscriptions/${subscription.id}`)).body).toMatchObject({
      subscription_status: 'active',
      billing_anchor: day('2026-03-25'),
    });
  });
});

describe('a trial of six hours with prorations', () => {
  test('is followed by a full period, and a one-time fee in arrears is billed with it', async () => {
    const { subscription, meter, customer } = await trialing({
      trial_end: '2026-03-10T06:00:00.000Z',
      proration_behavior: 'create_prorations',
    });
    await world.usage.use(meter, customer, '2026-03-10T05:00:00.000Z', '1000');
    await world.usage.use(meter, customer, '2026-03-10T06:00:00.000Z', '4');
    world.api.clock.set('2026-04-10T06:00:00.000Z');
    await world.close();
    expect(await invoicesOf(subscription)).toEqual([
      ['SUBSCRIPTION_TRIAL_START', 'FINALIZED', 'Base 1 0 03-10T00:00..03-10T06:00'],
      ['SUBSCRIPTION_TRIAL_END', 'FINALIZED', 'Base 1 100 03-10T06:00..04-10T06:00'],
      [
        'SUBSCRIPTION_CYCLE',
        'DRAFT',
        'Base 1 100 04-10T06:00..05-10T06:00',
        'Support 1 10 03-10T06:00..04-10T06:00',
        'Setup 1 30 03-10T06:00..03-10T06:00',
        'Calls 4 2 03-10T06:00..04-10T06:00',
      ],
    ]);
  });
});

describe('usage of a trial is never charged (billing 10.4)', () => {
  test('the preview of a running trial is the invoice of its end', async () => {
    const { subscription, meter, customer } = await trialing({ trial_period_days: 5 });
    await world.usage.use(meter, customer, day('2026-03-11'), '1000');
    const shown = await preview(subscription);
    expect([shown.billing_reason, ...rows(shown)]).toEqual([
      'SUBSCRIPTION_TRIAL_END',
      'Base 1 100 03-15T00:00..04-15T00:00',
    ]);
    world.api.clock.set(day('2026-03-15'));
    await world.close();
    const [, billed] = await invoicesOf(subscription);
    expect(billed).toEqual(['SUBSCRIPTION_TRIAL_END', 'FINALIZED', ...rows(shown)]);
  });

  test('no window shows it, before and after the trial has ended', async () => {
    const { subscription, meter, customer } = await trialing({ trial_period_days: 5 });
    await world.usage.use(meter, customer, day('2026-03-11'), '1000');
    await world.usage.use(meter, customer, day('2026-03-16'), '2');
    const within = { period_start: day('2026-03-10'), period_end: day('2026-03-14') };
    const across = { period_start: day('2026-03-10'), period_end: day('2026-04-15') };
    expect(rows(await preview(subscription, within))).toEqual([]);
    world.api.clock.set(day('2026-03-15'));
    await world.close();
    expect(rows(await preview(subscription, across))).toContain(
      'Calls 2 1 03-15T00:00..04-15T00:00',
    );
    const usage = await world.api.post('/v1/subscriptions/usage', {
      subscription_id: subscription.id,
      start_time: day('2026-03-10'),
      end_time: day('2026-04-15'),
    });
    expect(usage.body.amount).toBe(1);
  });

  test.each([
    ['WEEKLY', '7'],
    ['MONTHLY', '7'],
    ['NEVER', '7'],
  ])(
    'after the trial, a %s allowance shows the usage that it is billed for',
    async (reset, shown) => {
      const { api, usage } = world;
      const { subscription, meter, customer } = await trialing({
        ...{ trial_period_days: 5, billing_cycle: 'calendar' },
      });
      const lookup_key = `calls-${meter.id}`;
      const feature = await api.post('/v1/features', {
        ...{ name: 'Calls', lookup_key, type: 'metered', meter_id: meter.id },
      });
      await api.post('/v1/entitlements', {
        ...{ entity_type: 'SUBSCRIPTION', entity_id: subscription.id, feature_id: feature.body.id },
        ...{ feature_type: 'metered', usage_limit: 100, usage_reset_period: reset },
      });
      const used = async () => {
        const { body } = await api.get(`/v1/customers/usage?customer_id=${customer.id}`);
        return body.features.map(({ current_usage }: any) => current_usage);
      };
      await usage.useAll(meter, customer, [
        { at: '2026-03-14T05:00:00Z', value: '30' },
        { at: '2026-03-15T05:00:00Z', value: '7' },
      ]);
      api.clock.set('2026-03-14T12:00:00.000Z');
      expect(await used()).not.toEqual(['0']);
      api.clock.set(day('2026-03-15'));
      await world.close();
      api.clock.set('2026-03-15T12:00:00.000Z');
      expect(await used()).toEqual([shown]);
    },
  );

  test('an invoice of the trial is refused', async () => {
    const { subscription, customer } = await trialing({ trial_period_days: 5 });
    const refused = await world.api.post('/v1/invoices', {
      subscription_id: subscription.id,
      customer_id: customer.id,
      currency: 'usd',
      ...{ invoice_type: 'SUBSCRIPTION', amount_due: '0', subtotal: '0', total: '0' },
      period_start: day('2026-03-10'),
      period_end: day('2026-03-15'),
    });
    expect([refused.status, refused.body.details?.[0]?.path]).toEqual([400, 'period_start']);
  });

  test('a trial that is cancelled charges nothing', async () => {
    const { subscription, meter, customer } = await trialing({ trial_period_days: 5 });
    await world.usage.use(meter, customer, day('2026-03-11'), '1000');
    world.api.clock.set(day('2026-03-12'));
    await world.api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      cancellation_type: 'immediate',
      cancel_immediately_inovice_policy: 'generate_invoice',
    });
    expect(await invoicesOf(subscription)).toHaveLength(1);
    const window = { period_start: day('2026-03-10'), period_end: day('2026-03-14') };
    expect((await preview(subscription, window)).subtotal).toBe('0');
  });
});

describe('a one-time fee that is dated in the trial is due at its end (billing 10.4)', () => {
  const once = { billing_period: 'ONETIME', display_name: 'Once' };
  const own = { ...once, type: 'FIXED', billing_model: 'FLAT_FEE', price_unit_type: 'FIAT' };

  /** A trial from 10 to 24 March, of a plan with a fee of 100 and a setup of 7. */
  async function onTrial(more: object = {}) {
    const { catalog, api } = world;
    const [plan, other] = [await catalog.plan(), await catalog.plan('Other')];
    await catalog.fixed(plan, '100', { display_name: 'Base' });
    await catalog.fixed(plan, '7', { billing_period: 'ONETIME', display_name: 'Setup' });
    await catalog.fixed(other, '200', { display_name: 'Other' });
    await catalog.fixed(other, '9', { billing_period: 'ONETIME', display_name: 'Move' });
    const { body: addon } = await api.post('/v1/addons', {
      name: 'Pack', lookup_key: `pack${plan.id.toLowerCase()}`,
    }); // prettier-ignore
    await catalog.fixed(addon, '5', { ...once, entity_type: 'ADDON' });
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      start_date: day('2026-03-10'),
      trial_period_days: 14,
      ...(typeof more === 'function' ? more(addon) : more),
    });
    world.api.clock.set(day('2026-03-15'));
    const path = `/v1/subscriptions/${subscription.id}`;
    const send = async (to: string, body: object) => {
      const answer = await api.post(to, body);
      expect(answer.status).toBeLessThan(300);
      return answer.body;
    };
    return { subscription, plan, other, addon, path, send };
  }
  const trialEnd = async (subscription: { id: string }, at: string) => {
    world.api.clock.set(at);
    await world.close();
    const invoices = await invoicesOf(subscription);
    return invoices.find(([reason]: string[]) => reason === 'SUBSCRIPTION_TRIAL_END');
  };
  const END = day('2026-03-24');
  const issued = (...lines: string[]) => ['SUBSCRIPTION_TRIAL_END', 'FINALIZED', ...lines];
  const BASE = 'Base 1 100 03-24T00:00..04-24T00:00';
  const SETUP = 'Setup 1 7 03-24T00:00..03-24T00:00';
  const ONCE = 'Once 1 5 03-24T00:00..03-24T00:00';

  test('an addon that the subscription is created with', async () => {
    const { subscription } = await onTrial((addon: any) => ({ addons: [{ addon_id: addon.id }] }));
    expect(await trialEnd(subscription, END)).toEqual(issued(BASE, SETUP, ONCE));
  });

  test('an addon that is attached, and a line item that is added', async () => {
    const { subscription, addon, path, send } = await onTrial();
    await send('/v1/subscriptions/addon', { subscription_id: subscription.id, addon_id: addon.id });
    await send(`${path}/lineitems`, {
      price: { ...own, invoice_cadence: 'ADVANCE', amount: '5' },
      start_date: day('2026-03-16'),
    });
    const shown = rows(await preview(subscription));
    expect(await trialEnd(subscription, END)).toEqual(issued(BASE, SETUP, ONCE, ONCE));
    expect(shown).toEqual([BASE, SETUP, ONCE, ONCE]);
  });

  test('an addon that ends in the trial is not due', async () => {
    const { subscription, addon, send } = await onTrial();
    const attached = await send('/v1/subscriptions/addon', {
      subscription_id: subscription.id,
      addon_id: addon.id,
    });
    const ended = await world.api.delete('/v1/subscriptions/addon', {
      addon_association_id: attached.id,
      effective_date: day('2026-03-20'),
    });
    expect(ended.status).toBe(200);
    expect(await trialEnd(subscription, END)).toEqual(issued(BASE, SETUP));
  });

  test('a plan that is changed has the fees of the new one', async () => {
    const { subscription, other, path, send } = await onTrial();
    await send(`${path}/change/v2/execute`, { target_plan_id: other.id });
    expect(await trialEnd(subscription, END)).toEqual(
      issued('Other 1 200 03-24T00:00..04-24T00:00', 'Move 1 9 03-24T00:00..03-24T00:00'),
    );
  });

  test.each(['2026-03-16', '2026-04-30'])('a trial that ends on %s instead', async (end) => {
    const { subscription, path, send } = await onTrial();
    await send(`${path}/modify/execute`, {
      type: 'trial_end',
      trial_end_params: { action: 'scheduled_date', new_trial_end: day(end) },
    });
    const billed = await trialEnd(subscription, day(end));
    const on = `${end.slice(5)}T00:00`;
    expect(billed.at(-1)).toBe(`Setup 1 7 ${on}..${on}`);
  });

  test('phases: the fee of the plan is in the first phase with paid time', async () => {
    const { subscription } = await onTrial({
      phases: [
        { start_date: day('2026-03-10'), end_date: day('2026-03-20') },
        { start_date: day('2026-03-20') },
      ],
    });
    expect(await trialEnd(subscription, END)).toEqual(issued(BASE, SETUP));
  });
});
