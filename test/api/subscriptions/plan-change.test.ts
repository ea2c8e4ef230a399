import { billingWorldFrom } from '../../support/billing-world.ts';
import { day } from '../../support/day.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

const world = billingWorldFrom('2026-04-11T00:00:00.000Z');

let counter = 0;

/** From 50.00 and 1.00 a call to 100.00 and 0.50 a call, from 1 April: 30 days. */
async function subscribed() {
  const { catalog, api } = world;
  const key = `base${(counter += 1)}-${Date.now()}`;
  const [from, to] = [await catalog.plan('Small'), await catalog.plan('Large')];
  const meter = await catalog.meter();
  await catalog.fixed(from, '50', { display_name: 'Base', lookup_key: `${key}a` });
  await catalog.usage(from, meter, { display_name: 'Calls', amount: '1' });
  await catalog.fixed(to, '100', { display_name: 'Base', lookup_key: `${key}b` });
  await catalog.usage(to, meter, { display_name: 'Calls', amount: '0.5' });
  await completeBackfills(api.pool);
  const customer = await catalog.customer();
  const subscription = await catalog.subscribe(customer, from, { start_date: day('2026-04-01') });
  return { from, to, meter, customer, subscription };
}
const change = (subscription: { id: string }, kind: 'preview' | 'execute', body: object) =>
  world.api.post(`/v1/subscriptions/${subscription.id}/change/v2/${kind}`, body);
const read = async (subscription: { id: string }) =>
  (await world.api.get(`/v1/subscriptions/${subscription.id}`)).body;
const invoicesOf = async (subscription: { id: string }) => {
  const { body } = await world.api.post('/v1/invoices/search', {
    subscription_id: subscription.id,
    expand: 'line_items',
  });
  return body.items as any[];
};
const rows = (invoice: any) =>
  invoice.line_items.map(
    (row: any) =>
      `${row.display_name} ${row.quantity} ${row.amount} ${row.period_start.slice(5, 10)}..${row.period_end.slice(5, 10)}`,
  );

