import { billingWorldFrom } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { completeBackfills } from '../support/usage-oracle.ts';

const world = billingWorldFrom('2026-01-01T00:00:00.000Z');

const monthly = { billing_period: 'MONTHLY', billing_period_count: 1, currency: 'usd' };
let count = 0;

/** A plan of usage at 1 with 10 units free, and an addon of 31 in advance with 5 more. */
async function sold() {
  const { catalog } = world;
  const plan = await catalog.plan('Pro');
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { display_name: 'calls', amount: '1' });
  const feature = await world.api.postOk('/v1/features', {
    name: 'Calls', type: 'metered', meter_id: meter.id, lookup_key: `calls${(count += 1)}`,
  }); // prettier-ignore
  const grant = (entity_type: string, entity_id: string, more: object) =>
    world.api.postOk('/v1/entitlements', {
      entity_type, entity_id, feature_id: feature.id, feature_type: 'metered',
      is_enabled: true, usage_reset_period: 'MONTHLY', ...more,
    }); // prettier-ignore
  const entitlement = await grant('PLAN', plan.id, { usage_limit: 10 });
  const addon = await world.api.postOk('/v1/addons', { name: 'Pack', lookup_key: `pack${count}` });
  const granted = await grant('ADDON', addon.id, { usage_limit: 5 });
  const price = (more: object) =>
    world.api.postOk('/v1/prices', {
      ...monthly, entity_type: 'ADDON', entity_id: addon.id, price_unit_type: 'FIAT',
      billing_model: 'FLAT_FEE', type: 'FIXED', invoice_cadence: 'ADVANCE', ...more,
    }); // prettier-ignore
  const fee = await price({ amount: '31', display_name: 'pack' });
  await completeBackfills(world.api.pool);
  const customer = await catalog.customer();
  return { plan, meter, feature, entitlement, addon, granted, fee, price, grant, customer };
}
type Sold = Awaited<ReturnType<typeof sold>>;

const subscribe = ({ customer, plan }: Sold, more: object = {}) =>
  world.catalog.subscribe(customer, plan, { start_date: day('2026-01-01'), ...more });
const use = (catalog: Sold, at: string, v: string) =>
  world.usage.use(catalog.meter, catalog.customer, `2026-${at}T10:00:00.000Z`, v);
async function closeUntil(at: string): Promise<void> {
  world.api.clock.set(at);
  for (;;) {
    const report = await world.close();
    if (report?.['advanced'] === 0) return;
  }
}
async function invoicesOf(subscription: { id: string }): Promise<any[]> {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
  });
  return body.items.toReversed();
}
const rows = (invoices: any[]): string[][] =>
  invoices.map(({ line_items }) =>
    line_items.map((line: any) => `${line.display_name} ${line.quantity} ${line.amount}`),
  );
