import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';
import { runPriceSyncs, syncPrices } from '../../support/price-sync.ts';

/** Prices of a plan reach running subscriptions when they are synced (billing 2.8). */
describe('price sync', () => {
  let api: TestApi;
  let catalog: TestCatalog;
  beforeAll(async () => {
    api = await startTestApi();
    catalog = catalogOf(api);
  });
  afterAll(() => api.close());

  const sync = (plan: { id: string }) => syncPrices(api, plan);
  const ask = (plan: { id: string }) => api.post(`/v1/plans/${plan.id}/sync/subscriptions`);
  interface Line {
    id: string;
    price_id: string;
    start_date: string;
    end_date: string | null;
  }
  const linesOf = async ({ id }: { id: string }): Promise<Line[]> =>
    (await api.get(`/v1/subscriptions/${id}`)).body.line_items;
  const unsynced = async (plan: { id: string }) =>
    (await api.get(`/v1/plans/${plan.id}?expand=price_sync_status`)).body.price_sync_status
      .unsynced_subscription_count;

  test('a new usage price gets a line item from the running period on; again changes nothing', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const subscription = await catalog.subscribe(await catalog.customer(), plan);
    const price = await catalog.usage(plan, await catalog.meter());
    expect([await unsynced(plan), (await linesOf(subscription)).length]).toEqual([1, 1]);

    expect(await sync(plan)).toMatchObject({
      task_type: 'IMPORT',
      entity_type: 'PRICES',
      task_status: 'COMPLETED',
      total_records: 1,
      processed_records: 1,
      successful_records: 1,
      failed_records: 0,
      error_summary: null,
      metadata: { plan_id: plan.id, changed_subscriptions: 1 },
    });
    const lines = await linesOf(subscription);
    expect(lines.find(({ price_id }) => price_id === price.id)).toMatchObject({
      start_date: subscription.current_period_start,
      end_date: null,
    });
    expect(await unsynced(plan)).toBe(0);
    expect((await sync(plan)).metadata.changed_subscriptions).toBe(0);
    expect(await linesOf(subscription)).toEqual(lines);
  });

  test('a fee that is paid in advance changes at the next boundary, never in mid-period', async () => {
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '10');
    const subscription = await catalog.subscribe(await catalog.customer(), plan);
    const { body: next } = await api.put(`/v1/prices/${price.id}`, { amount: '20' });
    expect(next.id).not.toBe(price.id);
    await sync(plan);
    const boundary = subscription.current_period_end;
    expect(await linesOf(subscription)).toMatchObject([
      { price_id: price.id, end_date: boundary },
      { price_id: next.id, start_date: boundary, end_date: null },
    ]);
    const preview = await api.post('/v1/invoices/preview', { subscription_id: subscription.id });
    expect(preview.body.total).toBe('20');
  });

  test('a subscription whose checkout session waits keeps its prices; the task names it', async () => {
    await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '10');
    const customer = await catalog.customer();
    const { status, body: session } = await api.post('/v1/checkout/sessions', {
      customer_external_id: customer.external_id,
      action: 'create_subscription',
      payment_provider: 'test',
      configuration: {
        create_subscription_params: {
          plan_id: plan.id,
          currency: 'usd',
          billing_period: 'MONTHLY',
          billing_period_count: 1,
        },
      },
    });
    expect([status, session.payment.amount]).toEqual([201, '10']);
    const [waiting] = (await api.post('/v1/subscriptions/search', { plan_id: plan.id, subscription_status: ['draft'] })).body.items; // prettier-ignore
    await api.put(`/v1/prices/${price.id}`, { amount: '20' });
    expect(await sync(plan)).toMatchObject({
      failed_records: 1,
      error_summary: expect.stringMatching(new RegExp(`^${waiting.id}: .*checkout session`)),
      metadata: { changed_subscriptions: 0 },
    });
    expect(await linesOf(waiting)).toMatchObject([{ price_id: price.id, end_date: null }]);

    await api.post(`/v1/test-gateway/payments/${session.checkout_payment_id}/outcome`, {
      outcome: 'success',
    });
    expect(await sync(plan)).toMatchObject({
      failed_records: 0,
      metadata: { changed_subscriptions: 1 },
    });
  });

  test('an ended price ends its line item; cancelled subscriptions are left alone', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const usage = await catalog.usage(plan, await catalog.meter());
    const [kept, gone] = [
      await catalog.subscribe(await catalog.customer(), plan),
      await catalog.subscribe(await catalog.customer(), plan),
    ];
    await api.post(`/v1/subscriptions/${gone.id}/cancel`, { cancellation_type: 'immediate' });
    const ends = async () => (await linesOf(gone)).map(({ end_date }) => end_date);
    const before = await ends();
    await api.delete(`/v1/prices/${usage.id}`, {});
    expect((await sync(plan)).metadata.changed_subscriptions).toBe(1);
    const line = (await linesOf(kept)).find(({ price_id }) => price_id === usage.id);
    expect(line!.end_date).not.toBeNull();
    expect(await ends()).toEqual(before);
  });

  test('two at once make what one makes', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const subscriptions = [
      await catalog.subscribe(await catalog.customer(), plan),
      await catalog.subscribe(await catalog.customer(), plan),
    ];
    const price = await catalog.usage(plan, await catalog.meter());
    const answers = await Promise.all([ask(plan), ask(plan), ask(plan)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.workflow_id)).size).toBe(1);
    await runPriceSyncs(api);
    for (const subscription of subscriptions) {
      const lines = (await linesOf(subscription)).filter(({ price_id }) => price_id === price.id);
      expect(lines).toHaveLength(1);
    }
    expect(await unsynced(plan)).toBe(0);
  });

  test('a line keeps its quantity, name, metadata and coupons on the next version of its price', async () => {
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '10', { display_name: 'Seats' });
    const created = await api.post('/v1/coupons', {
      name: 'Half', type: 'percentage', percentage_off: '50', cadence: 'forever', currency: 'usd',
    }); // prettier-ignore
    expect(created.status).toBe(201);
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      override_line_items: [{ price_id: price.id, quantity: '10' }],
      line_item_coupons: { [price.id]: [created.body.id] },
    });
    const [before] = await linesOf(subscription);
    await api.pool`
      update subscription_line_items
         set display_name = 'Seats in Berlin', metadata = '{"cost_center": "7"}'
       where id = ${before!.id}`;
    const { body: next } = await api.put(`/v1/prices/${price.id}`, { amount: '20' });
    await sync(plan);
    const line: any = (await linesOf(subscription)).find(({ price_id }) => price_id === next.id);
    expect(line).toMatchObject({
      start_date: subscription.current_period_end,
      quantity: '10',
      display_name: 'Seats in Berlin',
      metadata: { cost_center: '7' },
    });
    const preview = await api.post('/v1/invoices/preview', { subscription_id: subscription.id });
    expect(preview.body).toMatchObject({ subtotal: '200', total_discount: '100', total: '100' });
  });

  test('a coupon of a line has one discount on the rows of all its versions (billing 7.3)', async () => {
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '31', { invoice_cadence: 'ARREAR' });
    const created = await api.post('/v1/coupons', {
      name: 'Four', type: 'fixed', amount_off: '4', cadence: 'forever', currency: 'usd',
    }); // prettier-ignore
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      line_item_coupons: { [price.id]: [created.body.id] },
    });
    api.clock.advance(10 * 86_400_000);
    await api.put(`/v1/prices/${price.id}`, { amount: '62' });
    await sync(plan);
    const preview = await api.post('/v1/invoices/preview', { subscription_id: subscription.id });
    expect(preview.body.line_items).toHaveLength(2);
    expect(preview.body.total_discount).toBe('4');
  });

  test('terms of the subscription stay: the price that they override gets no line of its own', async () => {
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '10');
    const subscription = await catalog.subscribe(await catalog.customer(), plan, {
      override_line_items: [{ price_id: price.id, amount: '7' }],
    });
    await sync(plan);
    await api.put(`/v1/prices/${price.id}`, { amount: '20' });
    await sync(plan);
    expect(await linesOf(subscription)).toHaveLength(1);
    const preview = await api.post('/v1/invoices/preview', { subscription_id: subscription.id });
    expect(preview.body.subtotal).toBe('7');
  });

  test('a name that is only the price name follows the price', async () => {
    const plan = await catalog.plan();
    const price = await catalog.fixed(plan, '10', { display_name: 'Base' });
    const subscription = await catalog.subscribe(await catalog.customer(), plan);
    const { body: next } = await api.put(`/v1/prices/${price.id}`, { amount: '20' });
    await api.pool`update prices set display_name = 'Base 2027' where id = ${next.id}`;
    await sync(plan);
    const line: any = (await linesOf(subscription)).find(({ price_id }) => price_id === next.id);
    expect(line.display_name).toBe('Base 2027');
  });

  test('many subscriptions are synced in pages; a stopped task continues at its cursor', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const customer = await catalog.customer();
    for (let made = 0; made < 60; made += 1) await catalog.subscribe(customer, plan);
    const price = await catalog.usage(plan, await catalog.meter());
    const { body: asked } = await ask(plan);
    const task = async () => (await api.get(`/v1/tasks/${asked.workflow_id}`)).body;
    expect(await task()).toMatchObject({ task_status: 'PENDING', total_records: 60 });
    await api.put(`/v1/tasks/${asked.workflow_id}/status`, { task_status: 'FAILED' });
    await runPriceSyncs(api);
    expect(await task()).toMatchObject({ task_status: 'FAILED', processed_records: 0 });
    await api.put(`/v1/tasks/${asked.workflow_id}/status`, { task_status: 'PROCESSING' });
    expect(await runPriceSyncs(api)).toEqual({ pages: 2 });
    expect(await task()).toMatchObject({ task_status: 'COMPLETED', processed_records: 60 });
    const [synced] = await api.pool`
      select count(*)::integer as count from subscription_line_items where price_id = ${price.id}`;
    expect(synced!['count']).toBe(60);
  });

  test('a subscription that cannot be synced is named by the task, and the others are synced', async () => {
    const plan = await catalog.plan();
    await catalog.fixed(plan, '10');
    const [bad, good] = [
      await catalog.subscribe(await catalog.customer(), plan),
      await catalog.subscribe(await catalog.customer(), plan),
    ];
    const price = await catalog.usage(plan, await catalog.meter());
    const { pool } = api;
    await pool.unsafe(
      `alter table subscription_line_items add constraint refuses check (subscription_id <> '${bad.id}') not valid`,
    );
    const task = await sync(plan);
    await pool`alter table subscription_line_items drop constraint refuses`;
    expect(task).toMatchObject({
      task_status: 'COMPLETED',
      successful_records: 1,
      failed_records: 1,
      error_summary: `${bad.id}: an unexpected error of the service`,
    });
    const has = async (of: { id: string }) =>
      (await linesOf(of)).some(({ price_id }) => price_id === price.id);
    expect([await has(bad), await has(good)]).toEqual([false, true]);
    expect(await unsynced(plan)).toBe(1);
  });

  test('404: an unknown plan, on both names', async () => {
    for (const version of ['', '/v2'])
      expect((await api.post(`/v1/plans/plan_x/sync/subscriptions${version}`)).status).toBe(404);
  });
});
