import { Decimal } from '../../domain/money.ts';
import { csvOf } from '../../web/pages/analytics/csv.ts';
import {
  changeOf,
  chartOf,
  chartsOf,
  chartTitleOf,
  sorted,
  titleOf,
  type Item,
} from '../../web/pages/analytics/figures.ts';
import { presetRange, rangeBefore, rangeOf } from '../../web/app/range.ts';
import { windowTimes } from '../../web/app/window-times.ts';

const NOW = '2026-11-21T12:00:00.000Z';
const point = (timestamp: string, usage: string, cost: string) => ({
  timestamp,
  usage,
  cost,
  subtotal: cost,
  discount: '0',
  event_count: 1,
});
const item = (model: string, usage: string, fields: Partial<Item> = {}): Item => ({
  ...{ meter_id: 'm', sub_line_item_id: 'l', price_id: 'p', name: 'Tokens', unit: 'token' },
  ...{ unit_plural: 'tokens', source: null, subtotal: '0', total_discount: '0', total_cost: '0' },
  ...{ currency: 'usd', event_count: 1, total_usage: usage, properties: { model } },
  points: [point('2026-11-01T00:00:00.000Z', usage, '0.1')],
  windows_of_points: null,
  ...fields,
});

const NOVEMBER = {
  start_time: '2026-11-01T00:00:00.000Z',
  end_time: '2026-12-01T00:00:00.000Z',
  window_size: 'DAY',
  timezone: 'UTC',
} as const;

/** What the page computes from the answer of the API: nothing but sums of exact decimals. */
describe('figures of the analytics page', () => {
  test('the lines of a chart add up to the totals, digit for digit', () => {
    const items = Array.from({ length: 9 }, (_, index) => item(`m${index}`, `0.${index + 1}`));
    const { series } = chartOf(items, 'usage', NOVEMBER, NOW);
    expect(series.map(({ name }) => name).at(-1)).toBe('4 others');
    expect(series).toHaveLength(6);
    const drawn = Decimal.sum(...series.map(({ values }) => values[0]!));
    expect(drawn.toFixed()).toBe('4.5');
  });

  test('a day without usage is a zero; days to come are left out', () => {
    const points = ['2026-11-01', '2026-11-04'].map((day) =>
      point(`${day}T00:00:00.000Z`, '7', '1'),
    );
    const { times, series } = chartOf([item('a', '14', { points })], 'usage', NOVEMBER, NOW);
    expect(times).toHaveLength(21);
    expect(times.at(-1)).toBe('2026-11-21T00:00:00.000Z');
    expect(series).toEqual([
      {
        name: 'Tokens · a',
        values: ['7', '0', '0', '7', ...Array.from({ length: 17 }, () => '0')],
      },
    ]);
  });

  test('the largest come first; an empty value of a group has a name', () => {
    const items = [item('small', '2'), item('', '10'), item('large', '9')];
    expect(sorted(items, 'usage').map(titleOf)).toEqual([
      'Tokens · (none)',
      'Tokens · large',
      'Tokens · small',
    ]);
  });

  test('usage in one unit is one chart; a meter without a unit has a chart of its own', () => {
    const input = item('a', '1', { name: 'Input tokens' });
    const output = item('a', '1', { name: 'Output tokens', meter_id: 'm2' });
    const images = { unit: '', unit_plural: '' };
    const first = item('a', '1', { ...images, name: 'Images', meter_id: 'm3' });
    const second = item('b', '1', { ...images, name: 'Images', meter_id: 'm3' });
    const other = item('a', '1', { ...images, name: 'Seconds', meter_id: 'm4' });
    const groups = chartsOf([input, first, output, second, other], 'usage');
    expect(groups).toEqual([[input, output], [first, second], [other]]);
    expect(groups.map((group) => chartTitleOf(group, 'usage'))).toEqual([
      'Tokens',
      'Images',
      'Seconds',
    ]);
  });

  test('costs in different currencies have different charts', () => {
    const [usd, jpy] = [item('a', '1'), item('b', '1', { currency: 'jpy' })];
    const groups = chartsOf([usd, jpy], 'cost');
    expect(groups).toEqual([[usd], [jpy]]);
    expect(groups.map((group) => chartTitleOf(group, 'cost'))).toEqual(['USD', 'JPY']);
    expect(chartsOf([usd, jpy], 'events')).toEqual([[usd, jpy]]);
  });

  test.each([
    ['150', '100', '50.0'],
    ['50', '100', '-50.0'],
    ['1', '3', '-66.7'],
    ['1', '0', null],
    ['1', undefined, null],
  ])('%s after %s: %s%%', (now, before, change) => {
    expect(changeOf(now, before)).toBe(change);
  });
});