const associations = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${id}/addons/associations`)).body.items;

describe('addons of a new subscription', () => {
  test('lines of their own, quantities of fees and limits, and every invoice', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      addons: [{ addon_id: catalog.addon.id, quantity: '2', metadata: { k: 'v' } }],
    });
    const line = subscription.line_items.find((item: any) => item.display_name === 'pack');
    const [association] = await associations(subscription);
    expect(association).toMatchObject({
      entity_id: subscription.id, entity_type: 'subscription', addon_id: catalog.addon.id,
      quantity: '2', addon_status: 'active', start_date: day('2026-01-01'), end_date: null,
      metadata: { k: 'v' }, addon: { name: 'Pack', prices: [{ amount: '31' }] },
    }); // prettier-ignore
    expect(line).toMatchObject({
      entity_type: 'addon', entity_id: catalog.addon.id, quantity: '2',
      addon_association_id: association.id, plan_display_name: null,
      metadata: {
        addon_id: catalog.addon.id, addon_quantity: '2', addon_status: 'active',
        subscription_id: subscription.id,
      },
    }); // prettier-ignore
    await use(catalog, '01-10', '25');
    await closeUntil(day('2026-02-01'));
    // 10 of the plan and 2 × 5 of the addon are free.
    expect(rows(await invoicesOf(subscription))).toEqual([
      ['pack 2 62'],
      ['pack 2 62', 'calls 5 5'],
    ]);
    const { body } = await world.api.get(`/v1/subscriptions/${subscription.id}/entitlements`);
    expect(body.features[0].entitlement.usage_limit).toBe(20);
    expect(body.features[0].sources.map((source: any) => source.entity_type)).toEqual([
      'plan',
      'addon',
    ]);
  });

  test('an unknown addon is 404; a reset period that conflicts is 400', async () => {
    const catalog = await sold();
    const body = {
      ...monthly, customer_id: catalog.customer.id, plan_id: catalog.plan.id,
      addons: [{ addon_id: 'addon_0' }],
    }; // prettier-ignore
    expect((await world.api.post('/v1/subscriptions', body)).status).toBe(404);
    await world.api.put(`/v1/entitlements/${catalog.granted.id}`, { usage_reset_period: 'DAILY' });
    const conflict = await world.api.post('/v1/subscriptions', {
      ...body,
      addons: [{ addon_id: catalog.addon.id }],
    });
    expect([conflict.status, conflict.body.message]).toEqual([
      400,
      expect.stringContaining('reset periods'),
    ]);
  });

  test('cadence onetime ends with the period', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      addons: [{ addon_id: catalog.addon.id, cadence: 'onetime' }],
    });
    await closeUntil(day('2026-03-01'));
    expect(rows(await invoicesOf(subscription))).toEqual([
      ['pack 1 31'],
      ['calls 0 0'],
      ['calls 0 0'],
    ]);
  });
});

describe('addons of a running subscription', () => {
  const attach = (subscription: { id: string }, { addon }: Sold, more: object = {}) =>
    world.api.post('/v1/subscriptions/addon', {
      subscription_id: subscription.id,
      addon_id: addon.id,
      ...more,
    });
  const detach = (id: string, more: object = {}) =>
    world.api.call(
      'DELETE',
      '/v1/subscriptions/addon',
      JSON.stringify({ addon_association_id: id, ...more }),
      { 'content-type': 'application/json' },
    );

  test('with prorations the rest of the period is charged now, and credited on removal', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, { proration_behavior: 'create_prorations' });
    world.api.clock.set(day('2026-01-11'));
    const { status, body } = await attach(subscription, catalog);
    expect([status, body.start_date, body.addon]).toEqual([200, day('2026-01-11'), null]);
    expect(rows(await invoicesOf(subscription))).toEqual([['pack 1 21']]);
    world.api.clock.set(day('2026-01-21'));
    const ended = await detach(body.id, { effective_date: day('2026-01-21'), reason: 'done' });
    expect([ended.status, ended.body.message]).toEqual([200, expect.any(String)]);
    const { body: wallets } = await world.api.get(`/v1/customers/${catalog.customer.id}/wallets`);
    expect(wallets[0].balance).toBe('11');
    expect(await associations(subscription)).toEqual([]);
    expect((await detach(body.id)).status).toBe(400);
    await closeUntil(day('2026-02-01'));
    expect(rows(await invoicesOf(subscription)).at(-1)).toEqual(['calls 0 0']);
  });

  test('without prorations it begins with the next period and ends with the running one', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog);
    world.api.clock.set(day('2026-01-11'));
    const { body } = await attach(subscription, catalog);
    await closeUntil(day('2026-02-01'));
    expect((await detach(body.id)).status).toBe(200);
    expect((await associations(subscription)).map((item: any) => item.end_date)).toEqual([
      day('2026-03-01'),
    ]);
    await closeUntil(day('2026-03-01'));
    expect(rows(await invoicesOf(subscription))).toEqual([
      ['pack 1 31', 'calls 0 0'],
      ['calls 0 0'],
    ]);
  });

  test('its prices have other terms on this subscription, when it is created and when an addon is attached', async () => {
    const catalog = await sold();
    const { addon, fee } = catalog;
    const override_line_items = [{ price_id: fee.id, amount: '62', quantity: '2' }];
    const subscription = await subscribe(catalog, {
      addons: [{ addon_id: addon.id, override_line_items }],
    });
    expect(rows(await invoicesOf(subscription))).toEqual([['pack 2 124']]);
    world.api.clock.set(day('2026-01-11'));
    const more = { override_line_items, proration_behavior: 'create_prorations' };
    const { body: preview } = await world.api.post(
      `/v1/subscriptions/${subscription.id}/modify/preview`,
      { type: 'addon', addon_params: { action: 'add', add: { addon_id: addon.id, ...more } } },
    );
    expect(preview.changed_resources.invoices[0].amount).toBe('84');
    expect((await attach(subscription, catalog, more)).status).toBe(200);
    expect(rows(await invoicesOf(subscription))).toEqual([['pack 2 124'], ['pack 2 84']]);
    await closeUntil(day('2026-02-01'));
    expect(rows(await invoicesOf(subscription)).at(-1)).toEqual([
      'pack 2 124',
      'pack 2 124',
      'calls 0 0',
    ]);
    const path = 'override_line_items[0].price_id';
    for (const wrong of [
      [{ price_id: 'price_0' }],
      [...override_line_items, ...override_line_items],
    ]) {
      const { status, body } = await attach(subscription, catalog, { override_line_items: wrong });
      expect([status, body.details[0].path]).toEqual([
        400,
        wrong.length === 1 ? path : path.replace('0', '1'),
      ]);
    }
  });

  test('refusals', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog);
    const of = async (answer: Promise<{ status: number; body: any }>) => {
      const { status, body } = await answer;
      return [status, body.details?.[0]?.path ?? null];
    };
    expect(await of(attach({ id: 'subs_0' }, catalog))).toEqual([404, null]);
    expect(await of(attach(subscription, { ...catalog, addon: { id: 'addon_0' } }))).toEqual([
      404,
      null,
    ]);
    expect(await of(attach(subscription, catalog, { start_date: day('2025-12-01') }))).toEqual([
      400,
      'start_date',
    ]);
    expect(await of(detach('addon_assoc_0'))).toEqual([404, null]);
    const { body } = await attach(subscription, catalog);
    expect(await of(detach(body.id, { effective_date: day('2026-03-01') }))).toEqual([
      400,
      'effective_date',
    ]);
  });
});

describe('entitlements as they were in the period', () => {
  test('an override replaces the limit of the plan on this subscription', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, {
      override_entitlements: [{ entitlement_id: catalog.entitlement.id, usage_limit: 20 }],
    });
    await use(catalog, '01-10', '25');
    await closeUntil(day('2026-02-01'));
    expect(rows(await invoicesOf(subscription))).toEqual([['calls 5 5']]);
    const { body } = await world.api.get(`/v1/subscriptions/${subscription.id}/entitlements`);
    expect(body.features[0].sources).toMatchObject([
      { entity_type: 'subscription', usage_limit: 20 },
    ]);
  });

  test.each([
    [(catalog: Sold) => catalog.granted.id, 400],
    [() => 'ent_0', 404],
  ])('only entitlements of the plan are overridden (%#)', async (idOf, expected) => {
    const catalog = await sold();
    const { status } = await world.api.post('/v1/subscriptions', {
      ...monthly, customer_id: catalog.customer.id, plan_id: catalog.plan.id,
      override_entitlements: [{ entitlement_id: idOf(catalog), usage_limit: 1 }],
    }); // prettier-ignore
    expect(status).toBe(expected);
  });

  test('a limit that is cut, or removed, in April does not change March, whenever March is computed', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog, { start_date: day('2026-01-01') });
    await use(catalog, '01-10', '12');
    await use(catalog, '02-10', '12');
    await use(catalog, '03-10', '12');
    world.api.clock.set(day('2026-02-01'));
    await world.api.put(`/v1/entitlements/${catalog.entitlement.id}`, { usage_limit: 4 });
    world.api.clock.set(day('2026-03-01'));
    const removed = await world.api.call('DELETE', `/v1/entitlements/${catalog.entitlement.id}`);
    expect(removed.status).toBeLessThan(300);
    await closeUntil(day('2026-04-01'));
    const before = await invoicesOf(subscription);
    expect(rows(before)).toEqual([['calls 2 2'], ['calls 8 8'], ['calls 12 12']]);
    for (const { id } of before)
      expect((await world.api.post(`/v1/invoices/${id}/compute`, {})).status).toBe(200);
    expect(rows(await invoicesOf(subscription))).toEqual(rows(before));
  });

  test('a change of the running period counts for all of it', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog);
    await use(catalog, '01-10', '12');
    world.api.clock.set(day('2026-01-20'));
    await world.api.put(`/v1/entitlements/${catalog.entitlement.id}`, { usage_limit: 4 });
    await closeUntil(day('2026-02-01'));
    expect(rows(await invoicesOf(subscription))).toEqual([['calls 8 8']]);
  });

  test('an entitlement counts from its start_date on', async () => {
    const catalog = await sold();
    await world.api.call('DELETE', `/v1/entitlements/${catalog.entitlement.id}`);
    await catalog.grant('PLAN', catalog.plan.id, { usage_limit: 7, start_date: day('2026-02-01') });
    const subscription = await subscribe(catalog);
    await use(catalog, '01-10', '12');
    await use(catalog, '02-10', '12');
    await closeUntil(day('2026-03-01'));
    expect(rows(await invoicesOf(subscription))).toEqual([['calls 12 12'], ['calls 5 5']]);
  });

  test('an entitlement that is written down after the period counts from its start_date on; without one it does not', async () => {
    const catalog = await sold();
    await world.api.call('DELETE', `/v1/entitlements/${catalog.entitlement.id}`);
    const subscription = await subscribe(catalog);
    await use(catalog, '01-10', '12');
    world.api.clock.set(day('2026-02-01'));
    const unsaid = await catalog.grant('PLAN', catalog.plan.id, { usage_limit: 3 });
    await closeUntil(day('2026-02-01'));
    const [invoice] = await invoicesOf(subscription);
    expect(rows([invoice!])).toEqual([['calls 12 12']]);

    await world.api.call('DELETE', `/v1/entitlements/${unsaid.id}`);
    await catalog.grant('PLAN', catalog.plan.id, { usage_limit: 7, start_date: day('2026-01-01') });
    expect((await world.api.post(`/v1/invoices/${invoice!.id}/compute`, {})).status).toBe(200);
    expect(rows(await invoicesOf(subscription))).toEqual([['calls 5 5']]);
  });

  test('without a reset period the limit is granted in each charge period', async () => {
    const catalog = await sold();
    await world.api.call('DELETE', `/v1/entitlements/${catalog.entitlement.id}`);
    await catalog.grant('PLAN', catalog.plan.id, { usage_limit: 7, usage_reset_period: null });
    const subscription = await subscribe(catalog);
    await use(catalog, '01-10', '12');
    await use(catalog, '02-10', '12');
    await closeUntil(day('2026-03-01'));
    expect(rows(await invoicesOf(subscription))).toEqual([['calls 5 5'], ['calls 5 5']]);
  });
});

describe('addons by modification', () => {
  test('preview and execution charge the rest of the period; an end credits it', async () => {
    const catalog = await sold();
    const subscription = await subscribe(catalog);
    world.api.clock.set(day('2026-01-11'));
    const modify = (kind: 'preview' | 'execute', addon_params: object) =>
      world.api.post(`/v1/subscriptions/${subscription.id}/modify/${kind}`, {
        type: 'addon',
        addon_params,
      });
    const add = {
      action: 'add',
      add: { addon_id: catalog.addon.id, proration_behavior: 'create_prorations' },
    };
    const { status, body: preview } = await modify('preview', add);
    expect([status, await associations(subscription)]).toEqual([200, []]);
    expect(preview.changed_resources).toMatchObject({
      line_items: [{ id: '(preview-created)', change_action: 'created' }],
      // 21 of 31 days of 31.
      invoices: [{ id: '(preview-invoice)', amount: '21' }],
    });
    const { body: done } = await modify('execute', add);
    expect(done.changed_resources.invoices).toMatchObject([{ action: 'created', amount: '21' }]);
    const [association] = await associations(subscription);
    expect(association).toMatchObject({ addon_id: catalog.addon.id, addon_status: 'active' });

    world.api.clock.set(day('2026-01-21'));
    const remove = {
      action: 'remove',
      remove: {
        addon_association_id: association.id,
        effective_date: day('2026-01-21'),
        proration_behavior: 'create_prorations',
      },
    };
    for (const kind of ['preview', 'execute'] as const) {
      const { body } = await modify(kind, remove);
      expect(body.changed_resources.invoices).toMatchObject([
        { action: 'wallet_credit', amount: '11' },
      ]);
    }
    expect(await associations(subscription)).toEqual([]);
  });

  test.each([
    [{ action: 'add' }, 'addon_params.add'],
    [{ action: 'remove' }, 'addon_params.remove'],
    [{ action: 'replace' }, 'addon_params.action'],
  ])('%j is refused by name', async (addon_params, path) => {
    const subscription = await subscribe(await sold());
    const { status, body } = await world.api.post(
      `/v1/subscriptions/${subscription.id}/modify/execute`,
      { type: 'addon', addon_params },
    );
    expect([status, body.details[0].path]).toEqual([400, path]);
  });
});
