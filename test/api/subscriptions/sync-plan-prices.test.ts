import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

/** Prices of a plan reach running subscriptions when they are synced (billing-semantics 2.8). */
describe('price sync', () => {
  let api: TestApi;
  let catalog: TestCatalog;
  beforeAll(async () => {
    api = await startTestApi();
    catalog = catalogOf(api);
  });
  afterAll(() => api.close());

  const sync = (plan: { id: string }) => api.post(`/v1/plans/${plan.id}/sync/subscriptions`);
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

    const answer = await sync(plan);
    expect([answer.status, answer.body.message]).toEqual([
      200,
      'Prices of 1 subscriptions are in sync, 1 were changed',
    ]);
    const lines = await linesOf(subscription);
    expect(lines.find(({ price_id }) => price_id === price.id)).toMatchObject({
      start_date: subscription.current_period_start,
      end_date: null,
    });
    expect(await unsynced(plan)).toBe(0);
    expect((await sync(plan)).body.message).toContain('0 were changed');
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
    expect((await sync(plan)).body.message).toContain('1 were changed');
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
    const answers = await Promise.all([sync(plan), sync(plan), sync(plan)]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    for (const subscription of subscriptions) {
      const lines = (await linesOf(subscription)).filter(({ price_id }) => price_id === price.id);
      expect(lines).toHaveLength(1);
    }
    expect(await unsynced(plan)).toBe(0);
  });

  test('404: an unknown plan, on both names', async () => {
    for (const version of ['', '/v2'])
      expect((await api.post(`/v1/plans/plan_x/sync/subscriptions${version}`)).status).toBe(404);
  });
});
