import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** A plan with copies of one price, made below the API because ten thousand requests take minutes. */
async function planOf(prices: number): Promise<{ id: string }> {
  const catalog = catalogOf(api);
  const plan = await catalog.plan();
  const first = await catalog.fixed(plan, '0.01');
  await api.pool`
    insert into prices overriding user value
    select (jsonb_populate_record(p, jsonb_build_object('id', ids.id, 'parent_price_id', ids.id))).*
      from prices p,
           lateral (select 'price_' || lpad(n::text, 26, '0') as id
                      from generate_series(2, ${prices}::integer) n) ids
     where p.id = ${first.id}`;
  return plan;
}

test('a plan of 10,000 prices can be subscribed to, invoiced, previewed, printed and cancelled', async () => {
  const catalog = catalogOf(api);
  const plan = await planOf(10_000);
  const subscription = await catalog.subscribe(await catalog.customer(), plan);
  const [lines] = await api.pool<{ count: string }[]>`
    select count(*) from subscription_line_items where subscription_id = ${subscription.id}`;
  expect(lines!.count).toBe('10000');
  const invoices = await api.post('/v1/invoices/search', { subscription_id: subscription.id });
  expect(invoices.body.items).toMatchObject([{ subtotal: '100' }]);
  const [opening] = invoices.body.items;
  const preview = await api.post('/v1/invoices/preview', { subscription_id: subscription.id });
  expect(preview.status).toBe(200);
  expect(preview.body.line_items).toHaveLength(10_000);
  expect(preview.body.total).toBe(opening.total);
  const pdf = await api.app.inject({
    method: 'GET',
    url: `/v1/invoices/${opening.id}/pdf`,
    headers: { 'x-api-key': api.key },
  });
  expect(pdf.statusCode).toBe(200);
  expect(pdf.rawPayload.subarray(0, 5).toString()).toBe('%PDF-');
  const pages = pdf.rawPayload.toString('latin1').match(/\/Type \/Page\b/g);
  expect(pages!.length).toBeGreaterThan(100);
  const cancelled = await api.post(`/v1/subscriptions/${subscription.id}/cancel`, {
    cancellation_type: 'immediate',
  });
  expect(cancelled.status).toBe(200);
});
