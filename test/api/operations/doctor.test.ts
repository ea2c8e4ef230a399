import { checkJobs, checkStores } from '../../../api/operations/doctor/store-checks.ts';
import { checkUsage } from '../../../api/operations/doctor/usage-checks.ts';
import { checkTable } from '../../../main/maintain/doctor.ts';
import { checkDisk, loopBlocks } from '../../../main/maintain/machine-checks.ts';
import type { PartitionPositions } from '../../../platform/event-log/event-log.ts';
import { endStop, noteStop } from '../../../postgres/tables/stream-stops.ts';
import { createTestClickHouse } from '../../support/clickhouse.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

/** A log of one partition with ten records. */
const ofTen: PartitionPositions = { epoch: 0, partition: 0, first: 0n, next: 10n, committed: null };
const progress = (next: number): Promise<unknown> => database.pool`
  insert into stream_progress (epoch, partition, generation, next_offset, catalog_version)
  values (0, 0, 1, ${next}, 1)
  on conflict (epoch, partition) do update set next_offset = excluded.next_offset`;
const usage = async (pause = async (): Promise<unknown> => undefined) => {
  const positions = async () => [ofTen];
  const deps = { db: database.pool, positions, pause: async () => void (await pause()) };
  const checks = await checkUsage(deps, null);
  return new Map(checks.map((each) => [each.name, each]));
};

describe('whether usage is current', () => {
  test('a stream that has passed every record has no lag', async () => {
    await progress(10);
    expect((await usage()).get('log lag')).toEqual({
      name: 'log lag',
      found: 'none',
      mend: null,
    });
  });

  test('a stream that is behind and moves is at work', async () => {
    await progress(4);
    const checks = await usage(() => progress(7));
    expect(checks.get('log lag')).toMatchObject({ found: '3 records', mend: null });
  });

  test('a stream that is behind and makes no progress is red', async () => {
    await progress(4);
    expect((await usage()).get('log lag')).toMatchObject({
      found: '6 records; no progress in 0/0',
      mend: expect.stringContaining('makes no progress'),
    });
  });

  test('a stopped partition is red, with its reason and the command to continue', async () => {
    expect((await usage()).get('stopped partitions')).toMatchObject({ found: 'none', mend: null });
    await noteStop(database.pool, { epoch: 0, partition: 0 }, 'log_too_short');
    expect((await usage()).get('stopped partitions')).toMatchObject({
      found: expect.stringMatching(/^0\/0 ./),
      mend: expect.stringContaining('maintain -- log'),
    });
    await endStop(database.pool, { epoch: 0, partition: 0 });
  });

  test('a pending replay is red, and so is a missing sealer', async () => {
    await database.pool`insert into stream_replays (epoch, partition, next_offset, until_offset) values (0, 0, 0, 5)`;
    const checks = await usage();
    expect(checks.get('replays under repair')!.mend).toContain('503');
    expect(checks.get('seals')!.mend).not.toBeNull();
    await database.pool`update sealer set leased_until = now() + interval '1 minute'`;
    expect((await usage()).get('seals')!.mend).toBeNull();
  });

  test('the meters are those of the scope', async () => {
    const scope = { tenant_id: 'tenant_none', environment_id: 'env_none' };
    const deps = { db: database.pool, positions: async () => [], pause: async () => {} };
    const checks = await checkUsage(deps, scope);
    expect(checks.find(({ name }) => name === 'meters')!.found).toBe(
      '0 not complete, 0 mismatched, 0 set aside',
    );
  });
});

describe('the stores and the jobs', () => {
  test('both stores answer; jobs that never ran are red', async () => {
    const { clickhouse, drop } = await createTestClickHouse();
    const checks = await checkStores(database.pool, clickhouse);
    await drop();
    expect(checks[0]!.found).toMatch(
      /^at most \d+ in a partition \(\w+\); inserts slow down at [1-9]\d+$/,
    );
    expect(checks.map(({ name, mend }) => [name, mend === null])).toEqual([
      ['ClickHouse parts', true],
      ['Postgres connections', true],
      ['searches by text', true],
      ['retention', true],
      ['jobs', false],
    ]);
  });

  test.each([
    ['ran a moment ago', null, 10, true],
    ['failed', 'too wide', 10, false],
    ['did not run for two days', null, 200_000, false],
    ['never ran', null, null, false],
  ])('a job that %s', (_what, last_error, seconds_since_start, isFine) => {
    const [found] = checkJobs([{ name: 'bill', last_error, seconds_since_start }]);
    expect(found!.mend === null).toBe(isFine);
  });
});

describe('the machine', () => {
  test('blocks of event loops are counted by route', () => {
    const metrics = `meterline_event_loop_blocks_total{route="/v1/events",role="serve"} 3
meterline_event_loop_blocks_total{route="/v1/plans",role="serve"} 0
nodejs_eventloop_lag_seconds{role="serve"} 0.5`;
    expect(loopBlocks(metrics)).toEqual([{ route: '/v1/events', count: 3 }]);
  });

  test('the disk is that of the directory', () => {
    expect(checkDisk('.').found).toMatch(/^[\d.]+ GB free \(\d+ %\) for \.$/);
  });

  test('the table is aligned, and the remedy follows its finding', () => {
    const checks = [
      { name: 'log lag', found: 'none', mend: null },
      { name: 'seals', found: 'no sealer is running', mend: 'start the stream' },
    ];
    expect(checkTable(checks)).toBe(`  ok   log lag  none
  RED  seals    no sealer is running
                → start the stream`);
  });
});