describe('now', () => {
  test('with create_prorations: one invoice of credit and charge, as previewed (billing 5.4)', async () => {
    const { subscription, to } = await subscribed();
    const body = { target_plan_id: to.id, proration_behavior: 'create_prorations' };
    const { body: shown } = await change(subscription, 'preview', body);
    expect(shown.changed_resources.invoices).toMatchObject([{ amount: '33.34' }]);
    expect((await read(subscription)).plan_id).not.toBe(to.id);
    const { status, body: done } = await change(subscription, 'execute', body);
    expect(status).toBe(200);
    expect(done).toMatchObject({
      change_type: 'upgrade',
      is_scheduled: false,
      to_plan: { id: to.id },
    });
    const [invoice] = await invoicesOf(subscription);
    expect(rows(invoice)).toEqual(['Base 1 -33.33 04-11..05-01', 'Base 1 66.67 04-11..05-01']);
    expect(invoice).toMatchObject({ total: '33.34', billing_reason: 'SUBSCRIPTION_UPDATE' });
    expect(await read(subscription)).toMatchObject({
      id: subscription.id,
      plan_id: to.id,
      billing_anchor: subscription.billing_anchor,
      current_period_end: day('2026-05-01'),
    });
  });

  test('the coupon of a line discounts the line that follows it, as previewed and by the job', async () => {
    const { catalog, api } = world;
    const key = `kept${(counter += 1)}`;
    const [from, to] = [await catalog.plan('Small'), await catalog.plan('Large')];
    // A price that ends leaves its key to another one: both are the same service.
    const price = await catalog.fixed(from, '50', {
      ...{ display_name: 'Base', lookup_key: key, end_date: day('2027-04-01') },
    });
    await catalog.fixed(to, '100', { display_name: 'Base', lookup_key: key });
    const { body: coupon } = await api.post('/v1/coupons', {
      ...{ name: 'half', type: 'percentage', percentage_off: '50', cadence: 'forever' },
    });
    const subscription = await catalog.subscribe(await catalog.customer(), from, {
      start_date: day('2026-04-01'),
      line_item_coupons: { [price.id]: [coupon.id] },
    });
    const body = { target_plan_id: to.id, proration_behavior: 'create_prorations' };
    const { body: shown } = await change(subscription, 'preview', body);
    const { body: done } = await change(subscription, 'execute', body);
    const [invoice] = await invoicesOf(subscription);
    // 20 of 30 days: half of 33.33 goes back, half of 66.67 is charged.
    expect(invoice).toMatchObject({ subtotal: '50', total_discount: '33.34', total: '16.66' });
    expect(done.changed_resources.invoices).toMatchObject([{ amount: invoice.total }]);
    expect(shown.changed_resources.invoices).toMatchObject([{ amount: invoice.total }]);
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    world.api.clock.set(day('2026-05-01'));
    await world.close();
    const [cycle] = await invoicesOf(subscription);
    expect(cycle).toMatchObject({ subtotal: '100', total_discount: '50', total: '50' });
  });

  test('usage before is rated by the old plan, after by the new one', async () => {
    const { subscription, to, meter, customer } = await subscribed();
    await world.usage.use(meter, customer, day('2026-04-05'), '10');
    await change(subscription, 'execute', { target_plan_id: to.id, proration_behavior: 'none' });
    await world.usage.use(meter, customer, day('2026-04-15'), '10');
    world.api.clock.set(day('2026-05-01'));
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    await world.close();
    const [cycle] = await invoicesOf(subscription);
    expect(rows(cycle)).toEqual([
      'Base 1 100 05-01..06-01',
      'Calls 10 10 04-01..04-11',
      'Calls 10 5 04-11..05-01',
    ]);
  });

  test('what a credit note has credited is not credited again; a void note counts nothing (billing 5.3)', async () => {
    const { subscription, to } = await subscribed();
    const [opening] = await invoicesOf(subscription);
    const credited = { invoice_line_item_id: opening.line_items[0].id, amount: '40' };
    const { body: note } = await world.api.post('/v1/creditnotes', {
      ...{ invoice_id: opening.id, reason: 'SERVICE_ISSUE', line_items: [credited] },
      process_credit_note: true,
    });
    const body = { target_plan_id: to.id, proration_behavior: 'create_prorations' };
    const shown = async () => {
      const { body: answer } = await change(subscription, 'preview', body);
      return answer.changed_resources.invoices[0].amount;
    };
    // 66.67 less the 10.00 that are still charged of 50.00; without the note, less 33.33.
    expect(await shown()).toBe('56.67');
    await world.api.post(`/v1/creditnotes/${note.id}/void`);
    expect(await shown()).toBe('33.34');
  });

  test('what the replaced invoice of a change charged is credited by the next one (billing 5.3)', async () => {
    const { subscription, from, to } = await subscribed();
    const prorated = { proration_behavior: 'create_prorations' };
    await change(subscription, 'execute', { ...prorated, target_plan_id: to.id });
    const [issued] = await invoicesOf(subscription);
    const added = { action: 'add', display_name: 'Work', amount: '1', quantity: '1' };
    const { body: draft } = await world.api.post(`/v1/invoices/${issued.id}/modify/execute`, {
      line_items: [added],
    });
    await world.api.post(`/v1/invoices/${draft.id}/finalize`);
    const back = { ...prorated, target_plan_id: from.id };
    const { body: shown } = await change(subscription, 'preview', back);
    expect(shown.changed_resources.invoices).toMatchObject([
      { action: 'wallet_credit', amount: '33.34' },
    ]);
  });

  test('a downgrade returns the difference to the wallet', async () => {
    const { subscription, from, to, customer } = await subscribed();
    const none = { target_plan_id: to.id, proration_behavior: 'create_prorations' };
    await change(subscription, 'execute', none);
    const { body } = await change(subscription, 'execute', { ...none, target_plan_id: from.id });
    expect(body).toMatchObject({ change_type: 'downgrade' });
    const { body: wallets } = await world.api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets).toMatchObject([{ balance: '33.34' }]);
  });

  test.each([
    ['the charge as large as the credit', '50', '16.67'],
    ['the charge larger than the credit', '80', '6.67'],
  ])(
    'a coupon discounts what the change charges, whatever it credits: %s (billing 5.3)',
    async (_, after, amount) => {
      const { catalog, api } = world;
      const [from, to] = [await catalog.plan('Before'), await catalog.plan('After')];
      await catalog.fixed(from, '100');
      await catalog.fixed(to, after);
      const { body: coupon } = await api.post('/v1/coupons', {
        ...{ name: 'half', type: 'percentage', percentage_off: '50', cadence: 'forever' },
      });
      const subscription = await catalog.subscribe(await catalog.customer(), from, {
        start_date: day('2026-04-01'),
        coupons: [coupon.id],
      });
      const body = { target_plan_id: to.id, proration_behavior: 'create_prorations' };
      const expected = [{ action: 'wallet_credit', amount }];
      const { body: shown } = await change(subscription, 'preview', body);
      expect(shown.changed_resources.invoices).toMatchObject(expected);
      const { body: done } = await change(subscription, 'execute', body);
      expect(done.changed_resources.invoices).toMatchObject(expected);
    },
  );

  test('notifies of the plan, and not of an end', async () => {
    const { subscription, from, to } = await subscribed();
    await change(subscription, 'execute', { target_plan_id: to.id, proration_behavior: 'none' });
    const events = await world.api.pool<{ event_type: string; payload: object }[]>`
      select event_type, payload from outbox where entity_id = ${subscription.id} order by sequence`;
    expect(events.map(({ event_type }) => event_type)).toEqual([
      'subscription.created',
      'subscription.plan_changed',
      'subscription.updated',
    ]);
    expect(events[1]!.payload).toMatchObject({
      subscription: { id: subscription.id, plan_id: to.id },
      previous_plan_id: from.id,
      effective_at: new Date(world.api.clock.now()).toISOString(),
    });
  });
});

