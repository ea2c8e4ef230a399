import { packPosition } from '../../domain/metering/position.ts';
import type { MeterSpec } from '../../domain/metering/usage.ts';
import { noteVerification, versionsInBackfill } from '../../postgres/tables/meter-backfills.ts';
import {
  createMeterVersion,
  endMeterVersion,
  listenForCatalogChanges,
  meterVersionsOf,
  readMeterCatalog,
} from '../../postgres/tables/meter-versions.ts';
import {
  packSeal,
  readUsageBounds,
  recordSeal,
  releaseSealer,
  renewSealer,
  takeSealer,
  UsageUnderRepair,
} from '../../postgres/tables/seals.ts';
import { moveProgress, takePartition } from '../../postgres/tables/stream-progress.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

const scope = { tenant_id: 'tenant_a', environment_id: 'env_a' };
const spec: MeterSpec = {
  event_name: 'request',
  aggregation: {
    type: 'COUNT',
    field: null,
    expression: null,
    multiplier: null,
    group_by: null,
    bucket_size: null,
  },
  filters: [],
  reset_usage: 'BILLING_PERIOD',
};

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase();
  await database.pool`insert into tenants (id, name) values ('tenant_a', 'A')`;
  await database.pool`
    insert into environments (id, tenant_id, name, type)
    values ('env_a', 'tenant_a', 'Production', 'production')`;
});
afterEach(() => database.drop());

const newVersion = (id: string, meterId = 'meter_a', of = scope) =>
  database.pool.begin((tx) =>
    createMeterVersion(tx, of, {
      id,
      meter_id: meterId,
      spec,
      dimensions: ['region', 'model', 'region'],
      created_by: 'user_a',
    }),
  );
const endVersion = (id: string, of = scope) =>
  database.pool.begin((tx) => endMeterVersion(tx, of, id, 'user_a'));

describe('meter catalog', () => {
  test('versions of a meter count up, dimensions are a sorted set', async () => {
    await newVersion('meterv_1');
    const second = await newVersion('meterv_2');
    const other = await newVersion('meterv_3', 'meter_b');
    expect(second).toMatchObject({
      version: 2,
      dimensions: ['model', 'region'],
      spec,
      backfill_state: 'waiting',
      backfill_total: null,
    });
    expect(other.version).toBe(1);
    const versions = await meterVersionsOf(database.pool, scope, ['meter_a']);
    expect(versions.map((version) => version.id)).toEqual(['meterv_2', 'meterv_1']);
  });

  test('an ended version leaves the catalog, whose number counts every change', async () => {
    expect(await readMeterCatalog(database.pool)).toEqual({ catalog_version: 0, versions: [] });
    await newVersion('meterv_1');
    await newVersion('meterv_2');
    expect(await endVersion('meterv_1')).toBe(true);
    const foreign = { ...scope, environment_id: 'env_b' };
    expect(await endVersion('meterv_2', foreign)).toBe(false);
    const catalog = await readMeterCatalog(database.pool);
    expect(catalog.versions.map((version) => version.id)).toEqual(['meterv_2']);
    expect(catalog.catalog_version).toBe(4);
  });

  test('a committed change is announced', async () => {
    let resolveNotice: () => void = () => {};
    const listening = await listenForCatalogChanges(database.pool, () => resolveNotice());
    const noticed = new Promise<void>((resolve) => (resolveNotice = resolve));
    await newVersion('meterv_1');
    await noticed;
    await listening.stop();
  });
});

test('backfills: one version of each tenant in turn, the newest of a meter before those that it replaced', async () => {
  const other = { tenant_id: 'tenant_b', environment_id: 'env_b' };
  await database.pool`insert into tenants (id, name) values ('tenant_b', 'B')`;
  await database.pool`
    insert into environments (id, tenant_id, name, type)
    values ('env_b', 'tenant_b', 'Production', 'production')`;
  for (const id of ['a1', 'a2', 'a3']) await newVersion(id);
  await newVersion('b1', 'meter_b', other);
  await newVersion('c1', 'meter_c');
  const versions = await versionsInBackfill(database.pool);
  expect(versions.map(({ id }) => id)).toEqual(['a3', 'b1', 'c1', 'a1', 'a2']);
});

