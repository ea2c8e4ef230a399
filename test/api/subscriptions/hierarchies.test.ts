import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { eventsOf } from '../../support/payments.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Subscriptions under a parent: inherited, delegated and grouped (billing 16). */
const world = billingWorldFrom('2026-01-01T00:00:00.000Z');

const START = { start_date: day('2026-01-01') };
const SLAB = {
  billing_model: 'TIERED',
  tier_mode: 'SLAB',
  tiers: [
    { up_to: 10, unit_amount: '1' },
    { up_to: null, unit_amount: '0.5' },
  ],
};
const rows = (invoice: any) =>
  invoice.line_items.map(
    ({ display_name, quantity, amount, period_start, period_end }: any) =>
      `${display_name} ${quantity} ${amount} ${period_start.slice(5, 10)}..${period_end.slice(5, 10)}`,
  );
async function invoicesOf({ id }: { id: string }) {
  const { body } = await world.api.post('/v1/invoices/search', { subscription_id: id });
  return body.items.sort((left: any, right: any) => left.billing_sequence - right.billing_sequence);
}
const read = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${id}`)).body;
const modify = ({ id }: { id: string }, type: string, params: object, how = 'execute') =>
  world.api.post(`/v1/subscriptions/${id}/modify/${how}`, { type, [`${type}_params`]: params });
async function at(date: string) {
  world.api.clock.set(day(date));
  await world.close();
  await afterGrace(date);
}
async function afterGrace(date: string) {
  world.api.clock.set(`${date}T06:00:00.000Z`);
  await world.finalize();
}

/** 31.00 in advance, 10 in arrears, calls in tiers. */
async function plan(aggregation: object = { type: 'SUM', field: 'v' }, terms: object = SLAB) {
  const { catalog } = world;
  const sold = await catalog.plan();
  const meter = await catalog.meter(aggregation);
  await catalog.fixed(sold, '31', { display_name: 'Base' });
  await catalog.fixed(sold, '10', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  await catalog.usage(sold, meter, { display_name: 'Calls', ...terms });
  await completeBackfills(world.api.pool);
  return { id: sold.id, meter };
}

describe('inherited subscriptions', () => {
  test('usage of the children is pooled before tiers; they have no lines and no invoice', async () => {
    const sold = await plan();
    const { catalog, usage } = world;
    const [owner, first, second] = [
      await catalog.customer(),
      await catalog.customer(),
      await catalog.customer(),
    ];
    const parent = await catalog.subscribe(owner, sold, {
      ...START,
      inheritance: { external_customer_ids_to_inherit_subscription: [first.external_id] },
    });
    expect(parent).toMatchObject({ subscription_type: 'parent', parent_subscription_id: null });
    const { body: found } = await world.api.post('/v1/subscriptions/search', {
      parent_subscription_ids: [parent.id],
      with_line_items: true,
    });
    const [child] = found.items;
    expect(child).toMatchObject({
      subscription_type: 'inherited',
      customer_id: first.id,
      subscription_status: 'active',
      current_period_end: parent.current_period_end,
      line_items: [],
    });
    await usage.use(sold.meter, owner, day('2026-01-05'), '8');
    await usage.use(sold.meter, first, day('2026-01-06'), '4');
    await usage.use(sold.meter, second, day('2026-01-07'), '6');

    world.api.clock.set(day('2026-01-10'));
    const params = { external_customer_ids_to_inherit_subscription: [second.external_id] };
    const previewed = await modify(parent, 'inheritance', params, 'preview');
    expect(previewed.body.changed_resources.subscriptions).toMatchObject([
      { id: '(preview-created)', action: 'created', status: 'active' },
    ]);
    expect((await modify(parent, 'inheritance', params)).status).toBe(200);
    const asked = await world.api.post('/v1/subscriptions/usage', { subscription_id: parent.id });
    expect(asked.body.charges).toMatchObject([{ quantity: 18 }]);
    const analytics = await world.api.post('/v1/events/analytics', {
      external_customer_id: owner.external_id,
      start_time: day('2026-01-01'),
      end_time: day('2026-02-01'),
    });
    expect(analytics.body.items).toMatchObject([{ total_usage: '18', total_cost: '14' }]);

    // The first child ceases: its usage counts until then.
    world.api.clock.set(day('2026-01-20'));
    const removal = { action: 'remove', external_customer_ids_to_remove: [first.external_id] };
    expect((await modify(parent, 'inheritance', removal)).body).toMatchObject({
      changed_resources: {
        subscriptions: [{ id: child.id, action: 'updated', status: 'cancelled' }],
      },
    });
    await usage.use(sold.meter, first, day('2026-01-25'), '100');
    await usage.use(sold.meter, second, day('2026-01-26'), '2');
    await at('2026-02-01');
    const [, january] = await invoicesOf(parent);
    expect(rows(january)).toEqual([
      'Base 1 31 02-01..03-01',
      'Support 1 10 01-01..02-01',
      'Calls 20 15 01-01..02-01',
    ]);
    const { body: children } = await world.api.post('/v1/subscriptions/search', {
      parent_subscription_ids: [parent.id],
    });
    expect(children.items).toMatchObject([
      { customer_id: second.id, current_period_end: day('2026-03-01') },
    ]);
    expect(await invoicesOf(child)).toEqual([]);
    expect(await invoicesOf(children.items[0])).toEqual([]);
  });

  describe('an allowance of a year', () => {
    /** 10 calls a year are free; the rows of February, in which the owner makes 10 calls. */
    async function februaryOf(
      change: (one: { parent: any; child: any; sold: any }) => Promise<void>,
    ) {
      const sold = await plan(undefined, { amount: '1' });
      const { catalog, usage } = world;
      const feature = await world.api.post('/v1/features', {
        ...{ name: 'Calls', type: 'metered', meter_id: sold.meter.id },
        lookup_key: `calls-${sold.id}`,
      });
      await world.api.post('/v1/entitlements', {
        ...{ entity_type: 'PLAN', entity_id: sold.id, feature_id: feature.body.id },
        ...{ feature_type: 'metered', usage_limit: 10, usage_reset_period: 'ANNUAL' },
      });
      const [owner, child] = [await catalog.customer(), await catalog.customer()];
      const parent = await catalog.subscribe(owner, sold, START);
      await usage.use(sold.meter, child, day('2026-01-05'), '8');
      await usage.use(sold.meter, owner, day('2026-02-20'), '10');
      await change({ parent, child, sold });
      await at('2026-03-01');
      const calls = rows((await invoicesOf(parent)).at(-1));
      return calls.filter((row: string) => row.startsWith('Calls'));
    }
    const join = (parent: { id: string }, { external_id }: { external_id: string }) =>
      modify(parent, 'inheritance', {
        external_customer_ids_to_inherit_subscription: [external_id],
      });
    const leave = (parent: { id: string }, { external_id }: { external_id: string }) =>
      modify(parent, 'inheritance', {
        ...{ action: 'remove', external_customer_ids_to_remove: [external_id] },
      });

    test('is not used by what a child used before the period in which it joined', async () => {
      const calls = await februaryOf(async ({ parent, child }) => {
        await at('2026-02-01');
        world.api.clock.set(day('2026-02-10'));
        expect(await join(parent, child)).toMatchObject({ status: 200 });
      });
      expect(calls).toEqual(['Calls 0 0 02-01..03-01']);
    });

    test('is used by what a child used that has left since', async () => {
      const calls = await februaryOf(async ({ parent, child }) => {
        world.api.clock.set(day('2026-01-10'));
        expect(await join(parent, child)).toMatchObject({ status: 200 });
        world.api.clock.set(day('2026-01-20'));
        expect(await leave(parent, child)).toMatchObject({ status: 200 });
        await at('2026-02-01');
      });
      expect(calls).toEqual(['Calls 8 8 02-01..03-01']);
    });

    test('is used by a child that left and came back in its times', async () => {
      const calls = await februaryOf(async ({ parent, child, sold }) => {
        world.api.clock.set(day('2026-01-03'));
        expect(await join(parent, child)).toMatchObject({ status: 200 });
        world.api.clock.set(day('2026-01-20'));
        expect(await leave(parent, child)).toMatchObject({ status: 200 });
        await world.usage.use(sold.meter, child, day('2026-01-25'), '50');
        await at('2026-02-01');
        for (const [date, step] of [
          ['2026-02-05', join],
          ['2026-02-10', leave],
          ['2026-02-15', join],
        ] as const) {
          // prettier-ignore
          world.api.clock.set(day(date));
          expect(await step(parent, child)).toMatchObject({ status: 200 });
        }
        await world.usage.use(sold.meter, child, day('2026-02-12'), '3');
      });
      // 8 of January, 10 and 3 of February, of which 10 are free.
      expect(calls).toEqual(['Calls 11 11 02-01..03-01']);
    });
  });

  test('the greatest value counts once over all children', async () => {
    const sold = await plan({ type: 'MAX', field: 'v' }, { amount: '2' });
    const { catalog, usage } = world;
    const [owner, child] = [await catalog.customer(), await catalog.customer()];
    const parent = await catalog.subscribe(owner, sold, {
      ...START,
      inheritance: { external_customer_ids_to_inherit_subscription: [child.external_id] },
    });
    await usage.use(sold.meter, owner, day('2026-01-05'), '8');
    await usage.use(sold.meter, child, day('2026-01-06'), '9');
    const { body } = await world.api.post('/v1/invoices/preview', { subscription_id: parent.id });
    expect(rows(body)).toContain('Calls 9 18 01-01..02-01');
  });

  test('they follow the pause, the resume and the end of the parent, and are changed with it', async () => {
    const sold = await plan();
    const { catalog } = world;
    const [owner, customer] = [await catalog.customer(), await catalog.customer()];
    const parent = await catalog.subscribe(owner, sold, {
      ...START,
      inheritance: { external_customer_ids_to_inherit_subscription: [customer.external_id] },
    });
    const search = await world.api.post('/v1/subscriptions/search', {
      parent_subscription_ids: [parent.id],
    });
    const [child] = search.body.items;
    for (const [path, body] of [
      ['cancel', { cancellation_type: 'immediate' }],
      ['pause', {}],
      ['modify/execute', { type: 'coupon', coupon_params: { action: 'add', coupon_code: 'x' } }],
    ] as const) {
      const { status, body: refused } = await world.api.post(
        `/v1/subscriptions/${child.id}/${path}`,
        body,
      );
      expect([path, status, refused.message]).toEqual([
        path,
        400,
        expect.stringContaining('inherited'),
      ]);
    }
    // Usage of the child's customer is free in the pause of the parent (billing 12.3, 12.8).
    await world.usage.use(sold.meter, customer, day('2026-01-05'), '3');
    await world.usage.use(sold.meter, customer, day('2026-01-15'), '100');
    await world.usage.use(sold.meter, customer, day('2026-01-25'), '4');
    world.api.clock.set(day('2026-01-11'));
    await world.api.post(`/v1/subscriptions/${parent.id}/pause`, {});
    expect(await read(child)).toMatchObject({ subscription_status: 'paused' });
    world.api.clock.set(day('2026-01-21'));
    await world.api.post(`/v1/subscriptions/${parent.id}/resume`, {});
    expect(await read(child)).toMatchObject({
      subscription_status: 'active',
      current_period_end: day('2026-02-11'),
      billing_anchor: day('2026-02-11'),
    });
    await world.api.post(`/v1/subscriptions/${parent.id}/cancel`, {
      cancellation_type: 'end_of_period',
    });
    expect(await read(child)).toMatchObject({ cancel_at: day('2026-02-11') });
    await at('2026-02-11');
    expect(await read(child)).toMatchObject({
      subscription_status: 'cancelled',
      end_date: day('2026-02-11'),
    });
    expect(rows((await invoicesOf(parent)).at(-1))).toEqual([
      'Support 1 10 01-01..02-11',
      'Calls 7 7 01-01..02-11',
    ]);
    const told = await eventsOf(world.api, child.id);
    expect(told).toEqual([
      'subscription.created',
      'subscription.paused',
      'subscription.resumed',
      'subscription.cancelled',
    ]);
  });

  test('400 and 404', async () => {
    const sold = await plan();
    const { catalog } = world;
    const [owner, busy] = [await catalog.customer(), await catalog.customer()];
    await catalog.subscribe(busy, sold, START);
    const create = (inheritance: object) =>
      world.api.post('/v1/subscriptions', {
        customer_id: owner.id, plan_id: sold.id, currency: 'usd', billing_period: 'MONTHLY',
        ...START, inheritance,
      }); // prettier-ignore
    const list = 'external_customer_ids_to_inherit_subscription';
    for (const [inheritance, status, path] of [
      [{ [list]: ['nobody'] }, 404, undefined],
      [{ [list]: [owner.external_id] }, 400, `inheritance.${list}[0]`],
      [{ [list]: [busy.external_id] }, 400, `inheritance.${list}[0]`],
      [{ [list]: ['a', 'a'] }, 400, `inheritance.${list}[1]`],
      [
        { [list]: ['a'], invoicing_customer_external_id: 'b' },
        400,
        'inheritance.invoicing_customer_external_id',
      ],
      [{ [list]: ['a'], parent_subscription_id: 'x' }, 400, 'inheritance.parent_subscription_id'],
      [{ invoicing_customer_external_id: 'nobody' }, 404, undefined],
      [
        { invoicing_customer_external_id: owner.external_id },
        400,
        'inheritance.invoicing_customer_external_id',
      ],
      [{ parent_subscription_id: 'subs_x' }, 404, undefined],
    ] as const) {
      // prettier-ignore
      const { status: got, body } = await create(inheritance);
      expect([inheritance, got, body.details?.[0]?.path]).toEqual([inheritance, status, path]);
    }
    const parent = await catalog.subscribe(owner, sold, START);
    const empty = await modify(parent, 'inheritance', { [list]: [''] });
    expect([empty.status, empty.body.details[0].path]).toEqual([400, `inheritance_params.${list}`]);
    const unknown = { action: 'remove', external_customer_ids_to_remove: ['nobody'] };
    expect((await modify(parent, 'inheritance', unknown)).status).toBe(400);
    // A customer who inherits a plan does not subscribe to it as well.
    const heir = await catalog.customer();
    await modify(parent, 'inheritance', { [list]: [heir.external_id] });
    const twice = await world.api.post('/v1/subscriptions', {
      customer_id: heir.id, plan_id: sold.id, currency: 'usd', billing_period: 'MONTHLY', ...START,
    }); // prettier-ignore
    expect([twice.status, twice.body.details[0].path]).toEqual([400, 'plan_id']);
  });
});

describe('delegated invoicing', () => {
  test('invoices, taxes and credits are those of the customer who pays', async () => {
    const sold = await plan();
    const { catalog, usage } = world;
    const [owner, payer] = [await catalog.customer(), await catalog.customer()];
    const { body: rate } = await world.api.post('/v1/taxes/rates', {
      name: 'VAT', code: `VAT${payer.external_id}`, tax_rate_type: 'percentage', percentage_value: '10',
    }); // prettier-ignore
    const tied = await world.api.post('/v1/taxes/associations', {
      tax_rate_code: rate.code, entity_type: 'customer', entity_id: payer.id, auto_apply: true,
      currency: 'usd', priority: 1,
    }); // prettier-ignore
    expect(tied.status).toBe(200);
    const subscription = await catalog.subscribe(owner, sold, {
      ...START,
      inheritance: { invoicing_customer_external_id: payer.external_id },
    });
    expect(subscription).toMatchObject({
      subscription_type: 'delegated_invoicing',
      customer_id: owner.id,
      invoicing_customer_id: payer.id,
      latest_invoice: {
        customer_id: payer.id,
        subscription_customer_id: owner.id,
        subtotal: '31',
        total_tax: '3.1',
        total: '34.1',
      },
    });
    await usage.use(sold.meter, owner, day('2026-01-05'), '8');
    await usage.use(sold.meter, payer, day('2026-01-05'), '1000');
    const { body: wallet } = await world.api.post('/v1/wallets', {
      customer_id: payer.id, currency: 'usd', name: 'W', wallet_type: 'PRE_PAID',
      initial_credits_to_load: '5',
    }); // prettier-ignore
    expect(wallet.id).toBeTruthy();
    await at('2026-02-01');
    const [, january] = await invoicesOf(subscription);
    expect(january).toMatchObject({
      invoice_status: 'FINALIZED', customer_id: payer.id, subtotal: '49', total_tax: '4.9',
      total_prepaid_credits_applied: '5', total: '48.9',
    }); // prettier-ignore
  });
});

describe('grouped invoicing', () => {
  /** A parent of one customer and a subscription of another under it, created on 10 January. */
  const grouped = async (more: object = {}) => {
    const { catalog } = world;
    const sold = await plan();
    const [owner, customer] = [await catalog.customer(), await catalog.customer()];
    const parent = await catalog.subscribe(owner, sold, START);
    world.api.clock.set(day('2026-01-11'));
    const child = await catalog.subscribe(customer, sold, {
      start_date: day('2026-01-11'),
      proration_behavior: 'create_prorations',
      parent_subscription_id: parent.id,
      ...more,
    });
    return { sold, owner, customer, parent, child };
  };

  test('the child bills its running period itself; from the next boundary on it is on the invoice of the parent', async () => {
    const { usage } = world;
    const { body: coupon } = await world.api.post('/v1/coupons', {
      name: 'Half', type: 'percentage', percentage_off: '50', cadence: 'forever',
    }); // prettier-ignore
    const { sold, owner, customer, parent, child } = await grouped({ coupons: [coupon.id] });
    expect(child).toMatchObject({
      subscription_type: 'grouped_invoicing',
      parent_subscription_id: parent.id,
      current_period_end: day('2026-02-01'),
      latest_invoice: { subtotal: '21', total: '10.5', customer_id: customer.id },
    });
    expect(await read(parent)).toMatchObject({ subscription_type: 'parent' });
    await usage.use(sold.meter, owner, day('2026-01-15'), '4');
    await usage.use(sold.meter, customer, day('2026-01-16'), '8');
    await at('2026-02-01');

    const [, january] = await invoicesOf(parent);
    expect(january).toMatchObject({ invoice_status: 'FINALIZED', customer_id: owner.id });
    expect(rows(january)).toEqual([
      'Base 1 31 02-01..03-01',
      'Support 1 10 01-01..02-01',
      'Calls 4 4 01-01..02-01',
      'Base 1 31 02-01..03-01',
      'Support 1 6.77 01-11..02-01',
      'Calls 8 8 01-11..02-01',
    ]);
    // Its coupon discounts its own rows only: half of 45.77.
    expect(january).toMatchObject({ subtotal: '90.77', total_discount: '22.89', total: '67.88' });
    const own = january.line_items.filter((line: any) => line.subscription_id === child.id);
    expect(own).toHaveLength(3);
    expect(own[0]).toMatchObject({
      customer_id: owner.id,
      metadata: { customer_id: customer.id, external_customer_id: customer.external_id },
    });
    expect((await invoicesOf(child)).map(rows)).toEqual([['Base 1 21 01-11..02-01']]);
    for (const row of [parent, child])
      expect(await read(row)).toMatchObject({
        current_period_start: day('2026-02-01'),
        current_period_end: day('2026-03-01'),
      });

    // The preview says what the next invoice will have.
    await usage.use(sold.meter, customer, day('2026-02-10'), '3');
    world.api.clock.set(day('2026-02-28'));
    const { body: preview } = await world.api.post('/v1/invoices/preview', {
      subscription_id: parent.id,
    });
    await at('2026-03-01');
    const [, , february] = await invoicesOf(parent);
    expect(rows(february)).toEqual(rows(preview));
    expect(february.total).toBe(preview.total);
    expect(rows(february)).toContain('Calls 3 3 02-01..03-01');
  });

  test('leaving in a period: the child bills the whole period itself, and the parent does not', async () => {
    const { usage } = world;
    const { sold, customer, parent, child } = await grouped();
    await at('2026-02-01');
    world.api.clock.set(day('2026-02-15'));
    const { status } = await world.api.put(`/v1/subscriptions/${child.id}`, {
      parent_subscription_id: null,
    });
    expect(status).toBe(200);
    expect(await read(child)).toMatchObject({
      subscription_type: 'standalone',
      parent_subscription_id: null,
    });
    expect(await read(parent)).toMatchObject({ subscription_type: 'standalone' });
    await usage.use(sold.meter, customer, day('2026-02-10'), '3');
    await at('2026-03-01');
    expect((await invoicesOf(child)).map(rows)).toEqual([
      ['Base 1 21 01-11..02-01'],
      ['Base 1 31 03-01..04-01', 'Support 1 10 02-01..03-01', 'Calls 3 3 02-01..03-01'],
    ]);
    expect(rows((await invoicesOf(parent))[2])).toHaveLength(3);
  });

  test('a child cancelled in a period has its own final invoice; one cancelled at its end is closed with the parent', async () => {
    const { usage } = world;
    const { sold, customer, parent, child } = await grouped();
    await at('2026-02-01');
    await usage.use(sold.meter, customer, day('2026-02-05'), '3');
    world.api.clock.set(day('2026-02-15'));
    const cancelled = await world.api.post(`/v1/subscriptions/${child.id}/cancel`, {
      cancellation_type: 'immediate', cancel_immediately_inovice_policy: 'generate_invoice',
    }); // prettier-ignore
    expect(cancelled.status).toBe(200);
    await at('2026-03-01');
    expect((await invoicesOf(child)).map(rows)[1]).toEqual([
      'Support 1 5 02-01..02-15',
      'Calls 3 3 02-01..02-15',
    ]);
    expect(rows((await invoicesOf(parent))[2])).toHaveLength(3);

    const next = await grouped();
    await world.api.post(`/v1/subscriptions/${next.child.id}/cancel`, {
      cancellation_type: 'end_of_period',
    });
    await at('2026-02-01');
    expect(rows((await invoicesOf(next.parent))[1])).toEqual([
      'Base 1 31 02-01..03-01',
      'Support 1 10 01-01..02-01',
      'Calls 0 0 01-01..02-01',
      'Support 1 6.77 01-11..02-01',
      'Calls 0 0 01-11..02-01',
    ]);
    expect(await read(next.child)).toMatchObject({ subscription_status: 'cancelled' });
  });

  test('the children of a cancelled parent are independent and bill their running period', async () => {
    const { parent, child } = await grouped();
    await at('2026-02-01');
    world.api.clock.set(day('2026-02-15'));
    await world.api.post(`/v1/subscriptions/${parent.id}/cancel`, {
      cancellation_type: 'immediate',
    });
    expect(await read(child)).toMatchObject({
      subscription_type: 'standalone',
      subscription_status: 'active',
    });
    await at('2026-03-01');
    expect((await invoicesOf(child)).map(rows)[1]).toEqual([
      'Base 1 31 03-01..04-01',
      'Support 1 10 02-01..03-01',
      'Calls 0 0 02-01..03-01',
    ]);
  });

  test('a running subscription joins by a change, on the parent or on itself; a draft computed again has the same rows', async () => {
    const { catalog } = world;
    const sold = await plan();
    const [owner, one, two] = [
      await catalog.customer(),
      await catalog.customer(),
      await catalog.customer(),
    ];
    const parent = await catalog.subscribe(owner, sold, START);
    const [first, second] = [
      await catalog.subscribe(one, sold, START),
      await catalog.subscribe(two, sold, START),
    ];
    const joined = await modify(parent, 'grouped_invoicing', {
      action: 'add', child_subscription_ids: [first.id],
    }); // prettier-ignore
    expect(joined.body.changed_resources.subscriptions).toMatchObject([
      { id: first.id, action: 'updated', status: 'active' },
    ]);
    const { status } = await modify(second, 'grouped_invoicing', {
      action: 'add', parent_subscription_id: parent.id,
    }); // prettier-ignore
    expect(status).toBe(200);
    world.api.clock.set(day('2026-02-01'));
    await world.close();
    const [, draft] = await invoicesOf(parent);
    expect(rows(draft)).toHaveLength(9);
    // One of them leaves afterwards: the closed period keeps its rows.
    await modify(parent, 'grouped_invoicing', {
      action: 'remove', child_subscription_ids: [first.id],
    }); // prettier-ignore
    const again = await world.api.post(`/v1/invoices/${draft.id}/compute`, {});
    expect(again.status).toBe(200);
    const [, computed] = await invoicesOf(parent);
    expect(computed.line_items.map(({ id, amount }: any) => [id, amount])).toEqual(
      draft.line_items.map(({ id, amount }: any) => [id, amount]),
    );
    // Its recalculation has them too.
    await afterGrace('2026-02-01');
    const { body: replaced } = await world.api.post(`/v1/invoices/${draft.id}/recalculate`, {});
    expect(rows(replaced)).toEqual(rows(draft));
  });

  test('400: another rhythm, another currency, an earlier start, a trial, a pause', async () => {
    const { catalog } = world;
    const { sold, customer, parent, child } = await grouped();
    const create = (more: object) =>
      world.api.post('/v1/subscriptions', {
        customer_id: customer.id, plan_id: sold.id, currency: 'usd', billing_period: 'MONTHLY',
        start_date: day('2026-01-11'), parent_subscription_id: parent.id, ...more,
      }); // prettier-ignore
    for (const more of [
      { billing_anchor: day('2026-01-15') },
      { start_date: day('2025-12-01') },
      { trial_period_days: 5 },
      { subscription_status: 'draft' },
      { parent_subscription_id: child.id },
      { inheritance: { parent_subscription_id: child.id } },
    ])
      expect([more, (await create(more)).status]).toEqual([more, 400]);
    for (const { id } of [parent, child])
      expect((await world.api.post(`/v1/subscriptions/${id}/pause`, {})).status).toBe(400);
    const alone = await catalog.subscribe(customer, sold, { start_date: day('2026-01-12') });
    const { status, body } = await modify(parent, 'grouped_invoicing', {
      action: 'add', child_subscription_ids: [alone.id],
    }); // prettier-ignore
    expect([status, body.details[0].path]).toEqual([
      400,
      'grouped_invoicing_params.child_subscription_ids[0]',
    ]);
  });
});
