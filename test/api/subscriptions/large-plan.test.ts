import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { planOfMany } from '../../support/plan-of-many.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

test('a plan of 10,000 prices can be subscribed to, invoiced, previewed, printed and cancelled', async () => {
  const catalog = catalogOf(api);
  const plan = await planOfMany(api, 10_000);
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
