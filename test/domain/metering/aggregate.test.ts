import { aggregate, answerUsage, type MeteredUsage } from '../../../domain/metering/aggregate.ts';
import type { AggregationType, FilterValues, UsageQuery } from '../../../domain/metering/usage.ts';
import { question, row } from './usage-rows.ts';

const total = (query: Partial<UsageQuery>, usage: readonly MeteredUsage[]) => {
  const { rows } = aggregate(question(query), usage);
  expect(rows).toHaveLength(1);
  return rows[0]!.quantity;
};

describe('each aggregation (metering 6)', () => {
  const usage = [
    row('2026-01-05T00:00:00Z', '10.5', { position: 1n, unique_value: 'a' }),
    row('2026-01-20T00:00:00Z', '-3', { position: 2n, unique_value: 'b' }),
    row('2026-01-10T00:00:00Z', '10.5', { position: 3n, unique_value: 'a' }),
    row('2026-01-11T12:00:00Z', '0.25', { position: 4n, unique_value: '' }),
  ];
  test.each<[AggregationType, string]>([
    ['COUNT', '4'],
    ['SUM', '18.25'],
    ['AVG', '4.5625'],
    ['MAX', '10.5'],
    ['MIN', '-3'],
    ['SUM_WITH_MULTIPLIER', '27.375'],
    ['COUNT_UNIQUE', '3'],
    ['LATEST', '-3'],
    // (10.5 × 27 − 3 × 12 + 10.5 × 22 + 0.25 × 20.5) ÷ 31 days
    ['WEIGHTED_SUM', '15.600806451612903226'],
  ])('%s: %s', (aggregation, quantity) => {
    expect(total({ aggregation, multiplier: '1.5' }, usage)).toBe(quantity);
    expect(total({ aggregation, multiplier: '1.5' }, [...usage].reverse())).toBe(quantity);
  });

  test.each<AggregationType>([
    'COUNT', 'SUM', 'AVG', 'MAX', 'MIN', 'SUM_WITH_MULTIPLIER', 'COUNT_UNIQUE', 'LATEST', 'WEIGHTED_SUM',
  ])('%s of no event is 0', (aggregation) => {
    expect(aggregate(question({ aggregation, multiplier: '2' }), [])).toEqual({
      key: 'question',
      rows: [{ group: [], window_start: null, quantity: '0', event_count: 0 }],
    });
  }); // prettier-ignore

  test('SUM_WITH_MULTIPLIER without multiplier is a bug', () => {
    expect(() => total({ aggregation: 'SUM_WITH_MULTIPLIER' }, usage)).toThrow('multiplier');
  });
});

describe('exactness', () => {
  const at = '2026-01-05T00:00:00Z';
  test('sums beyond 38 digits', () => {
    const big = '99999999999999999999.999999999999999999';
    const usage = Array.from({ length: 1_000 }, () => row(at, big));
    expect(total({}, usage)).toBe('99999999999999999999999.999999999999999');
  });
  test('no binary floats', () => {
    expect(
      total(
        {},
        ['1.1', '2.2', '3.3'].map((value) => row(at, value)),
      ),
    ).toBe('6.6');
    expect(
      total(
        {},
        ['0.1', '0.2', '-0.3'].map((value) => row(at, value)),
      ),
    ).toBe('0');
  });
  test.each<[string[], string]>([
    [['1', '0', '0'], '0.333333333333333333'],
    [['2', '0', '0'], '0.666666666666666667'],
    [['-2', '0', '0'], '-0.666666666666666667'],
    [['0.000000000000000001', '0'], '0.000000000000000001'],
    [['-0.000000000000000001', '0'], '-0.000000000000000001'],
    [['0.000000000000000001', '0', '0'], '0'],
  ])('the average of %j is %s, half away from zero at 18 decimals', (values, average) => {
    expect(
      total(
        { aggregation: 'AVG' },
        values.map((value) => row(at, value)),
      ),
    ).toBe(average);
  });
  test('a product is rounded to 18 decimals', () => {
    const usage = [row(at, '0.000000000000000005')];
    expect(total({ aggregation: 'SUM_WITH_MULTIPLIER', multiplier: '0.1' }, usage)).toBe(
      '0.000000000000000001',
    );
    expect(total({ aggregation: 'SUM_WITH_MULTIPLIER', multiplier: '0.09' }, usage)).toBe('0');
  });
  test.each(['', 'x', '1e3', '0.1234567890123456789'])('%j is not a usage value', (value) => {
    expect(() => total({}, [row(at, value)])).toThrow('not a usage value');
  });
});

