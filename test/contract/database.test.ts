import { inScope, type Pool } from '../../postgres/client.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

describe('rows come back as records', () => {
  let database: TestDatabase;
  let pool: Pool;
  beforeAll(async () => {
    database = await createTestDatabase();
    pool = database.pool;
  });
  afterAll(() => database.drop());

  test.each([
    ['10.500000000000000000', '10.5'],
    ['100', '100'],
    ['-0.000', '0'],
    ['1000.000', '1000'],
    ['0.000000000000000001', '0.000000000000000001'],
  ])('numeric %s is %s', async (written, shown) => {
    const [row] = await pool<{ value: string }[]>`select ${written}::numeric as value`;
    expect(row?.value).toBe(shown);
  });

  test('a time is ISO 8601 in UTC with milliseconds', async () => {
    const [row] = await pool<
      { at: string }[]
    >`select '2026-03-01 05:30:00+05:30'::timestamptz as at`;
    expect(row?.at).toBe('2026-03-01T00:00:00.000Z');
  });

  test('scope is part of a statement', async () => {
    const scope = { tenant_id: 't', environment_id: 'e' };
    const rows = await pool`select 1 from api_keys where ${inScope(pool, scope)}`;
    expect(rows).toHaveLength(0);
  });
});
