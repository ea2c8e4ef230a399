import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';
import { at, DAY_MS, FIRST, TODAY, UsageTenant } from './usage/usage-tenant.ts';

/** More rows than one granule of the table. */
const MANY = 9_000;
const MAX = 10_000;

describe('usage of few rows is read from the rows alone', () => {
  let world: TestClickHouse;
  let tenants = 0;
  beforeAll(async () => {
    world = await createTestClickHouse();
  });
  afterAll(() => world.drop());

  /** Each of four days of `acme` has 2 events of 1; the first three days are sealed. */
  const withUsage = async (fewRows = MAX): Promise<UsageTenant> => {
    tenants += 1;
    const tenant = new UsageTenant(world.clickhouse, `few_${tenants}`, tenants * 100_000, fewRows);
    await tenant.use('acme', 1, [0, 1, 2, 3].flatMap((day) => [at(day, 20), at(day, 40)])); // prettier-ignore
    await tenant.seal(TODAY);
    return tenant;
  };
  const instant = (ms: number): string => new Date(ms).toISOString();

  test('in one statement, sealed or not, also at the first read', async () => {
    const tenant = await withUsage();
    expect(await tenant.read('acme')).toMatchObject({ sum: 8, rounds: 1 });
    expect(tenant.statements).toBe(1);
    await tenant.seal(TODAY + DAY_MS);
    expect((await tenant.read('acme')).sum).toBe(8);
    expect(tenant.statements).toBe(1);
    expect((await tenant.read('nobody')).sum).toBe(0);
  });

  test('a correction, a late event and the end of a meter version count as with buckets', async () => {
    const tenant = await withUsage();
    const [late] = await tenant.use('acme', 16, [at(0, 21)]);
    expect((await tenant.read('acme')).sum).toBe(24);
    await tenant.takeBack(late!);
    expect((await tenant.read('acme')).sum).toBe(8);
    tenant.seals.liveUntil.set('v1', { ...tenant.seals.watermarks });
    await tenant.use('acme', 32, [at(1, 21)]);
    expect((await tenant.read('acme')).sum).toBe(8);
    expect(tenant.statements).toBe(1);
  });

  test('start and end cut the rows to the millisecond', async () => {
    const tenant = await withUsage();
    expect((await tenant.read('acme', { start: instant(at(0, 20)), end: instant(at(3, 40)) })).sum).toBe(7); // prettier-ignore
    expect((await tenant.read('acme', { start: instant(at(0, 20) + 1) })).sum).toBe(7);
    expect((await tenant.read('acme', { end: instant(at(3, 40) + 1) })).sum).toBe(8);
    expect(tenant.statements).toBe(1);
  });

  test('another customer, meter version or tenant does not count', async () => {
    const tenant = await withUsage();
    const other = await withUsage();
    await tenant.use('bolt', 64, [at(3, 1)]);
    await tenant.use('acme', 128, [at(3, 1)], 'v2');
    await other.use('acme', 256, [at(3, 1)]);
    tenant.seals.watermarks[0] = other.seals.watermarks[0]!;
    expect((await tenant.read('acme')).sum).toBe(8);
    expect((await other.read('acme')).sum).toBe(264);
  });

  test('if ClickHouse refuses to read that many rows, buckets serve, and the next read goes to them at once', async () => {
    const tenant = await withUsage(1);
    expect((await tenant.read('acme')).sum).toBe(8);
    expect(tenant.statements).toBeGreaterThan(1);
    const first = tenant.statements;
    expect((await tenant.read('acme')).sum).toBe(8);
    expect(tenant.statements).toBeLessThan(first);
    // Another period is tried on its own.
    await tenant.read('acme', { start: instant(FIRST + DAY_MS) });
    expect(tenant.statements).toBeGreaterThan(1);
  });

  test('usage that grows beyond the limit is whole before and after', async () => {
    const tenant = await withUsage();
    await tenant.use(
      'acme',
      1,
      Array.from({ length: MANY }, (_, n) => at(2, 30) + n * 100),
    );
    expect((await tenant.read('acme')).sum).toBe(MANY + 8);
    await tenant.use(
      'acme',
      1,
      Array.from({ length: MANY }, (_, n) => at(1, 30) + n * 100),
    );
    await tenant.seal(TODAY);
    expect((await tenant.read('acme')).sum).toBe(2 * MANY + 8);
    expect((await tenant.read('acme')).sum).toBe(2 * MANY + 8);
    expect(tenant.statements).toBeGreaterThan(1);
  });

  test('an outage is an error, never an answer without usage', async () => {
    const tenant = await withUsage();
    tenant.rowsFail = true;
    await expect(tenant.read('acme')).rejects.toThrow('too many');
  });

  test('windows of days take one statement; windows of months and distinct values take buckets', async () => {
    const tenant = await withUsage();
    const window = { bucket_size: 'DAY', timezone: 'UTC', billing_anchor: null } as const;
    const days = await tenant.read('acme', { window });
    expect(days.sum).toBe(2);
    expect(tenant.statements).toBe(1);
    expect((await tenant.read('acme', { aggregation: 'COUNT_UNIQUE' })).sum).toBe(1);
    const months = { ...window, bucket_size: 'MONTH' } as const;
    const start = instant(FIRST - 60 * DAY_MS);
    expect((await tenant.read('acme', { window: months, start })).sum).toBe(8);
    expect(tenant.statements).toBeGreaterThan(1);
  });
});