describe('the windows of a chart', () => {
  const counted = (...times: string[]) => [
    { points: times.map((timestamp) => ({ timestamp })), windows_of_points: null },
  ];
  const timesOf = (...question: Parameters<typeof windowTimes>) => windowTimes(...question).times;
  const asked = (start_time: string, end_time: string, window_size: 'HOUR' | 'DAY' | 'WEEK') => ({
    ...{ start_time, end_time, window_size, timezone: 'Europe/Berlin' },
  });

  test.each([
    ['2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z', 23],
    ['2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z', 25],
  ])('from %s to %s a day has %i hours', (start, end, hours) => {
    expect(timesOf(counted(start), asked(start, end, 'HOUR'), NOW)).toHaveLength(hours);
  });

  test('days are those of the zone on both sides of a change of the clock', () => {
    const week = asked('2026-10-23T22:00:00.000Z', '2026-10-26T23:00:00.000Z', 'DAY');
    expect(timesOf([], week, NOW)).toEqual([
      '2026-10-23T22:00:00.000Z',
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ]);
  });

  test('the first week begins before the range', () => {
    const november = asked('2026-10-31T23:00:00.000Z', '2026-11-30T23:00:00.000Z', 'WEEK');
    expect(timesOf([], november, NOW)[0]).toBe('2026-10-25T23:00:00.000Z');
  });

  test('windows to come are shown up to the last usage', () => {
    const later = asked('2026-11-20T23:00:00.000Z', '2026-11-25T23:00:00.000Z', 'DAY');
    expect(timesOf(counted('2026-11-22T23:00:00.000Z'), later, NOW)).toHaveLength(3);
    expect(timesOf([], later, NOW)).toHaveLength(1);
  });

  describe('of a price with buckets in another zone', () => {
    const days = asked('2026-11-01T23:00:00.000Z', '2026-11-05T23:00:00.000Z', 'DAY');
    const bucketed = {
      points: [{ timestamp: '2026-11-03T00:00:00.000Z' }],
      windows_of_points: { window_size: 'DAY', timezone: 'UTC', billing_anchor: null } as const,
    };
    const own = ['01', '02', '03', '04', '05'].map((day) => `2026-11-${day}T00:00:00.000Z`);

    test('are its own, also those without usage', () => {
      expect(timesOf([bucketed], days, NOW)).toEqual(own);
    });

    test('stand beside those of other prices; each price has a value on its own only', () => {
      const [plain] = counted('2026-11-02T23:00:00.000Z');
      const { times, isOf } = windowTimes([bucketed, plain!], days, NOW);
      const berlin = ['01', '02', '03', '04'].map((day) => `2026-11-${day}T23:00:00.000Z`);
      expect(times).toEqual([...own, ...berlin].sort());
      expect(times.filter((time) => isOf(bucketed, time))).toEqual(own);
      expect(times.filter((time) => isOf(plain!, time))).toEqual(berlin);
    });

    test('a chart has no zero where a price has no window', () => {
      const plain = item('a', '5', { points: [point('2026-11-02T23:00:00.000Z', '5', '1')] });
      const other = item('b', '7', {
        points: [point('2026-11-03T00:00:00.000Z', '7', '1')],
        windows_of_points: bucketed.windows_of_points,
      });
      const { series } = chartOf([plain, other], 'usage', days, NOW);
      expect(series.map(({ values }) => values.filter((value) => value !== null))).toEqual([
        ['0', '0', '7', '0', '0'],
        ['0', '5', '0', '0'],
      ]);
    });
  });
});

describe('a file for a spreadsheet', () => {
  test('has every digit, and runs nothing', () => {
    const name = '=1+1, "x"';
    const big = '12345678901234567890.123456789012345678';
    const [head, row] = csvOf([item('a', big, { name })]).split('\r\n');
    expect(head!.startsWith('name,source,properties,window_start,usage,unit')).toBe(true);
    expect(row).toContain(`"'=1+1, ""x""",`);
    expect(row).toContain(`,2026-11-01T00:00:00.000Z,${big},token,1,0.1,0,0.1,usd`);
  });

  test('an item without windows is one row', () => {
    expect(csvOf([item('a', '7', { points: null })]).split('\r\n')).toHaveLength(3);
  });
});

describe('the range in a zone', () => {
  test('days are local, also when the clock is set back', () => {
    const berlin = rangeOf('2026-10-25', '2026-10-25', 'Europe/Berlin', NOW);
    expect(berlin).toEqual({
      start_time: '2026-10-24T22:00:00.000Z',
      end_time: '2026-10-25T23:00:00.000Z',
    });
    expect(rangeBefore(berlin, 'Europe/Berlin')).toEqual({
      start_time: '2026-10-23T22:00:00.000Z',
      end_time: '2026-10-24T22:00:00.000Z',
    });
  });

  test.each([
    ['today', '2026-11-21', '2026-11-22'],
    ['yesterday', '2026-11-20', '2026-11-21'],
    ['last_7_days', '2026-11-15', '2026-11-22'],
    ['last_30_days', '2026-10-23', '2026-11-22'],
    ['last_90_days', '2026-08-24', '2026-11-22'],
    ['current_month', '2026-11-01', '2026-11-22'],
    ['last_month', '2026-10-01', '2026-11-01'],
  ] as const)('the preset %s', (preset, start, end) => {
    expect(presetRange(preset, 'UTC', NOW)).toEqual({
      start_time: `${start}T00:00:00.000Z`,
      end_time: `${end}T00:00:00.000Z`,
    });
  });

  test('presets have the days of the zone: it is the 1st in Auckland already', () => {
    expect(presetRange('last_month', 'Pacific/Auckland', '2026-10-31T12:00:00.000Z')).toEqual({
      start_time: '2026-09-30T11:00:00.000Z',
      end_time: '2026-10-31T11:00:00.000Z',
    });
  });

  test('without days: the last 30 up to today', () => {
    expect(rangeOf('', '', 'UTC', NOW)).toEqual({
      start_time: '2026-10-23T00:00:00.000Z',
      end_time: '2026-11-22T00:00:00.000Z',
    });
  });
});
