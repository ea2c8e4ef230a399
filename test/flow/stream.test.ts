import { partitionOf, slotOf, slotScope } from '../../schemas/events/slot.ts';
import { encodeEvents, type UsageEvent } from '../../schemas/events/usage-event.ts';
import {
  eventually,
  createMeteringWorld,
  recordsOf,
  SCOPE,
  usageEvent,
  type MeteringWorld,
} from '../support/metering-world.ts';
import { readLog, recount, storedUsage } from '../support/usage-recount.ts';

const DAY_MS = 86_400_000;

describe('from the log to usage rows', () => {
  let world: MeteringWorld;
  beforeEach(async () => {
    world = await createMeteringWorld({ partitions: 2 });
  });
  afterEach(() => world.close());

  const raw = (eventId: string) =>
    world.clickhouse.rows<[string, number, boolean]>({
      sql: `select properties, toUnixTimestamp64Milli(timestamp) as at, is_canonical
              from events_raw_v1 final where event_id = {id:String} order by position`,
      params: { id: eventId },
    });
  const rejected = () =>
    world.clickhouse.rows<[string, string, string, string]>({
      sql: `select event_id, reason, meter_version_id, raw from events_rejected_v1 final
             order by event_id, reason, meter_version_id`,
      params: {},
    });
  const expectExact = async (...versionIds: Parameters<typeof recount>[1][]) => {
    const log = await readLog(world.pool);
    for (const version of versionIds)
      expect(await storedUsage(world.clickhouse, version.id)).toEqual(recount(log, version));
  };

  test('every aggregation type gets the rows that a naive recount finds, once each', async () => {
    const versions = [
      await world.createMeter({ type: 'COUNT' }),
      await world.createMeter({ type: 'SUM', field: 'tokens', group_by: 'model' }),
      await world.createMeter({ type: 'COUNT_UNIQUE', field: 'user' }),
      await world.createMeter({ type: 'SUM', expression: 'tokens * 2' }),
      await world.createMeter({
        type: 'MAX',
        field: 'tokens',
        filters: [{ key: 'region', values: ['eu', 'us'] }],
      }),
    ];
    await world.startStream();
    const events = Array.from({ length: 2_000 }, (_, n) =>
      usageEvent({
        event_id: `event-${n % 1_800}`,
        external_customer_id: `customer-${n % 7}`,
        timestamp: Date.UTC(2026, 9, 1) + n * 977_000,
        properties: JSON.stringify({
          tokens: n % 5 === 0 ? `${n}.25` : n,
          model: ['small', 'large'][n % 2],
          user: `user-${n % 31}`,
          ...(n % 3 === 0 ? {} : { region: ['eu', 'us', 'asia'][n % 3] }),
        }),
      }),
    );
    for (let at = 0; at < events.length; at += 200) await world.send(events.slice(at, at + 200));
    await world.untilPassed();
    const log = await readLog(world.pool);
    for (const version of versions) expect(recount(log, version).length).toBeGreaterThan(500);
    await expectExact(...versions);
  });

  test('one id 1,000 times, with other times, customers and payloads, is the first copy', async () => {
    const count = await world.createMeter({ type: 'COUNT' });
    const sum = await world.createMeter({ type: 'SUM', field: 'tokens' });
    const copies = Array.from({ length: 1_000 }, (_, n) =>
      usageEvent({
        event_id: 'often',
        external_customer_id: `customer-${n % 4}`,
        timestamp: Date.UTC(2026, 9, 15) + (((n * 37) % 61) - 30) * DAY_MS,
        properties: JSON.stringify({ tokens: 1_000 + n }),
      }),
    );
    await world.startStream({ batchEvents: 90 });
    // One by one, in bulk, and as an import would send them, with a pause of the stream in between.
    for (const copy of copies.slice(0, 40)) await world.send([copy]);
    await world.untilPassed();
    await world.send(copies.slice(40, 500));
    await world.send(copies.slice(500), { eventsPerRecord: 7 });
    await world.untilPassed();

    expect((await storedUsage(world.clickhouse, count.id)).length).toBe(1);
    expect(await storedUsage(world.clickhouse, sum.id)).toEqual([
      expect.stringMatching(/^customer-0 \d+ 1000 /),
    ]);
    const stored = await raw('often');
    expect(stored.length).toBe(1_000);
    expect(stored.map(([, , isCanonical]) => isCanonical)).toEqual(
      stored.map((_, place) => place === 0),
    );
  });

  test('the same id of two environments is two events', async () => {
    await world.startStream();
    await world.send([
      usageEvent({ event_id: 'shared' }),
      usageEvent({ event_id: 'shared', environment_id: 'env_b' }),
    ]);
    await world.untilPassed();
    expect((await raw('shared')).map(([, , isCanonical]) => isCanonical)).toEqual([true, true]);
  });

  test('one batch over twenty years of timestamps', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    await world.startStream({ batchEvents: 5_000, batchWaitMs: 300 });
    const events = Array.from({ length: 480 }, (_, n) =>
      usageEvent({ event_id: `month-${n}`, timestamp: Date.UTC(2006, n % 240, 1 + (n % 28)) }),
    );
    await world.send(events);
    await world.untilPassed();
    await expectExact(version);
  });

  test.each([
    ['the filter rebuilt from the index', true],
    ['every id looked up', false],
  ])('an id of 40 days ago, gone from the log and from memory: %s', async (_, hasFilter) => {
    const version = await world.createMeter({ type: 'COUNT' });
    const first = await world.startStream();
    const events = Array.from({ length: 300 }, (_, n) => usageEvent({ event_id: `old-${n}` }));
    await world.send(events);
    await world.untilPassed();
    await first.close();
    const before = await storedUsage(world.clickhouse, version.id);
    expect(before.length).toBe(300);
    for (const { partition, next } of await world.eventLog.positions('nobody'))
      await world.eventLog.truncate(partition, next);

    const store = hasFilter ? world.store : { ...world.store, indexedSlots: scanThatFails };
    await world.startStream({}, store);
    await world.send(
      events.map((event) => ({ ...event, timestamp: event.timestamp + 40 * DAY_MS })),
    );
    await world.untilPassed();
    expect(await storedUsage(world.clickhouse, version.id)).toEqual(before);
  });

  test('clocks of edges that differ by ten minutes do not decide which copy counts', async () => {
    const version = await world.createMeter({ type: 'SUM', field: 'tokens' });
    await world.startStream();
    const copy = (tokens: number, skewMs: number) =>
      usageEvent({
        event_id: 'skewed',
        properties: JSON.stringify({ tokens }),
        ingested_at: Date.UTC(2026, 9, 15, 12) + skewMs,
      });
    await world.send([copy(1, 600_000)]);
    await world.send([copy(2, -600_000)]);
    await world.untilPassed();
    expect(await storedUsage(world.clickhouse, version.id)).toEqual([
      expect.stringContaining(' 1 '),
    ]);
  });

  test('a poison event in a good record and a poison record between good ones are set aside', async () => {
    const version = await world.createMeter({ type: 'COUNT' });
    const sum = await world.createMeter({ type: 'SUM', field: 'tokens' });
    await world.startStream();
    const home = partitionOfEvent('good-0');
    const neighbours = [0, 1, 2, 3, 4, 5, 6, 7]
      .map((n) => usageEvent({ event_id: `good-${n}`, properties: '{"tokens":1}' }))
      .filter((event) => partitionOfEvent(event.event_id) === home);
    const poison: UsageEvent[] = [
      usageEvent({ event_id: 'before-1970', timestamp: -1 }),
      usageEvent({ event_id: 'far-away', timestamp: 20_000_000_000_000 }),
      usageEvent({ event_id: 'no-scope', tenant_id: '' }),
      usageEvent({ event_id: '' }),
      usageEvent({ event_id: 'odd-clock', ingested_at: -5 }),
      usageEvent({ event_id: 'no-object', properties: '[1]' }),
      usageEvent({ event_id: 'no-json', properties: '{"tokens":' }),
    ];
    const record = (events: readonly UsageEvent[]) => ({
      partition: home,
      value: encodeEvents(events),
      eventCount: events.length,
    });
    const good = record(neighbours.slice(1));
    await world.eventLog.append([
      record([neighbours[0]!, ...poison]),
      { partition: home, value: Buffer.from('no record at all'), eventCount: 1 },
      { partition: home, value: good.value.subarray(0, good.value.length - 3), eventCount: 1 },
      good,
    ]);
    await world.untilPassed();

    const ids = neighbours.map((event) => event.event_id).sort();
    const sums = await storedUsage(world.clickhouse, sum.id);
    expect(sums.length).toBe(ids.length);
    // COUNT does not look at the properties, so events with unreadable ones are events.
    expect((await storedUsage(world.clickhouse, version.id)).length).toBe(ids.length + 2);
    const found = await rejected();
    expect(found.map(([id, reason, meter]) => [id, reason, meter === sum.id])).toEqual([
      ['', 'malformed_event', false],
      ['', 'undecodable_record', false],
      ['', 'undecodable_record', false],
      ['before-1970', 'malformed_event', false],
      ['far-away', 'malformed_event', false],
      ['no-json', 'properties_unreadable', true],
      ['no-object', 'properties_unreadable', true],
      ['no-scope', 'malformed_event', false],
      ['odd-clock', 'malformed_event', false],
    ]);
    const bytes = found
      .filter(([, reason]) => reason === 'undecodable_record')
      .map((row) => row[3]);
    expect(bytes.map((text) => Buffer.from(text, 'base64').toString())).toContain(
      'no record at all',
    );
  });

  test('an event without a usable value is shown with its reason and counts for other meters', async () => {
    const count = await world.createMeter({ type: 'COUNT' });
    const sum = await world.createMeter({ type: 'SUM', field: 'tokens' });
    await world.startStream();
    await world.send([
      usageEvent({ event_id: 'a-missing' }),
      usageEvent({ event_id: 'b-text', properties: '{"tokens":"many"}' }),
      usageEvent({ event_id: 'c-large', properties: '{"tokens":"123456789012345678901"}' }),
      usageEvent({ event_id: 'd-fine', properties: '{"tokens":" 12.50 "}' }),
    ]);
    await world.untilPassed();
    expect((await rejected()).map(([id, reason]) => [id, reason])).toEqual([
      ['a-missing', 'value_missing'],
      ['b-text', 'value_not_numeric'],
      ['c-large', 'value_out_of_range'],
    ]);
    expect((await storedUsage(world.clickhouse, count.id)).length).toBe(4);
    expect(await storedUsage(world.clickhouse, sum.id)).toEqual([
      expect.stringContaining(' 12.5 '),
    ]);
    // One notice for each reason; all carry the event.
    await eventually(async () => {
      const notices = await world.pool<{ event: object }[]>`
        select payload -> 'event' as event from outbox
         where event_type = 'event.rejected' and payload #>> '{event,reason}' = 'value_not_numeric'`;
      expect(notices).toEqual([
        {
          event: expect.objectContaining({
            id: 'b-text',
            customer_id: null,
            external_customer_id: 'acme',
            source: '',
            timestamp: '2026-10-15T12:00:00.000Z',
            properties: { tokens: 'many' },
            count: 1,
          }),
        },
      ]);
    });
  });

  test('texts with quotes, line breaks or control bytes are returned unchanged', async () => {
    await world.createMeter({ type: 'SUM', field: 'tokens', group_by: 'model' });
    await world.startStream();
    const texts = [
      '"',
      '\\',
      '\n\r\t\0',
      '\u2028\u2029',
      '😀',
      '[1,"x"]',
      "';drop table x;--",
      '{a}',
    ];
    const events = texts.map((text, n) =>
      usageEvent({
        event_id: `text-${n}-${text}`,
        external_customer_id: text,
        source: text,
        event_name: 'request',
        properties: JSON.stringify({ tokens: 1, model: text, nested: { deep: [text] } }),
      }),
    );
    await world.send(events);
    await world.untilPassed();
    const stored = await world.clickhouse.rows<[string, string, string, string]>({
      sql: `select event_id, external_customer_id, source, properties from events_raw_v1 final`,
      params: {},
    });
    const expected = events.map((event) => [
      event.event_id,
      event.external_customer_id,
      event.source,
      event.properties,
    ]);
    expect(stored.map(String).sort()).toEqual(expected.map(String).sort());
    const usage = await world.clickhouse.rows<[string, string[]]>({
      sql: `select external_customer_id, dimensions from meter_usage_v1 final`,
      params: {},
    });
    expect(usage.map(String).sort()).toEqual(texts.map((text) => `${text},${text}`).sort());
  });

  describe('a void', () => {
    const voids = () =>
      world.clickhouse.rows<[string, string, string, string]>({
        sql: `select event_id, meter_version_id, external_customer_id, toString(target_position < position)
                from usage_void_v1 final order by event_id, meter_version_id`,
        params: {},
      });
    const voiding = (eventId: string) =>
      usageEvent({
        kind: 'void',
        event_id: eventId,
        event_name: '',
        external_customer_id: '',
        timestamp: 0,
      });

    test.each([
      ['in the same batch', false],
      ['in a later one', true],
    ])('takes its target back for every meter that counted it, %s', async (_, later) => {
      const count = await world.createMeter({ type: 'COUNT' });
      const other = await world.createMeter({ type: 'COUNT', event_name: 'transfer' });
      await world.startStream({ batchWaitMs: later ? 10 : 300 });
      await world.send([
        usageEvent({ event_id: 'wrong', external_customer_id: 'beta' }),
        usageEvent({ event_id: 'uncounted', event_name: 'nobody counts this' }),
        usageEvent({ event_id: 'right' }),
      ]);
      if (later) await world.untilPassed();
      await world.send([
        voiding('wrong'),
        voiding('wrong'),
        voiding('uncounted'),
        voiding('never'),
      ]);
      await world.send([usageEvent({ event_id: 'never' })]);
      await world.untilPassed();
      const found = await voids();
      expect(found).toEqual([
        ['uncounted', '', '', '1'],
        ['wrong', count.id, 'beta', '1'],
        ['wrong', count.id, 'beta', '1'],
      ]);
      expect(await storedUsage(world.clickhouse, other.id)).toEqual([]);
      // A void before its event takes nothing back: the event counts, the void is shown.
      expect((await storedUsage(world.clickhouse, count.id)).length).toBe(3);
      expect(await rejected()).toEqual([['never', 'void_target_unknown', '', '']]);
    });
  });
});

async function* scanThatFails(): AsyncGenerator<Buffer> {
  throw new Error('the index cannot be scanned');
}

function partitionOfEvent(eventId: string): number {
  return partitionOf(slotOf(slotScope(SCOPE.tenant_id, SCOPE.environment_id), eventId), 2);
}

describe('records that the edge makes', () => {
  test('hold events of their partition alone', () => {
    const events = Array.from({ length: 50 }, (_, n) => usageEvent({ event_id: `e${n}` }));
    const records = recordsOf(events, 2, 10);
    expect(records.reduce((sum, record) => sum + record.eventCount, 0)).toBe(50);
    expect(new Set(records.map((record) => record.partition))).toEqual(new Set([0, 1]));
  });
});
