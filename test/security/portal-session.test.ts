import { API_ROUTES } from '../../api/routes.ts';
import { startTestApi, type TestAnswer, type TestApi, type TestCaller } from '../support/api.ts';
import { createWorld } from '../support/world.ts';
import { fixedPriceBody } from '../support/price-body.ts';

const MINUTES = 60_000;

/** A portal session is one customer's, for an hour, on portal routes (tenancy S8). */
describe('portal sessions', () => {
  let api: TestApi;
  beforeAll(async () => {
    api = await startTestApi();
  });
  afterAll(() => api.close());

  let customers = 0;
  const newCustomer = async (by: TestCaller = api) => {
    const external_id = `customer-${(customers += 1)}`;
    const body = { external_id, name: 'Acme', metadata: { margin: 'secret-margin' } };
    const { body: customer } = await by.post('/v1/customers', body);
    const { status, body: session } = await by.get(`/v1/customers/portal/${external_id}`);
    if (status !== 200) throw new Error(JSON.stringify(session));
    const headers = { 'x-api-key': '', 'x-session-token': session.token as string };
    return { ...customer, external_id, session, headers } as {
      id: string;
      external_id: string;
      session: { url: string; token: string; expires_at: string };
      headers: { 'x-api-key': string; 'x-session-token': string };
    };
  };
  const info = (headers: object): Promise<TestAnswer> =>
    api.get('/v1/customer/portal/info', headers);
  const subscribe = async (customer_id: string) => {
    const { body: plan } = await api.post('/v1/plans', { name: 'Pro' });
    await api.post('/v1/prices', fixedPriceBody(plan.id));
    const { status, body } = await api.post('/v1/subscriptions', {
      customer_id,
      plan_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      billing_cycle: 'anniversary',
      metadata: { note: 'secret-note' },
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    const { body: found } = await api.post('/v1/invoices/search', { subscription_id: body.id });
    return { id: body.id as string, invoice: found.items[0].id as string };
  };

  test('200: a link, a token of 256 bits and its end in an hour; the token is kept as a hash', async () => {
    const { session } = await newCustomer();
    expect(session.token).toMatch(/^portal_[A-Za-z0-9_-]{43}$/);
    expect(session.url).toMatch(new RegExp(`/portal#token=${session.token}$`));
    expect(Date.parse(session.expires_at) - api.clock.now()).toBe(60 * MINUTES);
    const rows = JSON.stringify(await api.pool`select * from portal_sessions`);
    expect(rows.includes(session.token)).toBe(false);
  });

  test('opening one needs customer:write, and a published customer of the own environment', async () => {
    const { external_id } = await newCustomer();
    const url = `/v1/customers/portal/${external_id}`;
    const reader = await api.newCaller({ beside: api, roles: ['all_reader'] });
    expect((await reader.get(url)).status).toBe(403);
    expect((await (await api.newCaller()).get(url)).status).toBe(404);
    expect((await (await api.newCaller({ inTenantOf: api })).get(url)).status).toBe(404);
    expect((await api.get('/v1/customers/portal/nobody')).status).toBe(404);
  });

  test('it ends after an hour, and at once when the customer is archived', async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    expect((await info(one.headers)).body.id).toBe(one.id);
    await api.delete(`/v1/customers/${one.id}`);
    expect((await info(one.headers)).status).toBe(401);
    expect((await api.get(`/v1/customers/portal/${one.external_id}`)).status).toBe(404);
    expect((await info(other.headers)).status).toBe(200);
    api.clock.advance(60 * MINUTES);
    expect((await info(other.headers)).status).toBe(401);
  });

  describe('are ended', () => {
    const open = async (customer_id: string) =>
      (await api.get(`/v1/portal/sessions?customer_id=${customer_id}`)).body.items as {
        id: string;
      }[];
    const openAgain = async (external_id: string) => {
      const { body } = await api.get(`/v1/customers/portal/${external_id}`);
      return { 'x-api-key': '', 'x-session-token': body.token as string };
    };

    test('204: one, by its id; the customer’s other sessions stay valid', async () => {
      const customer = await newCustomer();
      const second = await openAgain(customer.external_id);
      const [newest, oldest] = await open(customer.id);
      expect(await open(customer.id)).toHaveLength(2);
      expect(JSON.stringify(await open(customer.id))).not.toContain(customer.session.token);
      expect((await api.delete(`/v1/portal/sessions/${oldest!.id}`)).status).toBe(204);
      const [first, still] = [await info(customer.headers), await info(second)];
      expect([first.status, still.status].sort()).toEqual([200, 401]);
      expect(await open(customer.id)).toMatchObject([{ id: newest!.id, customer_id: customer.id }]);
      expect((await api.delete('/v1/portal/sessions/portal_session_x')).status).toBe(404);
    });

    test('204: all sessions of a customer, and of no other', async () => {
      const [one, other] = [await newCustomer(), await newCustomer()];
      const second = await openAgain(one.external_id);
      expect((await api.delete(`/v1/customers/${one.id}/portal-sessions`)).status).toBe(204);
      for (const headers of [one.headers, second]) expect((await info(headers)).status).toBe(401);
      expect([await open(one.id), (await info(other.headers)).status]).toEqual([[], 200]);
      expect((await info(await openAgain(one.external_id))).status).toBe(200);
    });

    test('200: by the customer', async () => {
      const { headers } = await newCustomer();
      expect((await api.post('/v1/customer/portal/logout', {}, headers)).status).toBe(200);
      expect((await info(headers)).status).toBe(401);
      expect((await api.post('/v1/customer/portal/logout', {}, headers)).status).toBe(401);
    });

    test('403: listing needs customer:read, ending customer:write, and the message says so', async () => {
      const customer = await newCustomer();
      const [session] = await open(customer.id);
      const reader = await api.newCaller({ beside: api, roles: ['all_reader'] });
      const ingestor = await api.newCaller({ beside: api, roles: ['event_ingestor'] });
      const refused = await reader.delete(`/v1/portal/sessions/${session!.id}`);
      expect([refused.status, refused.body.message]).toEqual([
        403,
        'The credential needs permission customer:write.',
      ]);
      expect((await reader.get('/v1/portal/sessions')).status).toBe(200);
      const { status, body } = await ingestor.get('/v1/portal/sessions');
      expect([status, body.message]).toEqual([
        403,
        'The credential needs permission customer:read.',
      ]);
      expect((await info(customer.headers)).status).toBe(200);
    });
  });

  test('matrix: on every other route it is no credential at all', async () => {
    const { session } = await newCustomer();
    const { token } = session;
    const ways = [
      { 'x-api-key': '', 'x-session-token': token },
      { 'x-api-key': token },
      { 'x-api-key': '', authorization: `Bearer ${token}` },
    ];
    const open: string[] = [];
    for (const route of API_ROUTES) {
      if (route.permission === 'public' || route.permission === 'portal') continue;
      const url = `/v1${route.path.replace(/\{[a-z_]+\}/g, 'x')}`;
      for (const headers of ways) {
        const { status } = await api.call(route.method, url, undefined, headers);
        if (status !== 401) open.push(`${route.method} ${route.path}: ${status}`);
      }
    }
    expect(open).toEqual([]);
  });

  test('matrix: portal routes take nothing but a portal session', async () => {
    const routes = API_ROUTES.filter((route) => route.permission === 'portal');
    expect(routes.length).toBeGreaterThan(6);
    const { session } = await newCustomer();
    const wrong = [
      {},
      { 'x-api-key': '' },
      { 'x-session-token': '' },
      { 'x-session-token': api.key },
      { 'x-session-token': 'nonsense' },
      { 'x-session-token': `${session.token}x` },
      { 'x-session-token': session.token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')) },
      { 'x-session-token': session.token.toUpperCase() },
      { 'x-api-key': '', authorization: `Bearer ${session.token}` },
    ];
    for (const route of routes)
      for (const headers of wrong) {
        const url = `/v1${route.path.replace(/\{[a-z_]+\}/g, 'x')}`;
        const { status, body } = await api.call(route.method, url, undefined, headers);
        expect([route.path, headers, status, body.code]).toEqual([
          route.path,
          headers,
          401,
          'unauthenticated',
        ]);
      }
  });

  test('one’s own records, without the tenant’s notes and drafts', async () => {
    const { id, headers } = await newCustomer();
    const { id: subscription, invoice } = await subscribe(id);
    const list = await api.post(
      '/v1/customer/portal/subscriptions',
      { page: 1, limit: 10 },
      headers,
    );
    expect(list.body.items.map((item: { id: string }) => item.id)).toEqual([subscription]);
    const one = await api.get(`/v1/customer/portal/subscriptions/${subscription}`, headers);
    expect(one.body.id).toBe(subscription);
    const url = `/v1/customer/portal/invoices/${invoice}`;
    await api.pool`update invoices set invoice_status = 'DRAFT' where id = ${invoice}`;
    expect((await api.get(url, headers)).status).toBe(404);
    expect((await api.post('/v1/customer/portal/invoices', {}, headers)).body.items).toEqual([]);
    const hidden = await api.get(`/v1/customer/portal/subscriptions/${subscription}`, headers);
    expect(hidden.body.latest_invoice).toBeNull();
    await api.pool`update invoices set invoice_status = 'FINALIZED' where id = ${invoice}`;
    expect((await api.get(url, headers)).body.id).toBe(invoice);
    const invoices = await api.post('/v1/customer/portal/invoices', { page: 1, limit: 1 }, headers);
    expect(invoices.body.items).toHaveLength(1);
    const beyond = { limit: 1, offset: invoices.body.pagination.offset };
    const rest = await api.post('/v1/customer/portal/invoices', beyond, headers);
    expect([rest.status, rest.body.items, rest.body.pagination.offset]).toEqual([200, [], 2]);
    const shown = [list, one, hidden, invoices, await info(headers)];
    expect(JSON.stringify(shown.map((answer) => answer.body))).not.toMatch(/secret-(note|margin)/);
  });

  test('another customer’s records: 404, and none in the lists', async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    const { id: subscription, invoice } = await subscribe(other.id);
    await api.pool`update invoices set invoice_status = 'FINALIZED' where id = ${invoice}`;
    for (const path of [`subscriptions/${subscription}`, `invoices/${invoice}`]) {
      const foreign = await api.get(`/v1/customer/portal/${path}`, one.headers);
      const missing = await api.get(`/v1/customer/portal/${path}X`, one.headers);
      expect([foreign.status, missing.status]).toEqual([404, 404]);
      expect((await api.get(`/v1/customer/portal/${path}`, other.headers)).status).toBe(200);
    }
    for (const path of ['subscriptions', 'invoices']) {
      const body = { customer_id: other.id, customer_ids: [other.id], limit: 10 };
      const { body: found } = await api.post(`/v1/customer/portal/${path}`, body, one.headers);
      expect(found.items).toEqual([]);
    }
  });

  test('usage and analytics are of the session’s customer, for any customer in the request', async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    await subscribe(other.id);
    const usage = await api.get(`/v1/customer/portal/usage?customer_id=${other.id}`, one.headers);
    expect([usage.status, usage.body.customer_id, usage.body.features]).toEqual([200, one.id, []]);
    const body = {
      external_customer_id: other.external_id,
      start_time: '2026-11-01T00:00:00Z',
      end_time: '2026-11-02T00:00:00Z',
    };
    const analytics = await api.post('/v1/customer/portal/analytics/revenue', body, one.headers);
    expect([analytics.status, analytics.body.items]).toEqual([200, []]);
    expect(String(analytics.headers['x-ignored-fields'])).toBe('external_customer_id');
  });

  test('costs are shown where the tenant’s settings have cost metrics on a tab that is shown', async () => {
    const { headers } = await newCustomer();
    const costs = () => api.post('/v1/customer/portal/analytics/cost', {}, headers);
    expect(await costs()).toMatchObject({ status: 403, body: { code: 'permission_denied' } });
    const setting = ([section, tab, show_cost_metrics]: readonly boolean[]) =>
      api.put('/v1/settings/customer_portal_config', {
        value: {
          sections: [
            {
              id: 'usage',
              enabled: section,
              tabs: [
                {
                  id: '1',
                  type: 'metric_cards',
                  enabled: tab,
                  metric_cards: { show_cost_metrics },
                },
              ],
            },
          ],
        },
      });
    for (const shown of [
      [false, true, true],
      [true, false, true],
      [true, true, false],
    ]) {
      expect((await setting(shown)).status).toBe(200);
      expect((await costs()).status).toBe(403);
    }
    await setting([true, true, true]);
    expect(await costs()).toMatchObject({ status: 200, body: { total_cost: '0', margin: '0' } });
    await api.delete('/v1/settings/customer_portal_config');
  });

  test('200: no customer has a wallet', async () => {
    const { headers } = await newCustomer();
    for (const body of [{}, undefined])
      expect(await api.post('/v1/customer/portal/wallets', body, headers)).toMatchObject({
        status: 200,
        body: [],
      });
  });

  test('the customer changes how it is reached, and nothing else', async () => {
    const { id, external_id, headers } = await newCustomer();
    const changes = { name: 'New', email: 'new@example.test', address_city: 'Pune' };
    const readonly = { external_id: 'stolen', tax_treatment: 'exempt', billing_currency: 'eur' };
    const put = (body: object, more: object = {}) =>
      api.put('/v1/customer/portal/info', body, { ...headers, ...more });
    const answer = await put({
      ...changes,
      ...readonly,
      metadata: { margin: '0' },
      timezone: 'Asia/Tokyo',
    });
    expect([answer.status, answer.body.name, answer.body.metadata]).toEqual([200, 'New', {}]);
    const { body: stored } = await api.get(`/v1/customers/${id}`);
    expect(stored).toMatchObject({
      ...changes,
      external_id,
      tax_treatment: 'taxable',
      billing_currency: null,
      timezone: 'UTC',
      metadata: { margin: 'secret-margin' },
      updated_by: id,
    });
    const strict = await put(readonly, { prefer: 'handling=strict' });
    expect([strict.status, strict.body.details[0].path]).toEqual([400, 'external_id']);
  });

  test('idempotency keys of customers are separate', async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    const put = ({ headers }: { headers: object }) =>
      api.put('/v1/customer/portal/info', { name: 'Same' }, { ...headers, 'idempotency-key': 'k' });
    expect([(await put(one)).body.id, (await put(other)).body.id]).toEqual([one.id, other.id]);
    expect((await put(one)).headers['idempotent-replayed']).toBe('true');
  });

  test('the portal shows the default tree until the tenant saves one', async () => {
    const { headers } = await newCustomer();
    const { body } = await api.get('/v1/customer/portal/config', headers);
    expect(body.value.sections.map((section: { id: string }) => section.id)).toEqual([
      'usage',
      'credits',
      'invoices',
      'overview',
    ]);
  });

  test.each([
    { page: 0 },
    { page: 1.5 },
    { limit: 0 },
    { limit: 1001 },
    { page: 100_001, limit: 10 },
    { offset: -1 },
    { offset: 5, page: 2, limit: 10 },
  ])('400: %j', async (body) => {
    const { headers } = await newCustomer();
    const answer = await api.post('/v1/customer/portal/invoices', body, headers);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, Object.keys(body)[0]]);
  });

  test('no record of a tenant is visible in the portal of another', async () => {
    const world = await createWorld(api);
    const stranger = await newCustomer(await api.newCaller());
    for (const id of world.ids)
      for (const path of ['subscriptions', 'invoices'])
        expect((await api.get(`/v1/customer/portal/${path}/${id}`, stranger.headers)).status).toBe(
          404,
        );
  });

  test('what is owed and the next invoice are the customer’s own, without notes and computations', async () => {
    const [one, other] = [await newCustomer(), await newCustomer()];
    const own = await subscribe(one.id);
    const theirs = await subscribe(other.id);
    await api.post(`/v1/invoices/${own.invoice}/finalize`);
    const owed = await api.get('/v1/customer/portal/invoices/summary', one.headers);
    const { body: known } = await api.get(`/v1/customers/${one.id}/invoices/summary`);
    expect([owed.status, owed.body]).toEqual([200, known]);
    expect(owed.body.summaries).toMatchObject([{ currency: 'usd', unpaid_invoice_count: 1 }]);

    const path = (id: string) => `/v1/customer/portal/subscriptions/${id}/next-invoice`;
    const next = await api.get(path(own.id), one.headers);
    const { body: preview } = await api.post('/v1/invoices/preview', { subscription_id: own.id });
    expect([next.status, next.body.total]).toEqual([200, preview.total]);
    expect(next.body.line_items).toHaveLength(preview.line_items.length);
    for (const line of next.body.line_items)
      expect(line).toMatchObject({ explanation: null, metadata: {} });
    expect(JSON.stringify(next.body)).not.toContain('secret-');
    for (const id of [theirs.id, 'subs_unknown'])
      expect((await api.get(path(id), one.headers)).status).toBe(404);
  });
});
