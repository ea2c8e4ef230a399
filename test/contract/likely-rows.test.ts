import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';
import { at, DAY_MS, TODAY, UsageTenant } from './usage/usage-tenant.ts';

describe('the rows of a day that is not sealed are read with its marks', () => {
  let world: TestClickHouse;
  let tenants = 0;
  beforeAll(async () => {
    world = await createTestClickHouse();
  });
  afterAll(() => world.drop());

  /** Each day of `acme` and `bolt` has 2 events of 1; today is not sealed; one read was made. */
  const opened = async (): Promise<UsageTenant> => {
    tenants += 1;
    const tenant = new UsageTenant(world.clickhouse, `tenant_${tenants}`, tenants * 10_000, 0);
    for (const customer of ['acme', 'bolt'])
      await tenant.use(customer, 1, [0, 1, 2, 3].flatMap((day) => [at(day, 20), at(day, 40)])); // prettier-ignore
    await tenant.seal(TODAY);
    expect((await tenant.read('acme')).sum).toBe(8);
    return tenant;
  };

  test('in one round, also of another customer, whose first event of the day is earlier', async () => {
    const tenant = await opened();
    await tenant.use('bolt', 4, [at(3, 1)]);
    expect(await tenant.read('bolt')).toEqual({ sum: 12, rounds: 1 });
    expect(await tenant.read('nobody')).toEqual({ sum: 0, rounds: 1 });
  });

  test('a late event in a sealed day counts, and then today is read in one round again', async () => {
    const tenant = await opened();
    await tenant.use('acme', 16, [at(1, 21)]);
    expect((await tenant.read('acme')).sum).toBe(24);
    await tenant.seal(TODAY);
    expect((await tenant.read('acme')).sum).toBe(24);
    expect(await tenant.read('acme')).toEqual({ sum: 24, rounds: 1 });
  });

  test('an event of today that is taken back does not count, before and after the seal', async () => {
    const tenant = await opened();
    const [row] = await tenant.use('acme', 32, [at(3, 50)]);
    expect(await tenant.read('acme')).toEqual({ sum: 40, rounds: 1 });
    await tenant.takeBack(row!);
    expect(await tenant.read('acme')).toEqual({ sum: 8, rounds: 1 });
    await tenant.seal(TODAY + DAY_MS);
    expect((await tenant.read('acme')).sum).toBe(8);
  });

  test('quarter hours that were sealed meanwhile count once; a late event before them counts', async () => {
    const tenant = await opened();
    await tenant.seal(at(3, 30), ['15MIN']);
    await tenant.use('acme', 2, [at(3, 60)]);
    expect(await tenant.read('acme')).toEqual({ sum: 10, rounds: 1 });
    // From here on the rows of the sealed quarter hours are left alone.
    expect(await tenant.read('bolt')).toEqual({ sum: 8, rounds: 1 });
    await tenant.use('bolt', 64, [at(3, 2)]);
    expect((await tenant.read('bolt')).sum).toBe(72);
    expect(await tenant.read('bolt')).toEqual({ sum: 72, rounds: 1 });
    expect((await tenant.read('acme')).sum).toBe(10);
  });

  test('a day that is sealed meanwhile counts once', async () => {
    const tenant = await opened();
    await tenant.seal(TODAY + DAY_MS);
    expect((await tenant.read('acme')).sum).toBe(8);
  });

  test('the range of the query cuts the rows', async () => {
    const tenant = await opened();
    const end = new Date(at(3, 40)).toISOString();
    expect(await tenant.read('acme', { end })).toEqual({ sum: 7, rounds: 1 });
    const start = new Date(at(3, 20) + 1).toISOString();
    expect((await tenant.read('acme', { start })).sum).toBe(1);
  });

  test('usage of an edited meter: rows of the ended version beyond its end do not count', async () => {
    const tenant = await opened();
    tenant.seals.liveUntil.set('v1', { ...tenant.seals.watermarks });
    await tenant.use('acme', 128, [at(3, 70)]);
    await tenant.use('acme', 256, [at(3, 70)], 'v2');
    expect(await tenant.read('acme')).toEqual({ sum: 8, rounds: 1 });
    expect(await tenant.read('acme', { meter_version_id: 'v2' })).toEqual({ sum: 256, rounds: 1 });
  });

  test('another tenant with the same customer, day and meter version does not count', async () => {
    const tenant = await opened();
    const other = await opened();
    await other.use('acme', 512, [at(3, 50)]);
    tenant.seals.watermarks[0] = other.seals.watermarks[0]!;
    expect((await tenant.read('acme')).sum).toBe(8);
    expect((await other.read('acme')).sum).toBe(520);
  });

  test('if the rows cannot be read that early, nothing is missing: the read fails or is whole', async () => {
    const tenant = await opened();
    tenant.rowsFail = true;
    await expect(tenant.read('acme')).rejects.toThrow();
    tenant.rowsFail = false;
    expect(await tenant.read('acme')).toEqual({ sum: 8, rounds: 1 });
  });
});