describe('the period is half-open', () => {
  test.each<[string, string]>([
    ['2025-12-31T23:59:59.999Z', '0'],
    ['2026-01-01T00:00:00.000Z', '1'],
    ['2026-01-31T23:59:59.999Z', '1'],
    ['2026-02-01T00:00:00.000Z', '0'],
  ])('an event at %s counts %s', (at, count) => {
    expect(total({ aggregation: 'COUNT' }, [row(at, '1')])).toBe(count);
  });
  test('an empty period has no usage', () => {
    const end = '2026-01-01T00:00:00.000Z';
    expect(total({ end }, [row(end, '5')])).toBe('0');
    expect(total({ end, reset_usage: 'NEVER' }, [row('2025-01-01T00:00:00Z', '5')])).toBe('0');
  });
});

describe('LATEST', () => {
  const at = '2026-01-05T00:00:00.000Z';
  test.each<[string, MeteredUsage[], string]>([
    ['the later timestamp wins, regardless of the order of arrival', [
      row('2026-01-05T00:00:00.001Z', '1', { position: 1n }),
      row(at, '2', { position: 9n }),
    ], '1'],
    ['on the same millisecond the greater position wins', [
      row(at, '1', { position: 9n }),
      row(at, '2', { position: 8n }),
    ], '1'],
    ['then the greater partition', [
      row(at, '1', { position: 9n, partition: 1 }),
      row(at, '2', { position: 9n, partition: 3 }),
      row(at, '3', { position: 9n, partition: 2 }),
    ], '2'],
    ['a negative value is a value', [row(at, '-5')], '-5'],
    ['what is after the end is not looked at', [
      row(at, '1'),
      row('2026-02-01T00:00:00.000Z', '2'),
    ], '1'],
  ])('%s', (_title, usage, latest) => {
    expect(total({ aggregation: 'LATEST' }, usage)).toBe(latest);
    expect(total({ aggregation: 'LATEST' }, [...usage].reverse())).toBe(latest);
  }); // prettier-ignore
});

describe('reset_usage NEVER: the lifetime value at the end of the period', () => {
  const usage = [
    row('2025-06-01T00:00:00Z', '10', { unique_value: 'a', position: 1n }),
    row('2025-07-01T00:00:00Z', '-4', { unique_value: 'b', position: 2n }),
    row('2026-01-16T12:00:00Z', '3', { unique_value: 'a', position: 3n }),
    row('2026-03-01T00:00:00Z', '100', { unique_value: 'c', position: 4n }),
  ];
  test.each<[AggregationType, string]>([
    ['COUNT', '3'],
    ['SUM', '9'],
    ['AVG', '3'],
    ['MAX', '10'],
    ['MIN', '-4'],
    ['COUNT_UNIQUE', '2'],
    ['LATEST', '3'],
    // 6 are carried in and hold for all of January, 3 more for its second half.
    ['WEIGHTED_SUM', '7.5'],
  ])('%s: %s', (aggregation, quantity) => {
    expect(total({ aggregation, reset_usage: 'NEVER' }, usage)).toBe(quantity);
  });

  test('what was before is enough', () => {
    expect(total({ reset_usage: 'NEVER' }, usage.slice(0, 2))).toBe('6');
    expect(total({ aggregation: 'WEIGHTED_SUM', reset_usage: 'NEVER' }, usage.slice(0, 2))).toBe(
      '6',
    );
    expect(total({}, usage.slice(0, 2))).toBe('0');
  });
});

describe('WEIGHTED_SUM', () => {
  test.each<[string, [string, string][], string]>([
    ['a delta at the start holds for all of it', [['2026-01-01T00:00:00Z', '1000']], '1000'],
    [
      'at the last millisecond for next to nothing',
      [['2026-01-31T23:59:59.999Z', '1000000']],
      '0.000373357228195938',
    ],
    [
      'deltas take each other away',
      [
        ['2026-01-11T00:00:00Z', '31'],
        ['2026-01-12T00:00:00Z', '-31'],
      ],
      '1',
    ],
  ])('%s', (_title, deltas, quantity) => {
    const usage = deltas.map(([at, value]) => row(at, value));
    expect(total({ aggregation: 'WEIGHTED_SUM' }, usage)).toBe(quantity);
  });
});