describe('addons', () => {
  /** A subscription with two addons of 30.00 a month in advance. */
  async function withAddons() {
    const of = await subscribed();
    const { api } = world;
    const attach = async (name: string) => {
      const { body: addon } = await api.post('/v1/addons', {
        name,
        lookup_key: `${name}-${of.subscription.id}`,
        type: 'multiple_instance',
      });
      await world.catalog.fixed(addon, '30', { entity_type: 'ADDON', display_name: name });
      const asked = {
        subscription_id: of.subscription.id,
        addon_id: addon.id,
        start_date: day('2026-04-11'),
        proration_behavior: 'create_prorations',
      };
      return (await api.post('/v1/subscriptions/addon', asked)).body;
    };
    return { ...of, first: await attach('First'), second: await attach('Second') };
  }
  const live = async (subscription: { id: string }) =>
    (
      await world.api.get(`/v1/subscriptions/${subscription.id}/addons/associations`)
    ).body.items.map(({ id }: { id: string }) => id);

  test('are carried, or dropped with a credit for the unused time; one by one if requested', async () => {
    const { subscription, to, first, second } = await withAddons();
    const body = {
      target_plan_id: to.id,
      proration_behavior: 'create_prorations',
      entity_policies: {
        addons: { default_behaviour: 'carry', overrides: { [first.id]: 'drop' } },
      },
    };
    world.api.clock.set(day('2026-04-16'));
    const { body: shown } = await change(subscription, 'preview', body);
    expect(await live(subscription)).toHaveLength(2);
    const { status, body: done } = await change(subscription, 'execute', body);
    expect(status).toBe(200);
    expect(done.entity_changes).toEqual(shown.entity_changes);
    expect(
      done.entity_changes.map((entity: any) => [entity.reference_id, entity.behaviour]),
    ).toEqual(
      expect.arrayContaining([
        [first.id, 'drop'],
        [second.id, 'carry'],
      ]),
    );
    const [invoice] = await invoicesOf(subscription);
    expect(rows(invoice)).toEqual([
      'Base 1 -25 04-16..05-01',
      'Base 1 50 04-16..05-01',
      'First 1 -15 04-16..05-01',
    ]);
    expect(shown.changed_resources.invoices).toMatchObject([{ amount: invoice.total }]);
    expect(await live(subscription)).toEqual([second.id]);
  });

  test('at the end of the period: dropped then, without money', async () => {
    const { subscription, to } = await withAddons();
    const { body: done } = await change(subscription, 'execute', {
      target_plan_id: to.id,
      proration_behavior: 'none',
      change_at: 'end_of_period',
      entity_policies: { addons: 'drop' },
    });
    expect(await live(subscription)).toHaveLength(2);
    await world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;
    world.api.clock.set(day('2026-05-01'));
    await world.close();
    const { body: row } = await world.api.get(`/v1/subscriptions/schedules/${done.schedule_id}`);
    expect(row.status).toBe('executed');
    expect(await live(subscription)).toEqual([]);
    const [cycle] = await invoicesOf(subscription);
    expect(rows(cycle)).toEqual(['Base 1 100 05-01..06-01', 'Calls 0 0 04-01..05-01']);
  });

  test('400: an override of what is no addon of the subscription', async () => {
    const { subscription, to } = await withAddons();
    const unknown = 'addon_assoc_00000000000000000000000000';
    const { status, body } = await change(subscription, 'execute', {
      target_plan_id: to.id,
      proration_behavior: 'none',
      entity_policies: { addons: { overrides: { [unknown]: 'drop' } } },
    });
    expect([status, body.details[0].path]).toEqual([
      400,
      `entity_policies.addons.overrides.${unknown}`,
    ]);
  });
});

