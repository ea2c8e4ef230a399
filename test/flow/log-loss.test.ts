import {
  isUsageUnderRepair,
  readReplay,
  requestReplay,
} from '../../postgres/tables/stream-replays.ts';
import { readStops } from '../../postgres/tables/stream-stops.ts';
import { openNewEpoch } from '../../stream/open-new-epoch.ts';
import {
  createMeteringWorld,
  eventually,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { storedUsage } from '../support/usage-recount.ts';

let world: MeteringWorld;
beforeEach(async () => {
  world = await createMeteringWorld({ partitions: 2, leaseMs: 400 });
});
afterEach(() => world.close());

const events = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => usageEvent({ event_id: `event-${from + n}` }));
const send = (from: number, count: number) =>
  world.send(events(from, count), { eventsPerRecord: 2 });
/** The log as an earlier copy of it: the last records of a partition are gone, and their offsets with them. */
async function loseTail(partition: number, records: number): Promise<void> {
  const { pool } = world;
  await pool`
    update log_partitions set next_offset = next_offset - ${records} where partition = ${partition}`;
  await pool`
    delete from log_records r using log_partitions head
     where r.epoch = head.epoch and r.partition = head.partition and r."offset" >= head.next_offset`;
}
const progressOf = async (partition: number) => {
  const [row] = await world.pool`
    select next_offset, last_crc from stream_progress where epoch = 0 and partition = ${partition}`;
  return row;
};
const untilStopped = (partition: number, fault: string) =>
  eventually(async () => {
    expect(await readStops(world.pool)).toEqual([
      expect.objectContaining({ epoch: 0, partition, fault }),
    ]);
  });
const newEpoch = () =>
  openNewEpoch({
    pool: world.pool,
    eventLog: world.eventLog,
    store: world.store,
    say: () => {},
  });
const countedIds = async (versionId: string) =>
  (await storedUsage(world.clickhouse, versionId)).length;

describe('the log is not the one that was read', () => {
  test('it lost its tail: the partition stays stopped, also after new events', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const stream = await world.startStream();
    await send(0, 100);
    await world.untilPassed();
    await stream.close();
    await loseTail(0, 4);
    const before = await progressOf(0);

    await world.startStream();
    await untilStopped(0, 'log_too_short');
    await send(100, 60);
    await eventually(async () => expect(await progressOf(1)).not.toEqual(before));
    await untilStopped(0, 'log_too_short');
    expect(await progressOf(0)).toEqual(before);

    const went = await newEpoch();
    expect(went.epoch).toBe(1);
    await world.untilPassed();
    expect(await countedIds(version.id)).toBe(160);
    await send(0, 170);
    await world.untilPassed();
    expect(await countedIds(version.id)).toBe(170);
  });

  test('new events were appended before the stream restarted: the last record is a different one', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const stream = await world.startStream();
    await send(0, 100);
    await world.untilPassed();
    await stream.close();
    await loseTail(1, 2);
    await send(100, 60);
    await world.startStream();
    await untilStopped(1, 'another_record');
    await newEpoch();
    await world.untilPassed();
    expect(await countedIds(version.id)).toBe(160);
  });

  test('the database was restored to an earlier state: positions in the usage store are not assigned again', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const stream = await world.startStream();
    await send(0, 100);
    await world.untilPassed();
    const before = await progressOf(0);
    const [head] = await world.pool`select next_offset from log_partitions where partition = 0`;
    await send(100, 100);
    await world.untilPassed();
    await stream.close();
    const [later] = await world.pool`select next_offset from log_partitions where partition = 0`;
    // The events of partition 0 after the first hundred are in the usage store alone.
    await loseTail(0, Number(later!['next_offset']) - Number(head!['next_offset']));
    await world.pool`
      update stream_progress set next_offset = ${before!['next_offset']}, last_crc = ${before!['last_crc']}
       where epoch = 0 and partition = 0`;
    await send(200, 200);
    await world.startStream();
    await untilStopped(0, 'positions_used');
    await newEpoch();
    await world.untilPassed();
    expect(await countedIds(version.id)).toBe(400);
    await send(0, 410);
    await world.untilPassed();
    expect(await countedIds(version.id)).toBe(410);
  });

  test('records left the log unprocessed: the remaining ones are counted in a new epoch', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    await send(0, 100);
    for (const { partition, next } of await world.eventLog.positions('nobody'))
      if (partition === 0) await world.eventLog.truncate(0, next - 3n);
    await world.startStream();
    await untilStopped(0, 'records_missing');
    await newEpoch();
    await world.untilPassed();
    const left =
      await world.pool`select sum(event_count)::int as n from log_records where epoch = 0`;
    expect(await countedIds(version.id)).toBe(left[0]!['n']);
  });

  test('a record is missing in the middle while the partition is assigned: it stops, without further attempts', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    await world.startStream();
    await send(0, 100);
    await world.untilPassed();
    const before = await progressOf(0);
    // The next append of partition 0 leaves a gap of three offsets.
    await world.pool`update log_partitions set next_offset = next_offset + 3 where partition = 0`;
    await send(100, 60);
    await untilStopped(0, 'records_missing');
    expect(await progressOf(0)).toEqual(before);
    await newEpoch();
    await world.untilPassed();
    expect(await countedIds(version.id)).toBe(160);
  });

  test('records are missing in the range of a replay: it skips them after a new epoch', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const stream = await world.startStream();
    for (const from of [0, 100, 200]) {
      await send(from, 100);
      await world.untilPassed();
    }
    await stream.close();
    const [log] = await world.pool`
      select min("offset")::int as first, max("offset")::int as last from log_records where partition = 0`;
    const { first, last } = log as unknown as { first: number; last: number };
    const third = Math.floor((last - first) / 3);
    // Two gaps: the stream stops at each of them.
    const gaps = [first + third, first + 2 * third];
    await world.pool`delete from log_records where partition = 0 and "offset" = any(${gaps})`;
    expect(await requestReplay(world.pool)).toBe(2);
    await world.startStream();
    for (const gap of gaps) {
      await untilStopped(0, 'records_missing');
      const replay = await readReplay(world.pool, { epoch: 0, partition: 0 });
      expect(replay?.nextOffset).toBe(BigInt(gap));
      await newEpoch();
    }
    await eventually(async () => expect(await isUsageUnderRepair(world.pool)).toBe(false));
    expect(await readStops(world.pool)).toEqual([]);
    expect(await countedIds(version.id)).toBe(300);
    await send(300, 20);
    await world.untilPassed();
    expect(await countedIds(version.id)).toBe(320);
  });
});
