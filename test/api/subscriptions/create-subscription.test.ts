import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf, type TestCatalog } from '../../support/catalog.ts';

let api: TestApi;
let catalog: TestCatalog;
beforeAll(async () => {
  api = await startTestApi();
  catalog = catalogOf(api);
});
afterAll(() => api.close());
test('a', async () => {
  const plan = await catalog.plan();
  await catalog.fixed(plan, '120', { display_name: 'Base' });
  const customer = await catalog.customer();
  const created = await catalog.subscribe(customer, plan);
  expect(created.line_items).toHaveLength(1);
});