describe('at the end of the period', () => {
  const later = (to: { id: string }, more: object = {}) => ({
    target_plan_id: to.id,
    proration_behavior: 'none',
    change_at: 'end_of_period',
    ...more,
  });
  const due = (subscription: { id: string }) =>
    world.api
      .pool`update subscriptions set due_at = current_period_end where id = ${subscription.id}`;

  test('the job changes the plan before it closes the period', async () => {
    const { subscription, to, meter, customer } = await subscribed();
    await world.usage.use(meter, customer, day('2026-04-05'), '10');
    const { body } = await change(subscription, 'execute', later(to));
    expect(body).toMatchObject({ is_scheduled: true, scheduled_at: day('2026-05-01') });
    world.api.clock.set(day('2026-06-02'));
    await due(subscription);
    await world.close();
    const invoices = await invoicesOf(subscription);
    expect(invoices.slice(0, 2).map(rows)).toEqual([
      ['Base 1 100 06-01..07-01', 'Calls 0 0 05-01..06-01'],
      ['Base 1 100 05-01..06-01', 'Calls 10 10 04-01..05-01'],
    ]);
    expect((await read(subscription)).plan_id).toBe(to.id);
    const { body: row } = await world.api.get(`/v1/subscriptions/schedules/${body.schedule_id}`);
    expect(row).toMatchObject({ status: 'executed', execution_result: { to_plan_id: to.id } });
  });

  test.each(['keep', 'anchor_at_effect'])(
    'the preview of the next invoice has the advances of the new plan, and changes nothing: %s (billing 17.7)',
    async (billing_period_behaviour) => {
      const { subscription, to, meter, customer } = await subscribed();
      await world.usage.use(meter, customer, day('2026-04-05'), '10');
      const { body } = await change(
        subscription,
        'execute',
        later(to, { billing_period_behaviour }),
      );
      world.api.clock.set(new Date(Date.parse(day('2026-05-01')) - 1).toISOString());
      const preview = () =>
        world.api.post('/v1/invoices/preview', { subscription_id: subscription.id });
      const { body: shown } = await preview();
      expect(rows(shown)).toEqual(['Base 1 100 05-01..06-01', 'Calls 10 10 04-01..05-01']);
      expect(rows((await preview()).body)).toEqual(rows(shown));
      expect((await read(subscription)).plan_id).not.toBe(to.id);
      const { body: row } = await world.api.get(`/v1/subscriptions/schedules/${body.schedule_id}`);
      expect(row.status).toBe('pending');
      world.api.clock.set(day('2026-05-01'));
      await world.close();
      const [invoice] = await invoicesOf(subscription);
      expect(rows(invoice)).toEqual(rows(shown));
    },
  );

  test('a second one is refused with the id of the first, or supersedes it', async () => {
    const { subscription, to } = await subscribed();
    const { body: first } = await change(subscription, 'execute', later(to));
    const second = await change(subscription, 'execute', later(to));
    expect(second.status).toBe(409);
    expect(second.body.message).toContain(first.schedule_id);
    const third = await change(
      subscription,
      'execute',
      later(to, { conflict_behaviour: 'supersede' }),
    );
    expect(third.status).toBe(200);
    const { body } = await world.api.get(`/v1/subscriptions/schedules/${first.schedule_id}`);
    expect(body.status).toBe('cancelled');
  });

  test('one that is cancelled leaves the plan; one that is not possible any more is failed', async () => {
    const { subscription, to, from } = await subscribed();
    const { body: first } = await change(subscription, 'execute', later(to));
    await world.api.post('/v1/subscriptions/schedules/cancel', { schedule_id: first.schedule_id });
    const { body: second } = await change(subscription, 'execute', later(to));
    await world.api.pool`update plans set status = 'archived' where id = ${to.id}`;
    world.api.clock.set(day('2026-05-02'));
    await due(subscription);
    await world.close();
    expect((await read(subscription)).plan_id).toBe(from.id);
    const { body } = await world.api.get(`/v1/subscriptions/schedules/${second.schedule_id}`);
    expect(body).toMatchObject({ status: 'failed' });
    expect(body.error_message).toMatch(/archived/);
  });

  test('a cancellation cancels it', async () => {
    const { subscription, to } = await subscribed();
    const { body } = await change(subscription, 'execute', later(to));
    await world.api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      cancellation_type: 'end_of_period',
    });
    const row = await world.api.get(`/v1/subscriptions/schedules/${body.schedule_id}`);
    expect(row.body.status).toBe('cancelled');
  });
});

