import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import {
  createEventReader,
  type EventReader,
  type EventSearch,
} from '../../clickhouse/reading/event-reader.ts';
import type { RawUsageQuestion } from '../../clickhouse/reading/aggregate-raw-events.ts';
import { NO_HASH, type RawEventRow } from '../../clickhouse/rows.ts';
import type { UsageStore } from '../../clickhouse/writing/usage-store.ts';
import { aggregate, type MeteredUsage } from '../../domain/metering/aggregate.ts';
import { extractNumber, extractUniqueValue } from '../../domain/metering/extract.ts';
import { compileFilters } from '../../domain/metering/match.ts';
import { packPosition } from '../../domain/metering/position.ts';
import { AGGREGATION_TYPES, BUCKET_SIZES } from '../../domain/metering/usage.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' };
const at = (offset: number) => packPosition(0, BigInt(offset), 0);
const JAN = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;

const raw = (offset: number, given: Partial<RawEventRow> = {}): RawEventRow => ({
  ...SCOPE,
  event_name: 'call',
  external_customer_id: 'acme',
  customer_id: '',
  timestamp: JAN + offset * HOUR,
  event_id: `e${offset}`,
  source: '',
  properties: '{}',
  ingested_at: JAN + offset * 1_000,
  partition: 0,
  position: at(offset),
  is_canonical: true,
  ...given,
});

const search = (given: Partial<EventSearch> = {}): EventSearch => ({
  ...SCOPE,
  external_customer_id: null,
  event_name: null,
  event_id: null,
  source: null,
  outcome: null,
  start: JAN,
  end: JAN + 1_000 * HOUR,
  property_filters: {},
  sort: 'timestamp',
  order: 'desc',
  cursor: null,
  limit: 50,
  offset: 0,
  ...given,
});

