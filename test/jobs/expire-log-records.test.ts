import { expireLogRecords } from '../../jobs/expire-log-records.ts';
import { runJob } from '../../jobs/run-job.ts';
import type { EventLog } from '../../platform/event-log/event-log.ts';
import { createLogger } from '../../platform/log.ts';
import { noteIdleProgress } from '../../postgres/tables/stream-progress.ts';
import { requestReplay } from '../../postgres/tables/stream-replays.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(
  () =>
    database.pool`truncate stream_progress, stream_progress_history, stream_replays, job_leases`,
);

/** The part of a log that the job may use; it remembers what was dropped. */
function truncatingLog(epochs: readonly number[]) {
  const dropped: [epoch: number, partition: number, offset: bigint][] = [];
  const unused = () => Promise.reject(new Error('the job must not use this'));
  const eventLog: EventLog = {
    epoch: 0,
    partitions: 4,
    append: unused,
    consume: unused,
    epochs: async () => epochs.map((epoch) => ({ epoch, partitions: 4, ends: null })),
    positions: unused,
    async *read() {},
    close: unused,
    async truncate(partition, offset, epoch) {
      dropped.push([epoch!, partition, offset]);
    },
  };
  return { eventLog, dropped };
}

const noteProgress = (partition: number, hoursAgo: number, offset: number, epoch = 0) =>
  database.pool`
    insert into stream_progress_history (epoch, partition, minute, next_offset)
    values (${epoch}, ${partition}, now() - make_interval(mins => ${hoursAgo * 60}::int), ${offset})`;

/** The position of a partition, and when it last moved. */
const stands = (partition: number, hoursAgo: number, offset: number, epoch = 0) =>
  database.pool`
    insert into stream_progress (epoch, partition, generation, next_offset, catalog_version, updated_at)
    values (${epoch}, ${partition}, 1, ${offset}, 0, now() - make_interval(mins => ${hoursAgo * 60}::int))`;

async function expire(...epochs: number[]) {
  const { eventLog, dropped } = truncatingLog(epochs.length === 0 ? [0] : epochs);
  const runner = {
    pool: database.pool,
    log: createLogger('silent', 'test'),
    holder: 'test',
    now: async () => '2026-03-01T00:00:00.000Z',
  };
  const deps = { pool: database.pool, eventLog };
  const report = await runJob(runner, expireLogRecords, deps, '2026-03-01T00:00:00.000Z');
  return { report, dropped };
}

describe('records leave the log 24 hours after the stream has passed them', () => {
  test('the newest progress that is 24 hours old is the bound; younger progress keeps its records', async () => {
    await noteProgress(0, 30, 100);
    await noteProgress(0, 25, 250);
    await noteProgress(0, 23, 900);
    await noteProgress(2, 1, 40);
    await stands(0, 0, 950);
    await stands(2, 0, 50);
    expect(await expire()).toEqual({ report: { partitions: 1 }, dropped: [[0, 0, 250n]] });
  });

  test('time in which nothing ran does not count: 25 hours off, and the last day is still there', async () => {
    await noteProgress(0, 30, 98);
    await noteProgress(0, 49, 40);
    await stands(0, 25, 103);
    expect((await expire()).dropped).toEqual([[0, 0, 40n]]);
    expect(await requestReplay(database.pool)).toBe(1);
    const [replay] = await database.pool`select next_offset, until_offset from stream_replays`;
    expect(replay).toEqual({ next_offset: '40', until_offset: '103' });
  });

  test('an idle partition is emptied when the stream has run for 24 hours more', async () => {
    await stands(0, 26, 103);
    await noteProgress(0, 27, 90);
    await noteProgress(0, 1, 103);
    expect((await expire()).dropped).toEqual([[0, 0, 103n]]);
  });

  test('a running stream notes the progress of idle partitions, for a day', async () => {
    await stands(0, 2, 103);
    await stands(1, 30, 55);
    await noteProgress(1, 4, 55);
    await noteIdleProgress(database.pool);
    const notes = await database.pool`
      select partition, next_offset from stream_progress_history where minute > now() - interval '1 hour'`;
    expect(notes).toEqual([{ partition: 0, next_offset: '103' }]);
  });

  test('records that a pending replay has not read stay', async () => {
    await noteProgress(0, 30, 300);
    await stands(0, 0, 400);
    await database.pool`
      insert into stream_replays (epoch, partition, next_offset, until_offset) values (0, 0, 120, 400)`;
    expect((await expire()).dropped).toEqual([[0, 0, 120n]]);
  });

  test('every epoch has bounds of its own, closed ones too', async () => {
    await noteProgress(0, 30, 300, 0);
    await noteProgress(0, 30, 7, 1);
    await stands(0, 0, 300, 0);
    await stands(0, 0, 9, 1);
    expect((await expire(0, 1)).dropped).toEqual([
      [0, 0, 300n],
      [1, 0, 7n],
    ]);
  });

  test('a stream that has moved nothing keeps everything', async () => {
    expect((await expire()).dropped).toEqual([]);
  });

  test('old notes are forgotten, but never the one that is the bound', async () => {
    await noteProgress(0, 90, 10);
    await noteProgress(0, 80, 20);
    await noteProgress(1, 90, 5);
    await noteProgress(1, 2, 6);
    await stands(0, 0, 30);
    await stands(1, 0, 8);
    await expire();
    const left = await database.pool`
      select partition, next_offset from stream_progress_history order by partition, minute`;
    expect(left.map((row) => [row['partition'], row['next_offset']])).toEqual([
      [0, '20'],
      [1, '5'],
      [1, '6'],
    ]);
  });
});
