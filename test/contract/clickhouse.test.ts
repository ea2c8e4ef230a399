import { createTestClickHouse } from '../support/clickhouse.ts';
test('smoke', async () => {
  const t = await createTestClickHouse();
  expect(await t.clickhouse.rows({ sql: 'select 1', params: {} })).toEqual([[1]]);
  await t.drop();
});