describe('event reader', () => {
  let test_: TestClickHouse;
  let store: UsageStore;
  let reader: EventReader;
  beforeEach(async () => {
    test_ = await createTestClickHouse();
    store = createUsageStore(test_.clickhouse);
    reader = createEventReader(test_.clickhouse);
  });
  afterEach(() => test_.drop());
  const found = async (given: Partial<EventSearch>) =>
    (await reader.search(search(given))).events.map((event) => event.event_id);

  test('history: copies newest first, the canonical copy, and what was metered, rejected and voided', async () => {
    const copies = Array.from({ length: 60 }, (_, n) =>
      raw(n, { event_id: 'same', is_canonical: n === 0, external_customer_id: `c${n % 3}` }),
    );
    await store.appendRawEvents(copies);
    await store.appendRawEvents(copies.slice(10, 20)); // a replay adds nothing
    await store.appendUsage([
      {
        ...SCOPE, external_customer_id: 'c0', meter_version_id: 'meterv_1', timestamp: JAN, partition: 0,
        position: at(0), value: '7', unique_hash: NO_HASH, dimensions: [], source: '',
      }, // prettier-ignore
    ]);
    await store.appendRejected([
      {
        ...SCOPE, event_id: 'same', event_name: 'call', external_customer_id: 'c0', meter_version_id: 'meterv_2',
        partition: 0, position: at(0), ingested_at: JAN, reason: 'value_missing', message: 'no tokens', raw: '',
      }, // prettier-ignore
    ]);
    const voided = {
      ...SCOPE, target_partition: 0, target_position: at(0), partition: 0, position: at(99),
      meter_version_id: 'meterv_1', external_customer_id: 'c0', timestamp: JAN, event_id: 'same',
    }; // prettier-ignore
    await store.appendVoids([voided, { ...voided, meter_version_id: 'meterv_9' }]);

    const history = await reader.history({ ...SCOPE, event_id: 'same' }, 50);
    expect(history.copies.map((copy) => copy.position)).toEqual(
      Array.from({ length: 50 }, (_, n) => at(59 - n)),
    );
    expect(history.canonical).toEqual(copies[0]);
    expect(history.usage.map((row) => [row.meter_version_id, row.value])).toEqual([
      ['meterv_1', '7'],
    ]);
    expect(history.rejections).toEqual([
      {
        partition: 0,
        position: at(0),
        meter_version_id: 'meterv_2',
        reason: 'value_missing',
        message: 'no tokens',
      },
    ]);
    expect(history.voids).toEqual([{ partition: 0, position: at(99) }]);
    const none = await reader.history({ ...SCOPE, event_id: 'missing' }, 50);
    expect([none.copies, none.canonical]).toEqual([[], null]);
    const foreign = await reader.history(
      { ...SCOPE, environment_id: 'env_2', event_id: 'same' },
      50,
    );
    expect(foreign.copies).toEqual([]);
  });

  test('search: range with both ends, filters, order, pages, every copy once', async () => {
    await store.appendRawEvents([
      raw(0, { properties: '{"plan":"pro","n":1}' }),
      raw(1, { properties: '{"plan":"free","n":2,"yes":true}', source: 'web' }),
      raw(2, {
        properties: '{"plan":"pro","n":"2"}',
        event_name: 'other',
        external_customer_id: 'bolt',
      }),
      raw(3, { properties: `{"it's":"a \\\\ b","n":2.50}` }),
    ]);
    await store.appendRawEvents([
      raw(1, { properties: '{"plan":"free","n":2,"yes":true}', source: 'web' }),
    ]);
    expect(await found({})).toEqual(['e3', 'e2', 'e1', 'e0']);
    expect(await found({ order: 'asc' })).toEqual(['e0', 'e1', 'e2', 'e3']);
    expect(await found({ sort: 'event_name', order: 'desc' })).toEqual(['e2', 'e3', 'e1', 'e0']);
    expect(await found({ start: JAN + HOUR, end: JAN + 2 * HOUR })).toEqual(['e2', 'e1']);
    expect(await found({ event_name: 'call', source: 'web' })).toEqual(['e1']);
    expect(await found({ external_customer_id: 'bolt' })).toEqual(['e2']);
    expect(await found({ event_id: 'e3' })).toEqual(['e3']);
    expect(await found({ property_filters: { plan: ['pro'] } })).toEqual(['e2', 'e0']);
    expect(await found({ property_filters: { plan: ['pro', 'free'], n: ['2'] } })).toEqual([
      'e2',
      'e1',
    ]);
    expect(await found({ property_filters: { yes: ['true'] } })).toEqual(['e1']);
    expect(await found({ property_filters: { n: ['2.5'] } })).toEqual(['e3']);
    expect(await found({ property_filters: { "it's": ['a \\ b'] } })).toEqual(['e3']);
    expect(await found({ property_filters: { none: [''] } })).toEqual([]);
    const page = await reader.search(search({ limit: 2, offset: 1 }));
    expect(page.events.map((event) => event.event_id)).toEqual(['e2', 'e1']);
    expect(page.total_count).toBe(4);
    const cursor = { timestamp: JAN + 2 * HOUR, event_id: 'e2', position: null, event_name: null };
    expect(await found({ cursor: { ...cursor, side: 'behind' } })).toEqual(['e1', 'e0']);
    expect(await found({ cursor: { ...cursor, side: 'before' } })).toEqual(['e3']);
  });

  test('hostile property names and values are treated as data', async () => {
    const names = [`'`, '\\', `') or 1=1 --`, '{x:String}', '`', '\0', '"', 'a.b', '€'];
    await store.appendRawEvents(
      names.map((name, n) => raw(n, { properties: JSON.stringify({ [name]: name }) })),
    );
    for (const [n, name] of names.entries()) {
      expect(await found({ property_filters: { [name]: [name] } })).toEqual([`e${n}`]);
      expect(await found({ property_filters: { [name]: ['other'] } })).toEqual([]);
    }
  });

  describe('aggregates by event name', () => {
    const values: unknown[] = [
      1, '2.5', -3, 0.1, 1e-7, '1e3', ' 7 ', 'abc', null, true, [1], { a: 1 }, '', '1e15', 123456789012345,
      '12345678901234567890.123456789012345678', '123456789012345678901', '0.1234567890123456789', '-0', 1.5,
    ]; // prettier-ignore
    const events = values.map((value, n) =>
      raw(n, {
        timestamp: JAN + n * 7 * HOUR + n * 1_234,
        properties: JSON.stringify(
          value === null ? {} : { n: value, tier: n % 3 === 0 ? 'pro' : n },
        ),
      }),
    );
    const question = (given: Partial<RawUsageQuestion>): RawUsageQuestion => ({
      ...SCOPE,
      event_name: 'call',
      external_customer_id: 'acme',
      aggregation: 'SUM',
      multiplier: '2.5',
      property_name: 'n',
      start: '2026-01-01T00:00:00.000Z',
      end: '2026-01-06T00:00:00.000Z',
      filters: {},
      window: null,
      ...given,
    });

    /** What a meter with the same field and filters would count, by the pure rules. */
    const expected = (asked: RawUsageQuestion) => {
      const matches = compileFilters(
        Object.entries(asked.filters).map(([key, allowed]) => ({ key, values: allowed })),
      );
      const usage = events.flatMap((event): MeteredUsage[] => {
        const properties = JSON.parse(event.properties) as Record<string, unknown>;
        if (!matches(properties)) return [];
        const unique =
          asked.aggregation === 'COUNT_UNIQUE' ? extractUniqueValue(properties, 'n') : null;
        const value =
          asked.property_name === null || asked.aggregation === 'COUNT_UNIQUE'
            ? '1'
            : extractNumber(properties, asked.property_name).value;
        if (value === null || (asked.aggregation === 'COUNT_UNIQUE' && unique === null)) return [];
        return [{ ...event, meter_version_id: 'm', value, unique_value: unique, dimensions: {} }];
      });
      return aggregate(
        {
          ...SCOPE, key: 'k', meter_version_id: 'm', aggregation: asked.aggregation, multiplier: asked.multiplier,
          reset_usage: 'BILLING_PERIOD', external_customer_ids: ['acme'], start: asked.start, end: asked.end,
          filter_values: {}, group_by: [], window: asked.window,
        }, // prettier-ignore
        usage,
      ).rows;
    };

    beforeEach(async () => {
      await store.appendRawEvents(events);
      await store.appendRawEvents([
        raw(100, { event_id: 'e3', is_canonical: false, properties: '{"n":1000}' }),
        raw(101, { external_customer_id: 'bolt', properties: '{"n":1000}' }),
        raw(102, { event_name: 'other', properties: '{"n":1000}' }),
      ]);
    });

    test.each(AGGREGATION_TYPES)('%s agrees with the pure rules', async (aggregation) => {
      const filtered: Record<string, string[]> = { tier: ['pro', '4'] };
      for (const filters of [{}, filtered]) {
        const property_name = aggregation === 'COUNT' ? null : 'n';
        const asked = question({ aggregation, property_name, filters });
        const answer = await reader.aggregate(asked);
        expect(answer).toEqual({ value: expected(asked)[0]!.quantity, rows: [] });
      }
    });

    test.each(BUCKET_SIZES)('windows of %s agree with the pure rules', async (bucket_size) => {
      for (const timezone of ['UTC', 'Asia/Kathmandu', 'America/New_York']) {
        for (const aggregation of ['SUM', 'MAX', 'COUNT_UNIQUE', 'WEIGHTED_SUM'] as const) {
          const window = { bucket_size, timezone, billing_anchor: '2026-01-03T10:30:00.000Z' };
          const asked = question({ aggregation, window, start: '2026-01-01T05:07:09.011Z' });
          const answer = await reader.aggregate(asked);
          const rows = expected(asked).map(({ window_start, group, quantity }) => ({
            window_start,
            group,
            value: quantity,
          }));
          expect({ timezone, aggregation, rows: answer.rows }).toEqual({
            timezone,
            aggregation,
            rows,
          });
        }
      }
    });

    test('a voided event does not count; without events the count is 0', async () => {
      const count = question({ aggregation: 'COUNT', property_name: null });
      const before = Number((await reader.aggregate(count)).value);
      await store.appendVoids([
        {
          ...SCOPE, target_partition: 0, target_position: at(0), partition: 0, position: at(500),
          meter_version_id: '', external_customer_id: '', timestamp: 0, event_id: 'e0',
        }, // prettier-ignore
      ]);
      expect(Number((await reader.aggregate(count)).value)).toBe(before - 1);
      expect(await reader.aggregate(question({ event_name: 'nothing' }))).toEqual({
        value: '0',
        rows: [],
      });
    });
  });
});