describe('progress of a partition', () => {
  const at = { epoch: 0, partition: 3 };

  test('each assignment takes the next generation and finds the progress of the last', async () => {
    const first = await takePartition(database.pool, at);
    expect(first).toMatchObject({ generation: '1', nextOffset: 0n, catalogVersion: 0 });
    await moveProgress(database.pool, [
      { ...at, generation: '1', from: 0n, to: 7n, catalogVersion: 0 },
    ]);
    const second = await takePartition(database.pool, at);
    expect(second).toMatchObject({ generation: '2', nextOffset: 7n });
  });

  test('an earlier generation is refused, its neighbours move', async () => {
    await takePartition(database.pool, at);
    await takePartition(database.pool, at);
    await takePartition(database.pool, { epoch: 0, partition: 1 });
    const moved = await moveProgress(database.pool, [
      { ...at, generation: '1', from: 0n, to: 7n, catalogVersion: 0 },
      { epoch: 0, partition: 1, generation: '1', from: 0n, to: 2n, catalogVersion: 0 },
    ]);
    expect(moved).toEqual([1]);
    const bounds = await readUsageBounds(database.pool, []);
    expect(bounds.watermarks).toEqual({ 1: packPosition(0, 2n, 0), 3: 0n });
  });

  test('a batch that does not begin at the current progress is refused', async () => {
    await takePartition(database.pool, at);
    const gap = { ...at, generation: '1', from: 1n, to: 2n, catalogVersion: 0 };
    expect(await moveProgress(database.pool, [gap])).toEqual([]);
  });

  test('live_from and live_until are the start of the first batch with the new catalog', async () => {
    await takePartition(database.pool, at);
    const move = (from: bigint, to: bigint, catalogVersion: number) =>
      moveProgress(database.pool, [{ ...at, generation: '1', from, to, catalogVersion }]);
    const live = () =>
      database.pool`select meter_version_id as id, live_from, live_until from meter_live order by 1`;
    await move(0n, 5n, 0);
    await newVersion('meterv_1');
    await move(5n, 8n, 0);
    expect(await live()).toEqual([]);
    await move(8n, 8n, 1);
    expect(await live()).toEqual([{ id: 'meterv_1', live_from: '8', live_until: null }]);
    await newVersion('meterv_2');
    await endVersion('meterv_1');
    await move(8n, 9n, 3);
    await move(9n, 12n, 3);
    expect(await live()).toEqual([
      { id: 'meterv_1', live_from: '8', live_until: '8' },
      { id: 'meterv_2', live_from: '8', live_until: null },
    ]);
    expect((await takePartition(database.pool, at)).catalogVersion).toBe(3);
    const bounds = await readUsageBounds(database.pool, ['meterv_1', 'meterv_2']);
    expect(bounds.liveUntil).toEqual(new Map([['meterv_1', { 3: packPosition(0, 8n, 0) }]]));
  });

  test('no usage is read while a replay is due', async () => {
    await database.pool`insert into stream_replays values (0, 3, 1, 2)`;
    await expect(readUsageBounds(database.pool, [])).rejects.toThrow(UsageUnderRepair);
  });
});

describe('seals', () => {
  const record = (seal: bigint, watermarks = {}, completedVersions: string[] = []) =>
    recordSeal(database.pool, { seal, watermarks, listedSince: 1_000, completedVersions });

  test('one sealer at a time; after a released or expired lease the next generation begins', async () => {
    const first = await takeSealer(database.pool, 60);
    expect(first).toEqual({ generation: 1n, lastNumber: 0n, listedSince: null });
    expect(await takeSealer(database.pool, 60)).toBeNull();
    await releaseSealer(database.pool, 1n);
    expect(await takeSealer(database.pool, -1)).toMatchObject({ generation: 2n });
    expect(await takeSealer(database.pool, 60)).toMatchObject({ generation: 3n });
    expect(await renewSealer(database.pool, 2n, 60)).toBe(false);
    expect(await renewSealer(database.pool, 3n, 60)).toBe(true);
  });

  test('a seal counts from the time at which it is recorded, and only for later readers', async () => {
    await takeSealer(database.pool, 60);
    const before = await readUsageBounds(database.pool, []);
    const seal = packSeal(1n, 1n);
    expect(await record(seal, { 0: 1n << 60n })).toBe(true);
    expect(await before.vectorsOf([seal])).toEqual(new Map());
    const after = await readUsageBounds(database.pool, []);
    expect(await after.vectorsOf([seal, packSeal(2n, 1n)])).toEqual(
      new Map([[seal, { 0: 1n << 60n }]]),
    );
  });

  test('an earlier generation records nothing', async () => {
    await takeSealer(database.pool, -1);
    await takeSealer(database.pool, 60);
    expect(await record(packSeal(1n, 1n))).toBe(false);
    expect(await record(packSeal(2n, 1n))).toBe(true);
    expect(await record(packSeal(2n, 3n))).toBe(false);
  });

  test('buckets that were sealed from scratch are recounted, and complete if the recount is equal', async () => {
    await newVersion('meterv_1');
    await database.pool`update meter_versions set backfill_state = 'sealing'`;
    await takeSealer(database.pool, 60);
    await record(packSeal(1n, 1n), {}, ['meterv_1']);
    const version = async () => (await meterVersionsOf(database.pool, scope, ['meter_a']))[0]!;
    expect(await version()).toMatchObject({
      backfill_state: 'verifying',
      backfill_completed_at: null,
    });
    await noteVerification(database.pool, 1n, 'meterv_1', {
      events: 3,
      buckets: 2,
      withoutCustomers: 0,
      mismatched: 0,
      mismatches: [],
    });
    expect(await version()).toMatchObject({ backfill_state: 'complete' });
    expect((await version()).backfill_completed_at).not.toBeNull();
  });
});
