import { seededRandom } from '../../bench/random.ts';
import { createUsageStore } from '../../clickhouse/writing/create-usage-store.ts';
import { createEventReader, type EventReader } from '../../clickhouse/reading/event-reader.ts';
import type { RawEventRow } from '../../clickhouse/rows.ts';
import { aggregate, type MeteredUsage } from '../../domain/metering/aggregate.ts';
import { compileMeter } from '../../domain/metering/meter-event.ts';
import { packPosition } from '../../domain/metering/position.ts';
import {
  AGGREGATION_TYPES,
  BUCKET_SIZES,
  RESET_USAGES,
  type MeterVersion,
  type UsageQuery,
} from '../../domain/metering/usage.ts';
import { createTestClickHouse, type TestClickHouse } from '../support/clickhouse.ts';

const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 1e9));
const random = seededRandom(SEED);
const SCOPE = { tenant_id: 'tenant_1', environment_id: 'env_1' };
const JAN = Date.parse('2026-01-01T00:00:00.000Z');
const HOUR = 3_600_000;

/** Property values as they come: what a filter, a group and a sum make of each must be the rule's. */
const VALUES = [
  '5', '"5"', '5.0', '5.50', '-3', '0', '-0', '1e2', '" 7 "', '"007"', '123456789012345', '0.1', '0.000000000000000001',
  'true', 'false', '"true"', 'null', '""', '"a"', '"ä\\n\\"\\u0041"', '[1]', '{"b":5}', '"1e3"', '"-0.5"',
  '"123456789012345678901"', '"0.1234567890123456789"', '"NaN"', '"--"',
  '"1\\ufeff"', '"\\t3\\n"', '"\\u00a04\\u2028"', '"\\u200b6"',
]; // prettier-ignore

const FIELDS = ['tokens', 'it\'s "odd"', 'user'];

function randomEvents(count: number): RawEventRow[] {
  return Array.from({ length: count }, (_, n) => {
    const members = FIELDS.filter(() => random.chance(0.8)).map(
      (name) => `${JSON.stringify(name)}:${random.chance(0.1) ? ' ' : ''}${random.pick(VALUES)}`,
    );
    return {
      ...SCOPE,
      event_name: random.chance(0.9) ? 'call' : 'other',
      external_customer_id: `c${random.integer(0, 2)}`,
      customer_id: '',
      timestamp: JAN + random.integer(0, 40 * 24 * 60) * 60_000 + random.integer(0, 1),
      event_id: `e${n}`,
      source: random.pick(['', 'web', 'sdk']),
      properties: `{${members.join(',')}}`,
      ingested_at: JAN,
      partition: random.integer(0, 3),
      position: packPosition(0, BigInt(n), 0),
      is_canonical: random.chance(0.9),
    };
  });
}

function randomVersion(): MeterVersion {
  const type = random.pick(AGGREGATION_TYPES);
  return {
    ...SCOPE,
    id: 'meterv_1',
    meter_id: 'meter_1',
    version: 1,
    spec: {
      event_name: 'call',
      aggregation: {
        type,
        field: type === 'COUNT' ? null : random.pick(FIELDS),
        expression: null,
        multiplier: type === 'SUM_WITH_MULTIPLIER' ? '1.5' : null,
        group_by: null,
        bucket_size: null,
      },
      filters: random.chance(0.3)
        ? [{ key: random.pick(FIELDS), values: ['5', 'true', 'a', '100', '-3', '0'] }]
        : [],
      reset_usage: random.pick(RESET_USAGES),
    },
    dimensions: [],
  };
}

function randomQuery({ spec }: MeterVersion): UsageQuery {
  const start = JAN + random.integer(0, 20 * 24) * HOUR;
  const end = start + random.integer(1, 30 * 24) * HOUR;
  const filter = () => ({ [random.pick(FIELDS)]: ['5', '', 'a', '0.1', '7', 'false', '0'] });
  return {
    ...SCOPE,
    key: 'q',
    meter_version_id: 'meterv_1',
    aggregation: spec.aggregation.type,
    multiplier: spec.aggregation.multiplier,
    reset_usage: spec.reset_usage,
    external_customer_ids: random.pick([null, ['c0'], ['c1', 'c2', 'c1']]),
    start: new Date(start).toISOString(),
    end: new Date(end).toISOString(),
    filter_values: {
      ...(random.chance(0.3) ? filter() : {}),
      ...(random.chance(0.3) ? { source: ['web', ''] } : {}),
    },
    excluded_filter_values: random.chance(0.3) ? [filter(), { source: ['sdk'], ...filter() }] : [],
    excluded_during: random.chance(0.3)
      ? [
          {
            start: new Date(start).toISOString(),
            end: new Date(start + Math.floor((end - start) / 2)).toISOString(),
            filter_values: filter(),
            external_customer_ids: random.pick([null, ['c1']]),
          },
        ]
      : [],
    group_by: random.pick([
      [],
      ['user'],
      ['source'],
      ['tokens', 'source'],
      ['it\'s "odd"', 'user'],
    ]),
    window: random.chance(0.5)
      ? {
          bucket_size: random.pick(BUCKET_SIZES.slice(3)),
          timezone: random.pick(['UTC', 'Asia/Kathmandu', 'America/New_York']),
          billing_anchor: null,
        }
      : null,
  };
}

/** The rule, event by event. */
function counted(version: MeterVersion, events: readonly RawEventRow[]): MeteredUsage[] {
  const meter = compileMeter({ ...version, dimensions: FIELDS });
  return events.flatMap((event): MeteredUsage[] => {
    if (!event.is_canonical) return [];
    const metering = meter({
      event_name: event.event_name,
      properties: JSON.parse(event.properties) as Record<string, unknown>,
    });
    if (metering.outcome !== 'metered') return [];
    const { value, unique_value } = metering;
    const dimensions = Object.fromEntries(
      FIELDS.map((name, index) => [name, metering.dimensions[index]!]),
    );
    return [{ ...event, meter_version_id: version.id, value, unique_value, dimensions }];
  });
}

describe(`usage by any property, from events (seed ${SEED})`, () => {
  let test_: TestClickHouse;
  let reader: EventReader;
  const events = randomEvents(1_500);
  beforeAll(async () => {
    test_ = await createTestClickHouse();
    const store = createUsageStore(test_.clickhouse);
    await store.appendRawEvents(events);
    await store.appendRawEvents(events.slice(0, 100)); // a replay adds nothing
    reader = createEventReader(test_.clickhouse);
  });
  afterAll(() => test_.drop());

  test('equals the count of single events', async () => {
    for (let n = 0; n < 120; n += 1) {
      const version = randomVersion();
      const query = randomQuery(version);
      const answer = await reader.answer(query, version);
      try {
        expect(answer).toEqual(aggregate(query, counted(version, events)));
      } catch (error) {
        process.stderr.write(`${JSON.stringify({ n, spec: version.spec, query })}\n`);
        throw error;
      }
    }
  });
});
