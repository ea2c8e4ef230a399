import { crc32 } from 'node:zlib';
import { createSetAsideStore } from '../../clickhouse/writing/set-aside.ts';
import { partitionOf, slotOf, slotScope } from '../../schemas/events/slot.ts';
import { encodeEvents } from '../../schemas/events/usage-event.ts';
import { retakeSetAside } from '../../stream/retake-set-aside.ts';
import {
  createMeteringWorld,
  eventually,
  SCOPE,
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
const homeOf = (id: string) =>
  partitionOf(slotOf(slotScope(SCOPE.tenant_id, SCOPE.environment_id), id), 2);

/** A whole record whose schema no process of today knows. */
function recordOfNewerSchema(): Buffer {
  const record = encodeEvents([usageEvent({ event_id: 'from-the-future' })]);
  record.fill(0x5a, 2, 10);
  record.writeUInt32LE(crc32(record.subarray(0, record.length - 4)), record.length - 4);
  return record;
}
const progressOf = async (partition: number) => {
  const [row] = await world.pool`
    select next_offset from stream_progress where epoch = 0 and partition = ${partition}`;
  return row?.['next_offset'];
};

describe('records that this process cannot read', () => {
  test('a record of a newer schema waits and blocks its partition; earlier records count', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const home = homeOf('event-0');
    const before = events(0, 40).filter(({ event_id }) => homeOf(event_id) === home);
    await world.eventLog.append([
      { partition: home, value: encodeEvents(before), eventCount: before.length },
      { partition: home, value: recordOfNewerSchema(), eventCount: 1 },
      { partition: home, value: encodeEvents(events(100, 1)), eventCount: 1 },
    ]);
    const stream = await world.startStream();
    await eventually(async () => expect(await stream.health()).toBe('down'));
    await eventually(async () => expect(await progressOf(home)).toBe('1'));
    // It is tried again and again, and nothing is set aside.
    await eventually(async () => {
      const [row] = await world.pool`
        select generation::int as n from stream_progress where partition = ${home}`;
      expect(row!['n']).toBeGreaterThan(3);
    });
    expect(await createSetAsideStore(world.clickhouse).counts()).toEqual([]);
    expect(await progressOf(home)).toBe('1');
    expect(await storedUsage(world.clickhouse, version.id)).toHaveLength(before.length);
  });

  test('records that were set aside are counted per tenant, and processed again when they can be read', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const stream = await world.startStream();
    // An older version set this one aside; this version reads it.
    const readable = encodeEvents(events(0, 5));
    await world.store.appendRejected([
      {
        tenant_id: '',
        environment_id: '',
        event_id: '',
        event_name: '',
        external_customer_id: '',
        meter_version_id: '',
        partition: 1,
        position: 7n << 16n,
        ingested_at: 0,
        reason: 'undecodable_record',
        message: 'unknown schema',
        raw: readable.toString('base64'),
      },
    ]);
    await world.eventLog.append([
      { partition: 0, value: Buffer.from('no record at all'), eventCount: 1 },
      {
        partition: 0,
        value: encodeEvents([usageEvent({ event_id: 'early', timestamp: -1 })]),
        eventCount: 1,
      },
    ]);
    await world.untilPassed();
    expect(await stream.health()).toBe('up');
    const setAside = createSetAsideStore(world.clickhouse);
    expect(await setAside.counts()).toEqual([
      { tenant_id: '', environment_id: '', reason: 'undecodable_record', count: 2 },
      { ...SCOPE, reason: 'malformed_event', count: 1 },
    ]);
    const lines: string[] = [];
    const retake = () =>
      retakeSetAside({ eventLog: world.eventLog, setAside, say: (line) => lines.push(line) });
    expect(await retake()).toEqual({ taken: 1, left: 2 });
    expect(lines).toHaveLength(2);
    await world.untilPassed();
    expect(await storedUsage(world.clickhouse, version.id)).toHaveLength(5);
    expect(await retake()).toEqual({ taken: 0, left: 2 });
    expect(await storedUsage(world.clickhouse, version.id)).toHaveLength(5);
  });
});
