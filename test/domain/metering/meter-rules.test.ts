import { mergeFilters } from '../../../domain/metering/merge-filters.ts';
import { BillingError } from '../../../domain/errors.ts';
import { assertMeterSpec, meterDimensions } from '../../../domain/metering/meter-rules.ts';
import type { MeterSpec } from '../../../domain/metering/usage.ts';

const spec = (
  aggregation: Partial<MeterSpec['aggregation']>,
  filters: MeterSpec['filters'] = [],
): MeterSpec => ({
  event_name: 'call',
  aggregation: {
    type: 'COUNT',
    field: null,
    expression: null,
    multiplier: null,
    group_by: null,
    bucket_size: null,
    ...aggregation,
  },
  filters,
  reset_usage: 'BILLING_PERIOD',
});
const refusedAt = (meter: MeterSpec): string | null => {
  try {
    assertMeterSpec(meter);
    return null;
  } catch (error) {
    return (error as BillingError).details[0]!.path;
  }
};

describe('a meter that contradicts itself is refused at the field', () => {
  test.each`
    aggregation                                                        | path
    ${{ type: 'COUNT' }}                                               | ${null}
    ${{ type: 'SUM', field: 'n' }}                                     | ${null}
    ${{ type: 'SUM', expression: 'a * b' }}                            | ${null}
    ${{ type: 'MIN', field: 'n' }}                                     | ${null}
    ${{ type: 'SUM_WITH_MULTIPLIER', field: 'n', multiplier: '2.5' }}  | ${null}
    ${{ type: 'MAX', field: 'n', bucket_size: 'HOUR', group_by: 'g' }} | ${null}
    ${{ type: 'SUM', field: 'n', bucket_size: 'DAY' }}                 | ${null}
    ${{ type: 'SUM' }}                                                 | ${'aggregation.field'}
    ${{ type: 'COUNT_UNIQUE', expression: 'a' }}                       | ${'aggregation.expression'}
    ${{ type: 'COUNT', expression: 'a' }}                              | ${'aggregation.expression'}
    ${{ type: 'SUM', field: 'n', expression: 'a' }}                    | ${'aggregation.expression'}
    ${{ type: 'SUM', expression: 'a *' }}                              | ${'aggregation.expression'}
    ${{ type: 'SUM_WITH_MULTIPLIER', field: 'n' }}                     | ${'aggregation.multiplier'}
    ${{ type: 'SUM', field: 'n', multiplier: '2' }}                    | ${'aggregation.multiplier'}
    ${{ type: 'COUNT', bucket_size: 'HOUR' }}                          | ${'aggregation.bucket_size'}
    ${{ type: 'SUM', field: 'n', bucket_size: 'HOUR', group_by: 'g' }} | ${'aggregation.group_by'}
    ${{ type: 'MAX', field: 'n', group_by: 'g' }}                      | ${'aggregation.group_by'}
  `('$aggregation → $path', ({ aggregation, path }) => {
    expect(refusedAt(spec(aggregation))).toBe(path);
  });

  test('one key, one filter', () => {
    const twice = [
      { key: 'a', values: ['1'] },
      { key: 'a', values: ['2'] },
    ];
    expect(refusedAt(spec({}, twice))).toBe('filters[1].key');
  });

  test('a path in front where the meter is part of a body', () => {
    expect(() => assertMeterSpec(spec({ type: 'SUM' }), 'meter.')).toThrow(
      /^meter\.aggregation\.field/,
    );
  });
});

test('filters grow: old values first, nothing is removed', () => {
  const old = [
    { key: 'region', values: ['eu', 'us'] },
    { key: 'tier', values: ['a'] },
  ];
  const added = [
    { key: 'model', values: ['x'] },
    { key: 'region', values: ['us', 'ap'] },
  ];
  expect(mergeFilters(old, added)).toEqual([
    { key: 'region', values: ['eu', 'us', 'ap'] },
    { key: 'tier', values: ['a'] },
    { key: 'model', values: ['x'] },
  ]);
});

test('dimensions are what is grouped by and what prices filter on, each once', () => {
  expect(meterDimensions('model', ['region', 'model'])).toEqual(['model', 'region']);
  expect(meterDimensions(null, [])).toEqual([]);
});