describe('which rows are asked for', () => {
  /** Two days from a day of January on. */
  const during = (day: string, filter_values: FilterValues, customers: string[] | null = null) => ({
    start: `2026-01-${day}T00:00:00.000Z`,
    end: new Date(Date.parse(`2026-01-${day}T00:00:00Z`) + 2 * 86_400_000).toISOString(),
    filter_values,
    external_customer_ids: customers,
  });
  const usage = [
    row('2026-01-05T00:00:00Z', '1', { dimensions: { region: 'eu', model: 'large' } }),
    row('2026-01-05T00:00:00Z', '2', { dimensions: { region: 'us', model: 'large' } }),
    row('2026-01-05T00:00:00Z', '4', { dimensions: { region: 'eu', model: '' }, source: 'batch' }),
    row('2026-01-05T00:00:00Z', '8', { external_customer_id: 'customer_2' }),
    row('2026-01-05T00:00:00Z', '16', { meter_version_id: 'meterv_2' }),
    row('2026-01-05T00:00:00Z', '32', { tenant_id: 'tenant_2' }),
    row('2026-01-05T00:00:00Z', '64', { environment_id: 'env_2' }),
  ];
  test.each<[string, Partial<UsageQuery>, string]>([
    ['the customer', {}, '7'],
    ['every customer of the environment', { external_customer_ids: null }, '15'],
    ['several customers, merged', { external_customer_ids: ['customer_2', 'customer_1'] }, '15'],
    ['no customer', { external_customer_ids: [] }, '0'],
    ['an unknown customer', { external_customer_ids: ['customer_3'] }, '0'],
    ['another version', { meter_version_id: 'meterv_2' }, '16'],
    ['another tenant', { tenant_id: 'tenant_2' }, '32'],
    ['another environment', { environment_id: 'env_2' }, '64'],
    ['one value', { filter_values: { region: ['eu'] } }, '5'],
    ['one of several values', { filter_values: { region: ['eu', 'us'] } }, '7'],
    ['both dimensions', { filter_values: { region: ['eu'], model: ['large'] } }, '1'],
    ['a missing property matches nothing', { filter_values: { model: [''] } }, '0'],
    ['the source', { filter_values: { source: ['batch'] } }, '4'],
    ['without a more specific price', { excluded_filter_values: [{ region: ['eu'] }] }, '2'],
    [
      'without several more specific prices',
      { excluded_filter_values: [{ region: ['us'] }, { region: ['eu'], model: ['large'] }] },
      '4',
    ],
    [
      'included and not excluded',
      { filter_values: { region: ['eu'] }, excluded_filter_values: [{ model: ['large'] }] },
      '4',
    ],
    ['an exclusion without keys leaves nothing', { excluded_filter_values: [{}] }, '0'],
    ['without a value at that time', { excluded_during: [during('04', { region: ['eu'] })] }, '2'],
    ['a value at another time', { excluded_during: [during('06', { region: ['eu'] })] }, '7'],
    [
      'without a customer at that time',
      { external_customer_ids: null, excluded_during: [during('04', {}, ['customer_1'])] },
      '8',
    ],
  ])('%s', (_title, query, quantity) => expect(total(query, usage)).toBe(quantity));
});

describe('groups', () => {
  const usage = [
    row('2026-01-05T00:00:00Z', '1', { dimensions: { region: 'us' } }),
    row('2026-01-05T00:00:00Z', '2', { dimensions: { region: 'eu', model: 'large' } }),
    row('2026-01-06T00:00:00Z', '4', { dimensions: { region: 'eu' }, source: 'batch' }),
    row('2026-01-07T00:00:00Z', '8', {}),
  ];
  const groups = (group_by: string[], rows = usage) =>
    aggregate(question({ group_by }), rows).rows.map((found) => [
      ...found.group,
      found.quantity,
      found.event_count,
    ]);

  test('one row for each value, a missing property in the group of the empty string', () => {
    expect(groups(['region'])).toEqual([
      ['', '8', 1],
      ['eu', '6', 2],
      ['us', '1', 1],
    ]);
  });
  test('combinations, in the order of the names', () => {
    expect(groups(['model', 'region'])).toEqual([
      ['', '', '8', 1],
      ['', 'eu', '4', 1],
      ['', 'us', '1', 1],
      ['large', 'eu', '2', 1],
    ]);
  });
  test('the source is no property', () => {
    expect(groups(['source'])).toEqual([
      ['', '11', 3],
      ['batch', '4', 1],
    ]);
  });
  test('no events, no groups', () => expect(groups(['region'], [])).toEqual([]));
  test('values that could be confused are distinct', () => {
    const confusing = [
      row('2026-01-05T00:00:00Z', '1', { dimensions: { a: 'x","y', b: 'z' } }),
      row('2026-01-05T00:00:00Z', '2', { dimensions: { a: 'x', b: 'y","z' } }),
    ];
    expect(groups(['a', 'b'], confusing)).toHaveLength(2);
  });
});

