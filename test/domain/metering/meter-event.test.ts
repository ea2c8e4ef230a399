import { compileMeter } from '../../../domain/metering/meter-event.ts';
import type { MeterSpec, MeterVersion } from '../../../domain/metering/usage.ts';

function version(
  aggregation: Partial<MeterSpec['aggregation']>,
  rest: Partial<Pick<MeterSpec, 'filters'>> & { dimensions?: string[] } = {},
): MeterVersion {
  return {
    id: 'meterv_1',
    meter_id: 'meter_1',
    tenant_id: 'tenant_1',
    environment_id: 'env_1',
    version: 1,
    dimensions: rest.dimensions ?? [],
    spec: {
      event_name: 'api_call',
      filters: rest.filters ?? [],
      reset_usage: 'BILLING_PERIOD',
      aggregation: {
        type: 'SUM',
        field: null,
        expression: null,
        multiplier: null,
        group_by: null,
        bucket_size: null,
        ...aggregation,
      },
    },
  };
}

const event = (properties: Record<string, unknown>, event_name = 'api_call') => ({
  event_name,
  properties,
});
const metered = (value: string, unique_value: string | null = null, dimensions: string[] = []) => ({
  outcome: 'metered',
  value,
  unique_value,
  dimensions,
});

describe('whether an event is meant for the meter', () => {
  const meter = compileMeter(
    version({ field: 'n' }, { filters: [{ key: 'region', values: ['eu'] }] }),
  );
  test('another event name is unmatched, also in another case', () => {
    expect(meter(event({ n: 1, region: 'eu' }, 'other'))).toEqual({ outcome: 'unmatched' });
    expect(meter(event({ n: 1, region: 'eu' }, 'API_CALL'))).toEqual({ outcome: 'unmatched' });
  });
  test('a filter that does not match gives unmatched, for every value', () => {
    expect(meter(event({ n: 1, region: 'us' }))).toEqual({ outcome: 'unmatched' });
    expect(meter(event({ n: 'x' }))).toEqual({ outcome: 'unmatched' });
  });
  test('a match without a value is unmetered, with the reason', () => {
    expect(meter(event({ region: 'eu' }))).toEqual({
      outcome: 'unmetered',
      reason: 'value_missing',
    });
    expect(meter(event({ region: 'eu', n: 'x' }))).toEqual({
      outcome: 'unmetered',
      reason: 'value_not_numeric',
    });
    expect(meter(event({ region: 'eu', n: '1e20' }))).toEqual({
      outcome: 'unmetered',
      reason: 'value_out_of_range',
    });
  });
});

describe('value by aggregation', () => {
  test.each(['SUM', 'AVG', 'MAX', 'MIN', 'SUM_WITH_MULTIPLIER', 'LATEST', 'WEIGHTED_SUM'] as const)(
    '%s reads a field or an expression; the multiplier is applied to the sum, not here',
    (type) => {
      const byField = compileMeter(version({ type, field: 'n', multiplier: '3' }));
      const byExpression = compileMeter(version({ type, expression: 'n * 2' }));
      expect(byField(event({ n: '-1.50' }))).toEqual(metered('-1.5'));
      expect(byExpression(event({ n: '-1.50' }))).toEqual(metered('-3'));
      expect(byExpression(event({}))).toEqual({ outcome: 'unmetered', reason: 'value_missing' });
    },
  );

  test('COUNT counts every event that matches, with or without properties', () => {
    const meter = compileMeter(version({ type: 'COUNT' }));
    expect(meter(event({}))).toEqual(metered('1'));
    expect(meter(event({ n: 'x' }))).toEqual(metered('1'));
  });

  test('COUNT_UNIQUE carries the text; an event without it is unmetered', () => {
    const meter = compileMeter(version({ type: 'COUNT_UNIQUE', field: 'user' }));
    expect(meter(event({ user: 'u1' }))).toEqual(metered('1', 'u1'));
    expect(meter(event({ user: 7 }))).toEqual(metered('1', '7'));
    expect(meter(event({ user: '' }))).toEqual(metered('1', ''));
    expect(meter(event({}))).toEqual({ outcome: 'unmetered', reason: 'value_missing' });
    expect(meter(event({ user: null }))).toEqual({ outcome: 'unmetered', reason: 'value_missing' });
  });

  test('dimensions are read in the order of the version', () => {
    const meter = compileMeter(version({ type: 'COUNT' }, { dimensions: ['model', 'region'] }));
    expect(meter(event({ region: 'eu', model: 4 }))).toEqual(metered('1', null, ['4', 'eu']));
    expect(meter(event({ region: 'eu' }))).toEqual(metered('1', null, ['', 'eu']));
  });
});

describe('a version that creation would have refused is a bug', () => {
  test.each([
    [{ type: 'SUM' }, 'SUM without field'],
    [{ type: 'COUNT_UNIQUE' }, 'COUNT_UNIQUE without field'],
    [{ type: 'SUM', expression: '1 +' }, 'CEL'],
  ] as const)('%j', (aggregation, message) => {
    expect(() => compileMeter(version(aggregation))).toThrow(message);
  });
});

test('the same event always gives the same answer, and meters do not share state', () => {
  const one = compileMeter(version({ expression: 'l.map(x, x * 2)[0] + n' }));
  const other = compileMeter(version({ expression: 'l.exists(x, x > n) ? 1 : 0' }));
  const sent = event({ l: [3, 1], n: 2 });
  for (let i = 0; i < 3; i++) {
    expect(one(sent)).toEqual(metered('8'));
    expect(other(sent)).toEqual(metered('1'));
  }
});
