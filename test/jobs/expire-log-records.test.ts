import { expireLogRecords } from '../../jobs/expire-log-records.ts';
import { runJob } from '../../jobs/run-job.ts';
import type { EventLog } from '../../platform/event-log/event-log.ts';
import { createLogger } from '../../platform/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());
beforeEach(() => database.pool`truncate stream_progress_history, stream_replays, job_leases`);

/** The part of a log that the job may use; it remembers what was dropped. */
function truncatingLog(epoch = 0) {
  const dropped: [number, bigint][] = [];
  const unused = () => Promise.reject(new Error('the job must not use this'));
  const eventLog: EventLog = {
    epoch,
    partitions: 4,
    append: unused,
    consume: unused,
    epochs: unused,
    positions: unused,
    close: unused,
    async truncate(partition, offset) {
      dropped.push([partition, offset]);
    },
  };
  return { eventLog, dropped };
}

const noteProgress = (partition: number, hoursAgo: number, offset: number, epoch = 0) =>
  database.pool`
    insert into stream_progress_history (epoch, partition, minute, next_offset)
    values (${epoch}, ${partition}, now() - make_interval(mins => ${hoursAgo * 60}::int), ${offset})`;

async function expire(epoch = 0) {
  const { eventLog, dropped } = truncatingLog(epoch);
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
    expect(await expire()).toEqual({ report: { partitions: 1 }, dropped: [[0, 250n]] });
  });

  test('what a pending replay has yet to read stays', async () => {
    await noteProgress(0, 30, 300);
    await database.pool`
      insert into stream_replays (epoch, partition, next_offset, until_offset) values (0, 0, 120, 400)`;
    expect((await expire()).dropped).toEqual([[0, 120n]]);
  });

  test('another epoch has bounds of its own', async () => {
    await noteProgress(0, 30, 300, 0);
    await noteProgress(0, 30, 7, 1);
    expect((await expire(1)).dropped).toEqual([[0, 7n]]);
  });

  test('a stream that has moved nothing keeps everything', async () => {
    expect((await expire()).dropped).toEqual([]);
  });

  test('old notes are forgotten, but never the one that is the bound', async () => {
    await noteProgress(0, 90, 10);
    await noteProgress(0, 80, 20);
    await noteProgress(1, 90, 5);
    await noteProgress(1, 2, 6);
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