describe('windows', () => {
  const day = { bucket_size: 'DAY', timezone: 'America/New_York', billing_anchor: null } as const;
  const usage = [
    row('2026-01-05T04:59:59.999Z', '1'),
    row('2026-01-05T05:00:00.000Z', '2'),
    row('2026-01-05T20:00:00.000Z', '4'),
    row('2026-01-08T00:00:00.000Z', '8'),
    row('2026-01-01T00:00:00.000Z', '16'),
    row('2025-12-31T12:00:00.000Z', '32'),
  ];
  const windows = (query: Partial<UsageQuery>, rows = usage) =>
    aggregate(question({ window: day, ...query }), rows).rows.map((found) => [
      found.window_start,
      ...found.group,
      found.quantity,
    ]);

  test('the local days that have events, in order, each with the start of its grid cell', () => {
    expect(windows({})).toEqual([
      ['2025-12-31T05:00:00.000Z', '16'],
      ['2026-01-04T05:00:00.000Z', '1'],
      ['2026-01-05T05:00:00.000Z', '6'],
      ['2026-01-07T05:00:00.000Z', '8'],
    ]);
    expect(windows({ aggregation: 'MAX' }).map(([, value]) => value)).toEqual([
      '16',
      '1',
      '4',
      '8',
    ]);
  });

  test('windows and groups', () => {
    const grouped = usage.map((one, index) => ({
      ...one,
      dimensions: { parity: index % 2 === 0 ? 'even' : 'odd' },
    }));
    expect(windows({ group_by: ['parity'] }, grouped)).toEqual([
      ['2025-12-31T05:00:00.000Z', 'even', '16'],
      ['2026-01-04T05:00:00.000Z', 'even', '1'],
      ['2026-01-05T05:00:00.000Z', 'even', '4'],
      ['2026-01-05T05:00:00.000Z', 'odd', '2'],
      ['2026-01-07T05:00:00.000Z', 'odd', '8'],
    ]);
  });

  test('no events, no windows', () => expect(windows({}, [])).toEqual([]));

  test('each window is a period of its own: weights end with it, cut by the range', () => {
    const weighted = [row('2026-01-05T17:00:00Z', '10'), row('2026-01-31T17:00:00Z', '14')];
    expect(windows({ aggregation: 'WEIGHTED_SUM' }, weighted)).toEqual([
      ['2026-01-05T05:00:00.000Z', '5'],
      // The last window is cut at 19:00 local time: 7 of its 19 hours are left.
      ['2026-01-31T05:00:00.000Z', '5.157894736842105263'],
    ]);
  });

  test('what was before a window is not carried into it, with NEVER either', () => {
    expect(windows({ reset_usage: 'NEVER' })).toEqual(windows({}));
    expect(windows({ reset_usage: 'NEVER', aggregation: 'WEIGHTED_SUM' })).toEqual(
      windows({ aggregation: 'WEIGHTED_SUM' }),
    );
  });

  test('months from a billing anchor', () => {
    const window = {
      bucket_size: 'MONTH',
      timezone: '',
      billing_anchor: '2025-12-31T00:00:00Z',
    } as const;
    expect(
      windows({ window, end: '2026-04-01T00:00:00Z' }, [
        row('2026-01-30T23:59:59.999Z', '1'),
        row('2026-01-31T00:00:00.000Z', '2'),
        row('2026-02-28T00:00:00.000Z', '4'),
        row('2026-03-31T00:00:00.000Z', '8'),
      ]),
    ).toEqual([
      ['2025-12-31T00:00:00.000Z', '1'],
      ['2026-01-31T00:00:00.000Z', '2'],
      ['2026-02-28T00:00:00.000Z', '4'],
      ['2026-03-31T00:00:00.000Z', '8'],
    ]);
  });
});

describe('several questions in one call', () => {
  const usage = [
    row('2026-01-05T00:00:00Z', '1', { partition: 0, position: 10n }),
    row('2026-01-06T00:00:00Z', '2', { partition: 0, position: 11n }),
    row('2026-01-07T00:00:00Z', '4', { partition: 1, position: 5n }),
  ];
  const quantity = (below: Record<number, bigint> | null) =>
    answerUsage([question()], usage, below).answers.get('question')!.rows[0]!.quantity;

  test('answers by key', () => {
    const { answers, watermarks } = answerUsage(
      [question({ key: 'sum' }), question({ key: 'count', aggregation: 'COUNT' })],
      usage,
    );
    expect(answers.get('sum')!.rows[0]!.quantity).toBe('7');
    expect(answers.get('count')!.rows[0]!.quantity).toBe('3');
    expect(watermarks).toEqual({});
  });

  test('rows at or beyond a watermark do not exist; a partition without one has nothing', () => {
    expect(quantity(null)).toBe('7');
    expect(quantity({ 0: 12n, 1: 6n })).toBe('7');
    expect(quantity({ 0: 11n, 1: 6n })).toBe('5');
    expect(quantity({ 0: 10n, 1: 6n })).toBe('4');
    expect(quantity({ 0: 12n })).toBe('3');
    expect(quantity({})).toBe('0');
    expect(answerUsage([], usage, { 0: 12n }).watermarks).toEqual({ 0: 12n });
  });
});