describe('refused', () => {
  test('400: phases, for every kind of plan change (billing 11)', async () => {
    const { catalog } = world;
    const [from, to] = [await catalog.plan('Small'), await catalog.plan('Large')];
    await catalog.fixed(from, '50');
    await catalog.fixed(to, '100');
    const subscription = await catalog.subscribe(await catalog.customer(), from, {
      ...{ start_date: day('2026-04-01'), phases: [{ start_date: day('2026-04-01') }] },
    });
    for (const more of [{}, { change_at: 'end_of_period', proration_behavior: 'none' }])
      for (const kind of ['preview', 'execute'] as const) {
        const refused = await change(subscription, kind, { target_plan_id: to.id, ...more });
        expect([refused.status, refused.body.details[0].path]).toEqual([400, 'phases']);
      }
  });

  test('400: the subscription is over, and the job that ends it is late', async () => {
    const { from, to, customer } = await subscribed();
    const over = await world.catalog.subscribe(customer, from, {
      ...{ start_date: day('2026-04-01'), end_date: day('2026-04-21') },
    });
    world.api.clock.set(day('2026-04-25'));
    for (const kind of ['preview', 'execute'] as const)
      for (const more of [
        { proration_behavior: 'create_prorations' },
        { change_at: 'end_of_period', proration_behavior: 'none' },
      ]) {
        const refused = await change(over, kind, { target_plan_id: to.id, ...more });
        expect([kind, refused.status]).toEqual([kind, 400]);
      }
    const [line] = over.line_items;
    const modified = await world.api.post(`/v1/subscriptions/${over.id}/modify/preview`, {
      type: 'quantity_change',
      quantity_change_params: { line_items: [{ id: line.id, quantity: '3' }] },
    });
    expect(modified.status).toBe(400);
  });

  test('400 and 404', async () => {
    const { subscription, to, from } = await subscribed();
    const none = { proration_behavior: 'none' };
    const unknown = 'plan_00000000000000000000000000';
    for (const [body, status] of [
      [none, 400],
      [{ ...none, target_plan_id: from.id }, 400],
      [{ ...none, target_plan_id: unknown }, 404],
      [{ ...none, target_plan_id: to.id, change_at: 'soon' }, 400],
      [{ ...none, target_plan_id: to.id, billing_period_behaviour: 'restart' }, 400],
      [
        {
          target_plan_id: to.id,
          proration_behavior: 'create_prorations',
          change_at: 'end_of_period',
        },
        400,
      ],
    ] as const)
      for (const kind of ['preview', 'execute'] as const)
        expect((await change(subscription, kind, body)).status).toBe(status);
    await world.api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
      cancellation_type: 'end_of_period',
    });
    const body = { ...none, target_plan_id: to.id };
    expect((await change(subscription, 'execute', body)).status).toBe(400);
  });
});
