import { canonicalUsage, type LoggedEvent } from '../../../domain/metering/canonical-usage.ts';
import { subscriptionsOwning } from '../../../domain/metering/attribution.ts';
import type { MeterVersion } from '../../../domain/metering/usage.ts';
import { SCOPE } from './usage-rows.ts';

const version: MeterVersion = {
  ...SCOPE,
  id: 'meterv_1',
  meter_id: 'meter_1',
  version: 1,
  dimensions: ['model', 'region'],
  spec: {
    event_name: 'call',
    filters: [{ key: 'region', values: ['eu', 'us'] }],
    reset_usage: 'BILLING_PERIOD',
    aggregation: {
      type: 'SUM',
      field: 'n',
      expression: null,
      multiplier: null,
      group_by: null,
      bucket_size: null,
    },
  },
};

const event = (
  event_id: string,
  position: bigint,
  n: unknown,
  more: Partial<LoggedEvent> = {},
): LoggedEvent => ({
  ...SCOPE,
  kind: 'usage',
  event_id,
  event_name: 'call',
  external_customer_id: 'customer_1',
  timestamp: 1_000,
  source: 'sdk',
  properties: { n, region: 'eu' },
  partition: 2,
  position,
  ...more,
});
const values = (log: LoggedEvent[]) =>
  canonicalUsage(version, log).map(({ value, position }) => `${value}@${position}`);

describe('usage of a log', () => {
  test('a row has what the questions need', () => {
    expect(canonicalUsage(version, [event('a', 7n, '1.50')])).toEqual([
      {
        ...SCOPE,
        meter_version_id: 'meterv_1',
        external_customer_id: 'customer_1',
        timestamp: 1_000,
        partition: 2,
        position: 7n,
        value: '1.5',
        unique_value: null,
        dimensions: { model: '', region: 'eu' },
        source: 'sdk',
      },
    ]);
  });

  test('of the copies of an id the one with the smallest position counts, in any order', () => {
    const log = [event('a', 9n, 1), event('b', 4n, 8), event('a', 3n, 2), event('a', 5n, 4)];
    expect(values(log).sort()).toEqual(['2@3', '8@4']);
    expect(values([...log].reverse()).sort()).toEqual(['2@3', '8@4']);
  });

  test('also when the first copy does not count and a later one would', () => {
    expect(values([event('a', 1n, 'x'), event('a', 2n, 5)])).toEqual([]);
    expect(values([event('a', 1n, 5, { event_name: 'other' }), event('a', 2n, 5)])).toEqual([]);
    expect(
      values([event('a', 1n, 5, { properties: { n: 5, region: 'af' } }), event('a', 2n, 5)]),
    ).toEqual([]);
  });

  test('ids of other tenants and environments are other ids', () => {
    const log = [
      event('a', 1n, 1, { tenant_id: 'tenant_2' }),
      event('a', 2n, 2, { environment_id: 'env_2' }),
      event('a', 3n, 4),
    ];
    expect(values(log)).toEqual(['4@3']);
  });

  test('what cannot be metered is left out', () => {
    expect(values([event('a', 1n, null), event('b', 2n, 'x'), event('c', 3n, '1e30')])).toEqual([]);
  });
});

describe('corrections', () => {
  const take = (event_id: string, position: bigint) =>
    event(event_id, position, null, { kind: 'void', event_name: '', properties: {} });

  test('a void further on in the log takes the event out', () => {
    expect(values([event('a', 1n, 1), event('b', 2n, 2), take('a', 3n)])).toEqual(['2@2']);
    expect(values([take('a', 3n), event('b', 2n, 2), event('a', 1n, 1)])).toEqual(['2@2']);
  });
  test('a later copy does not bring it back', () => {
    expect(values([event('a', 1n, 1), take('a', 2n), event('a', 3n, 1)])).toEqual([]);
  });
  test('a void before its event has nothing to take out', () => {
    expect(values([take('a', 1n), event('a', 2n, 5)])).toEqual(['5@2']);
  });
  test('the last void counts when there are several', () => {
    expect(values([take('a', 1n), event('a', 2n, 5), take('a', 3n)])).toEqual([]);
    expect(values([take('a', 3n), event('a', 2n, 5), take('a', 1n)])).toEqual([]);
  });
  test('of an unknown id it does nothing', () => {
    expect(values([event('a', 1n, 1), take('b', 2n)])).toEqual(['1@1']);
  });
});

describe('subscriptions that own usage of a range', () => {
  const range = { start: '2026-02-01T00:00:00Z', end: '2026-03-01T00:00:00Z' };
  test.each<[string, string | null, string | null, boolean]>([
    ['2026-01-01T00:00:00Z', null, null, true],
    ['2026-02-28T23:59:59.999Z', null, null, true],
    ['2026-03-01T00:00:00Z', null, null, false],
    ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', null, false],
    ['2026-01-01T00:00:00Z', '2026-02-01T00:00:00.001Z', null, true],
    ['2026-01-01T00:00:00Z', null, '2026-01-15T00:00:00Z', false],
    ['2026-01-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-02-15T00:00:00Z', true],
    ['2026-01-01T00:00:00Z', '2026-06-01T00:00:00Z', '2026-02-01T00:00:00Z', false],
    ['2026-02-10T00:00:00Z', '2026-02-10T00:00:00Z', null, false],
  ])('from %s to %s, cancelled %s: %s', (start_date, end_date, cancelled_at, owns) => {
    const one = { id: 'a', start_date, end_date, cancelled_at };
    expect(subscriptionsOwning([one], range)).toEqual(owns ? [one] : []);
  });
});
