import { dispatchNotifications } from '../../../postgres/tables/webhook-deliveries.ts';
import type { TimelineEntry } from '../../../schemas/timeline.ts';
import { startTestApi, TEST_NOW, type TestApi } from '../../support/api.ts';
import { createWorld } from '../../support/world.ts';

/** What happened to a customer, a subscription or an invoice, from three sources. */
describe('POST /timeline/search', () => {
  let api: TestApi;
  let customer: string;
  let subscription: string;
  let invoice: string;
  beforeAll(async () => {
    api = await startTestApi();
    const world = await createWorld(api);
    customer = world.foreign['/customers/{id}']!;
    subscription = world.foreign['/subscriptions/{id}']!;
    invoice = world.foreign['/invoices/{id}']!;
    await api.put(`/v1/customers/${customer}`, { name: 'Acme & Co' }, { 'x-request-id': 'renames' });
    await api.post('/v1/customers', { external_id: 'other', name: 'Other' });
    await api.pool.begin((tx) => dispatchNotifications(tx, { at: TEST_NOW, limit: 10_000 }));
  }); // prettier-ignore
  afterAll(() => api.close());

  const timeline = async (body: object): Promise<{ items: TimelineEntry[]; total: number }> => {
    const answer = await api.post('/v1/timeline/search', { limit: 1000, ...body });
    expect(answer.status).toBe(200);
    return { items: answer.body.items, total: answer.body.pagination.total };
  };
  const kinds = (items: readonly TimelineEntry[]) => new Set(items.map(({ kind }) => kind));
  const types = (items: readonly TimelineEntry[]) => new Set(items.map((item) => item.entity_type));

  describe('200', () => {
    test('a customer: itself, its contracts, documents and money, newest first', async () => {
      const { items, total } = await timeline({ customer_id: customer });
      expect(total).toBe(items.length);
      expect(kinds(items)).toEqual(new Set(['change', 'notification', 'invoice']));
      expect([...types(items)]).toEqual(
        expect.arrayContaining(['customer', 'subscription', 'invoice', 'payment', 'wallet', 'refund']),
      );
      const times = items.map(({ created_at }) => created_at);
      expect(times).toEqual([...times].sort().reverse());
      expect(items.some((item) => JSON.stringify(item).includes('Other'))).toBe(false);
    }); // prettier-ignore

    test('an update shows its fields and who made it', async () => {
      const { items } = await timeline({ customer_id: customer, kind: 'change' });
      expect(items.find(({ request_id }) => request_id === 'renames')).toMatchObject({
        action: 'updated',
        entity_type: 'customer',
        entity_id: customer,
        before: { name: '[personal]' },
        after: { name: '[personal]' },
        actor_kind: 'user',
        user_id: api.user_id,
        deliveries: [],
      });
    });

    test('a notification shows where it was sent', async () => {
      const { items } = await timeline({ customer_id: customer, kind: 'notification' });
      const created = items.find(({ action }) => action === 'customer.created');
      expect(created).toMatchObject({ entity_id: customer, actor_kind: null, invoice: null });
      const updated = items.find(({ action }) => action === 'customer.updated');
      expect(updated!.deliveries).toEqual([
        { endpoint_id: expect.any(String), delivery_status: 'pending', attempts: 0 },
      ]);
    });

    test('a subscription and an invoice have less than their customer', async () => {
      const whole = await timeline({ customer_id: customer });
      const ofSubscription = await timeline({ subscription_id: subscription });
      const ofInvoice = await timeline({ invoice_id: invoice });
      expect(types(ofSubscription.items)).not.toContain('customer');
      expect(types(ofInvoice.items)).not.toContain('subscription');
      const sizes = [ofInvoice.total, ofSubscription.total, whole.total];
      expect(sizes).toEqual([...new Set(sizes)].sort((left, right) => left - right));
      expect(ofInvoice.items.filter(({ kind }) => kind === 'invoice')).toMatchObject([
        { action: 'issued', entity_id: invoice, invoice: { currency: 'usd', total: '10' } },
      ]);
    });

    test('pages do not overlap and have the whole', async () => {
      const { items: whole } = await timeline({ customer_id: customer });
      const pages: TimelineEntry[] = [];
      for (let offset = 0; offset < whole.length; offset += 7)
        pages.push(...(await timeline({ customer_id: customer, limit: 7, offset })).items);
      expect(pages.map(({ id }) => id)).toEqual(whole.map(({ id }) => id));
      expect(new Set(pages.map(({ id }) => id)).size).toBe(whole.length);
    });
  });

  test.each([
    ['nobody', {}, 'customer_id'],
    ['two owners', { customer_id: 'a', invoice_id: 'b' }, 'customer_id'],
    ['an unknown kind', { customer_id: 'a', kind: 'thought' }, 'kind'],
  ])('400: %s', async (_title, body, path) => {
    const answer = await api.post('/v1/timeline/search', body);
    expect([answer.status, answer.body.details[0].path]).toEqual([400, path]);
  });

  test('403 without the permission to read the audit log; 404 for a stranger', async () => {
    const writer = await api.newCaller({ beside: api, roles: ['all_writer'] });
    const stranger = await api.newCaller();
    const body = { customer_id: customer };
    expect((await writer.post('/v1/timeline/search', body)).status).toBe(403);
    expect((await stranger.post('/v1/timeline/search', body)).status).toBe(404);
  });
});
