import { startTestApi, type TestApi, type TestCaller } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';

describe('operations', () => {
  let api: TestApi;
  let caller: TestCaller;
  beforeAll(async () => {
    api = await startTestApi();
  });
  beforeEach(async () => {
    caller = await api.newCaller();
  });
  afterAll(() => api.close());

  describe('webhooks', () => {
    test('200: there is no dashboard elsewhere', async () => {
      const answer = await caller.get('/v1/webhooks/dashboard');
      expect([answer.status, answer.body]).toEqual([200, { svix_enabled: false, url: '' }]);
    });

    test('202: a notification that was delivered is due again, and it alone', async () => {
      const names = ['a', 'b'];
      for (const name of names) await caller.post('/v1/customers', { external_id: name, name });
      const rows = () => api.pool<{ id: string; delivered_at: string | null }[]>`
        select id, delivered_at from outbox
         where environment_id = ${caller.scope.environment_id} order by sequence`;
      await api.pool`
        update outbox set delivered_at = now() where environment_id = ${caller.scope.environment_id}`;
      const [first] = await rows();
      const retry = () => caller.post('/v1/webhooks/retry', { system_event_id: first!.id });
      for (const answer of [await retry(), await retry()])
        expect([answer.status, answer.body]).toMatchObject([
          202,
          { success: true, system_event_id: first!.id },
        ]);
      expect((await rows()).map((row) => row.delivered_at === null)).toEqual([true, false]);
      const stranger = await api.newCaller();
      const foreign = await stranger.post('/v1/webhooks/retry', { system_event_id: first!.id });
      expect(foreign.status).toBe(404);
    });

    test.each([[{}], [{ system_event_id: '' }], [{ system_event_id: 5 }]])(
      '400: %j',
      async (body) => {
        const answer = await caller.post('/v1/webhooks/retry', body);
        expect([answer.status, answer.body.details[0].path]).toEqual([400, 'system_event_id']);
      },
    );
    test('400: the content of a notification is kept for 90 days; it stays in the timeline', async () => {
      const customer = await caller.post('/v1/customers', { external_id: 'long-ago', name: 'A' });
      const [event] = await api.pool<{ id: string }[]>`
        update outbox
           set delivered_at = now(), occurred_at = now() - interval '91 days', payload = null
         where entity_id = ${customer.body.id} returning id`;
      const answer = await caller.post('/v1/webhooks/retry', { system_event_id: event!.id });
      expect([answer.status, answer.body.code]).toEqual([400, 'invalid_operation']);
      const timeline = await caller.post('/v1/timeline/search', {
        customer_id: customer.body.id,
        kind: 'notification',
      });
      expect(timeline.body.items).toMatchObject([{ id: event!.id, action: 'customer.created' }]);
    });
    test('404: a notification that does not exist', async () => {
      expect((await caller.post('/v1/webhooks/retry', { system_event_id: 'x' })).status).toBe(404);
    });
  });

  describe('workflows', () => {
    const importTask = async (row: object) => {
      const id = api.deps.ids.next('task');
      await api.pool`insert into tasks ${api.pool({
        id,
        ...caller.scope,
        task_type: 'IMPORT',
        entity_type: 'EVENTS',
        file_provider: 'csvbox',
        upload_id: id,
        file_type: 'CSV',
        total_records: 1,
        created_at: '2026-11-21T10:00:00Z',
        ...row,
      })}`;
      return id;
    };

    test('200: an import as a workflow, with its duration, its timeline and its failure', async () => {
      const id = await importTask({
        task_status: 'FAILED',
        started_at: '2026-11-21T10:00:10Z',
        failed_at: '2026-11-21T11:01:15Z',
        error_summary: 'row 1: no event_name',
      });
      const path = `/v1/workflows/${id}/${id}`;
      const { body } = await caller.get(path);
      expect(body).toMatchObject({
        workflow_id: id,
        run_id: id,
        status: 'Failed',
        start_time: '2026-11-21T10:00:10.000Z',
        close_time: '2026-11-21T11:01:15.000Z',
        duration_ms: 3_665_000,
        total_duration: '1h 1m 5s',
        metadata: { entity: 'task', entity_id: id, error: 'row 1: no event_name' },
      });
      expect((await caller.get(`${path}/summary`)).body).toMatchObject({ status: 'Failed' });
      const { body: timeline } = await caller.get(`${path}/timeline`);
      expect(timeline.items.map((item: { event_type: string }) => item.event_type)).toEqual([
        'Requested',
        'Started',
        'Failed',
      ]);
      const named = { workflows: [{ workflow_id: id, run_id: id }] };
      expect((await caller.post('/v1/workflows/batch', named)).body.workflows).toEqual([body]);
    });

    test('200: search by state, kind and page', async () => {
      const open = await importTask({ task_status: 'PENDING' });
      await importTask({ task_status: 'COMPLETED', completed_at: '2026-11-21T10:00:00Z' });
      const search = async (filter: object) =>
        (await caller.post('/v1/workflows/search', filter)).body;
      expect(await search({ workflow_status: 'Running' })).toMatchObject({
        items: [{ workflow_id: open, close_time: null, duration_ms: null }],
        pagination: { total: 1 },
      });
      expect((await search({ workflow_type: 'Nothing', limit: 5 })).pagination).toEqual({
        total: 0,
        limit: 5,
        offset: 5,
      });
      expect((await search({ page: 2, page_size: 1 })).pagination).toEqual({
        total: 2,
        limit: 1,
        offset: 2,
      });
    });

    test('404: an unknown workflow, another run, a workflow of another tenant', async () => {
      const id = await importTask({ task_status: 'PENDING' });
      for (const path of ['x/y', `${id}/y`, 'x/y/summary', 'x/y/timeline'])
        expect((await caller.get(`/v1/workflows/${path}`)).status).toBe(404);
      const workflows = [
        { workflow_id: id, run_id: id },
        { workflow_id: 'x', run_id: 'y' },
      ];
      expect((await caller.post('/v1/workflows/batch', { workflows })).status).toBe(404);
    });

    test.each([
      ['workflows', 'batch', {}],
      ['workflows', 'batch', { workflows: [] }],
      ['workflows[0].run_id', 'batch', { workflows: [{ workflow_id: 'x' }] }],
      ['page_size', 'search', { page_size: 1001 }],
      ['page', 'search', { page: 0 }],
      ['workflow_status', 'search', { workflow_status: 'Dreaming' }],
    ])('400: %s of %s %j', async (path, route, body) => {
      const answer = await caller.post(`/v1/workflows/${route}`, body);
      expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    });
  });

  describe('dashboard', () => {
    const year = { period_start: '2026-01-01T00:00:00Z', period_end: '2027-01-01T00:00:00Z' };

    test('200: nothing was sold', async () => {
      const { body } = await caller.post('/v1/dashboard/revenue-dashboard', year);
      expect(body).toEqual({ summaries: {}, items: [] });
      const { body: months } = await caller.post('/v1/dashboard/revenues', {});
      expect(months).toMatchObject({
        revenue_trend: { currency_revenue_windows: {}, window_size: 'MONTH', window_count: 3 },
        recent_subscriptions: { total_count: 0, plans: [] },
        invoice_payment_status: { paid: 0, pending: 0, failed: 0 },
      });
    });

    test('200: bought credits are revenue when usage uses them, not when they are bought', async () => {
      const caller = await api.newCaller();
      const customer = await catalogOf(caller).customer();
      const sent = { customer_id: customer.id, currency: 'usd' };
      const { body: wallet } = await caller.post('/v1/wallets', sent);
      const { body: bought } = await caller.post(`/v1/wallets/${wallet.id}/top-up`, {
        credits_to_add: '50',
        transaction_reason: 'PURCHASED_CREDIT_INVOICED',
      });
      const { body: invoice } = await caller.get(`/v1/invoices/${bought.invoice_id}`);
      expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', total: '50' });
      const { body } = await caller.post('/v1/dashboard/revenue-dashboard', year);
      expect(body).toEqual({ summaries: {}, items: [] });
    });

    test('200: what was issued, net, by customer and currency; voided invoices and other scopes are no revenue', async () => {
      const catalog = catalogOf(caller);
      const plan = await catalog.plan('Pro');
      await catalog.fixed(plan, '30');
      const euro = await catalog.plan('Euro');
      await catalog.fixed(euro, '7', { currency: 'eur' });
      const [ada, bob] = [await catalog.customer(), await catalog.customer()];
      await catalog.subscribe(ada, plan);
      await catalog.subscribe(bob, plan);
      await catalog.subscribe(bob, euro, { currency: 'eur' });
      const voided = await catalog.subscribe(ada, plan);
      const found = await caller.post('/v1/invoices/search', { subscription_id: voided.id });
      await caller.post(`/v1/invoices/${found.body.items[0].id}/void`, {});

      const ask = async (body: object) =>
        (await caller.post('/v1/dashboard/revenue-dashboard', { ...year, ...body })).body;
      const revenue = (amount: string) => ({
        total_revenue: amount,
        total_usage_revenue: '0',
        total_fixed_revenue: amount,
      });
      expect(await ask({})).toEqual({
        summaries: { usd: revenue('60'), eur: revenue('7') },
        items: [
          expect.objectContaining({ currency: 'usd', ...revenue('30') }),
          expect.objectContaining({ currency: 'usd', ...revenue('30') }),
          expect.objectContaining({ customer_id: bob.id, currency: 'eur', ...revenue('7') }),
        ],
      });
      expect((await ask({ customer_ids: [ada.id] })).summaries).toEqual({ usd: revenue('30') });
      expect((await ask({ period_end: '2026-11-21T12:00:00Z' })).items).toEqual([]);

      const { body: months } = await caller.post('/v1/dashboard/revenues', {
        revenue_trend: { window_count: 2 },
      });
      expect(months.revenue_trend.currency_revenue_windows.eur.windows).toMatchObject([
        { window_label: '2026-10', total_revenue: '0' },
        { window_label: '2026-11', window_end: '2026-11-21T12:00:00.000Z' },
      ]);
      expect(months.recent_subscriptions).toMatchObject({
        total_count: 4,
        plans: [
          { plan_id: plan.id, plan_name: 'Pro', count: 3 },
          { plan_id: euro.id, count: 1 },
        ],
      });
      expect(months.invoice_payment_status).toMatchObject({ pending: 3, failed: 0 });
    });

    test('200: recurring revenue, and what is invoiced, collected, open and overdue', async () => {
      const own = await api.newCaller();
      const catalog = catalogOf(own);
      const [monthly, annual] = [await catalog.plan('Monthly'), await catalog.plan('Annual')];
      await catalog.fixed(monthly, '30');
      await catalog.fixed(annual, '120', { billing_period: 'ANNUAL' });
      const ada = await catalog.customer();
      const first = await catalog.subscribe(ada, monthly);
      await catalog.subscribe(ada, monthly);
      await catalog.subscribe(ada, annual, { billing_period: 'ANNUAL' });
      const ended = await catalog.subscribe(ada, monthly);
      await own.post(`/v1/subscriptions/${ended.id}/cancel`, { cancellation_type: 'immediate' });
      const ten = { name: 'Ten', type: 'percentage', percentage_off: '10', cadence: 'forever' };
      const { body: coupon } = await own.post('/v1/coupons', { ...ten, coupon_code: 'mrr' });
      await catalog.subscribe(ada, monthly, { coupons: [coupon.id] });
      const { body: found } = await own.post('/v1/invoices/search', { subscription_id: first.id });
      const pays = { payment_status: 'SUCCEEDED', amount: '30' };
      expect((await own.put(`/v1/invoices/${found.items[0].id}/payment`, pays)).status).toBe(200);

      const summary = async (body: object) => (await own.post('/v1/dashboard/summary', body)).body;
      const [usd] = (await summary({})).currencies;
      expect(usd).toMatchObject({ currency: 'usd', mrr: '97', invoiced_count: 5 });
      expect(usd).toMatchObject({ invoiced_amount: '237', collected_amount: '30', open_count: 4 });
      expect(usd).toMatchObject({ open_amount: '207', overdue_count: 0 });
      api.clock.advance(90 * 86_400_000);
      const [later] = (await summary({})).currencies;
      api.clock.advance(-90 * 86_400_000);
      expect(later).toMatchObject({ overdue_count: 4, overdue_amount: '207' });
      const before = await summary({ end_time: '2026-01-01T00:00:00Z' });
      expect(before.currencies).toMatchObject([
        { mrr: '97', invoiced_count: 0, invoiced_amount: '0', collected_amount: '0' },
      ]);
      const [all] = (await summary({ end_time: '2026-01-01T00:00:00Z', open_of: 'all' }))
        .currencies;
      expect(all).toMatchObject({ invoiced_count: 0, invoiced_amount: '0' });
      expect(all).toMatchObject({ open_count: 4, open_amount: '207', overdue_count: 0 });
    });

    test('200: balances of wallets with a raised alert, by currency, in the own environment', async () => {
      const own = await api.newCaller();
      const made = async (currency: string, credits: string, threshold: string) => {
        const customer = await catalogOf(own).customer();
        const { status: created, body: wallet } = await own.post('/v1/wallets', {
          name: 'Credits',
          customer_id: customer.id,
          currency,
          alert_settings: { alert_enabled: true, critical: { condition: 'below', threshold } },
        });
        expect(created).toBe(200);
        const { status } = await own.post(`/v1/wallets/${wallet.id}/top-up`, {
          credits_to_add: credits,
          transaction_reason: 'FREE_CREDIT_GRANT',
          idempotency_key: wallet.id,
        });
        expect(status).toBeLessThan(300);
        return wallet;
      };
      await made('usd', '1.25', '50');
      await made('usd', '2', '50');
      await made('usd', '900', '50');
      await made('eur', '3', '50');
      const ended = await made('eur', '4', '50');
      await own.post(`/v1/wallets/${ended.id}/terminate`);
      const atRisk = async (caller: TestCaller) =>
        (await caller.post('/v1/dashboard/wallets-at-risk')).body.currencies;
      expect(await atRisk(own)).toEqual([
        { currency: 'eur', balance: '3', wallet_count: 1 },
        { currency: 'usd', balance: '3.25', wallet_count: 2 },
      ]);
      expect(await atRisk(await api.newCaller())).toEqual([]);
      const sender = await api.newCaller({ beside: own, roles: ['event_ingestor'] });
      expect((await sender.post('/v1/dashboard/wallets-at-risk')).status).toBe(403);
    });

    test.each([
      [
        'end_time',
        'summary',
        { start_time: '2026-02-01T00:00:00Z', end_time: '2026-01-01T00:00:00Z' },
      ],
      ['period_start', 'revenue-dashboard', {}],
      ['period_end', 'revenue-dashboard', { ...year, period_end: '2025-01-01T00:00:00Z' }],
      ['period_end', 'revenue-dashboard', { ...year, period_end: year.period_start }],
      ['revenue_trend.window_count', 'revenues', { revenue_trend: { window_count: -2 } }],
      ['revenue_trend.window_count', 'revenues', { revenue_trend: { window_count: 0 } }],
      ['revenue_trend.window_count', 'revenues', { revenue_trend: { window_count: 1.5 } }],
    ])('400: %s of %s %j', async (path, route, body) => {
      const answer = await caller.post(`/v1/dashboard/${route}`, body);
      expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
    });
  });
});
