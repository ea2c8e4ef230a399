import { billingGrid, monthsOf, type BillingRhythm } from '../../../domain/time/billing-grid.ts';

const rhythm = (
  billing_anchor: string,
  billing_period: BillingRhythm['billing_period'] = 'MONTHLY',
  customer_timezone = '',
  more: Partial<BillingRhythm> = {},
): BillingRhythm => ({
  billing_anchor,
  billing_period,
  customer_timezone,
  billing_cycle: 'anniversary',
  billing_period_count: 1,
  ...more,
});

const boundaries = (grid: BillingRhythm, from: number, to: number) => {
  const made = billingGrid(grid);
  return Array.from({ length: to - from + 1 }, (_, index) =>
    made.boundary(from + index).replace(':00.000Z', 'Z'),
  );
};

describe('worked boundaries (billing 1.5)', () => {
  test.each<[string, BillingRhythm, string[]]>([
    [
      'monthly from 31 January',
      rhythm('2026-01-31T09:30:00Z'),
      [
        '2026-02-28T09:30Z',
        '2026-03-31T09:30Z',
        '2026-04-30T09:30Z',
        '2026-05-31T09:30Z',
        '2026-06-30T09:30Z',
      ],
    ],
    [
      'monthly from 31 January of a leap year',
      rhythm('2028-01-31T00:00:00Z'),
      ['2028-02-29T00:00Z', '2028-03-31T00:00Z', '2028-04-30T00:00Z'],
    ],
    [
      'annual from a leap day',
      rhythm('2024-02-29T00:00:00Z', 'ANNUAL'),
      ['2025-02-28T00:00Z', '2026-02-28T00:00Z', '2027-02-28T00:00Z', '2028-02-29T00:00Z'],
    ],
    [
      'quarterly from 30 November',
      rhythm('2025-11-30T00:00:00Z', 'QUARTERLY'),
      ['2026-02-28T00:00Z', '2026-05-30T00:00Z', '2026-08-30T00:00Z', '2026-11-30T00:00Z'],
    ],
    [
      'half-yearly from 31 August',
      rhythm('2025-08-31T00:00:00Z', 'HALF_YEARLY'),
      ['2026-02-28T00:00Z', '2026-08-31T00:00Z', '2027-02-28T00:00Z'],
    ],
    [
      'weekly from a Wednesday',
      rhythm('2026-01-07T00:00:00Z', 'WEEKLY'),
      ['2026-01-14T00:00Z', '2026-01-21T00:00Z'],
    ],
    [
      'daily at 02:30 in New York, into the gap',
      rhythm('2026-03-07T07:30:00Z', 'DAILY', 'America/New_York'),
      ['2026-03-08T07:30Z', '2026-03-09T06:30Z', '2026-03-10T06:30Z'],
    ],
    [
      'daily at 01:30 in New York, into the overlap',
      rhythm('2026-10-31T05:30:00Z', 'DAILY', 'America/New_York'),
      ['2026-11-01T05:30Z', '2026-11-02T06:30Z', '2026-11-03T06:30Z'],
    ],
    [
      'calendar monthly in Kolkata',
      rhythm('2026-02-28T18:30:00Z', 'MONTHLY', 'Asia/Kolkata', { billing_cycle: 'calendar' }),
      ['2026-03-31T18:30Z', '2026-04-30T18:30Z'],
    ],
    [
      'every second month',
      rhythm('2025-12-31T00:00:00Z', 'MONTHLY', '', { billing_period_count: 2 }),
      ['2026-02-28T00:00Z', '2026-04-30T00:00Z', '2026-06-30T00:00Z'],
    ],
    [
      'every ten days',
      rhythm('2026-02-20T06:00:00Z', 'DAILY', '', { billing_period_count: 10 }),
      ['2026-03-02T06:00Z', '2026-03-12T06:00Z'],
    ],
    [
      'every second week, over a change of the clock',
      rhythm('2026-03-02T05:00:00Z', 'WEEKLY', 'America/New_York', { billing_period_count: 2 }),
      ['2026-03-16T04:00Z', '2026-03-30T04:00Z'],
    ],
    [
      'monthly in Kathmandu, at its own midnight',
      rhythm('2026-01-30T18:15:00Z', 'MONTHLY', 'Asia/Kathmandu'),
      ['2026-02-27T18:15Z', '2026-03-30T18:15Z'],
    ],
    [
      'daily on Lord Howe over the half-hour change',
      rhythm('2026-04-03T13:00:00Z', 'DAILY', 'Australia/Lord_Howe'),
      ['2026-04-04T13:00Z', '2026-04-05T13:30Z'],
    ],
  ])('%s', (_title, grid, expected) => {
    expect(boundaries(grid, 1, expected.length)).toEqual(expected);
  });

  test('March 2026 has 743 hours in New York', () => {
    const grid = billingGrid(
      rhythm('2026-03-01T05:00:00Z', 'MONTHLY', 'America/New_York', { billing_cycle: 'calendar' }),
    );
    expect((grid.boundaryMs(1) - grid.boundaryMs(0)) / 3_600_000).toBe(743);
  });

  test('boundaries before the anchor are clamped from the same day', () => {
    expect(boundaries(rhythm('2026-03-31T12:00:00Z'), -4, 0)).toEqual([
      '2025-11-30T12:00Z',
      '2025-12-31T12:00Z',
      '2026-01-31T12:00Z',
      '2026-02-28T12:00Z',
      '2026-03-31T12:00Z',
    ]);
  });
});

describe('the original day comes back after every short month', () => {
  test.each([28, 29, 30, 31])('day %d over eight years', (day) => {
    const grid = billingGrid(rhythm(`2024-01-${day}T00:00:00Z`));
    for (let k = 0; k <= 96; k++) {
      const boundary = grid.boundary(k);
      const [year, month] = [Number(boundary.slice(0, 4)), Number(boundary.slice(5, 7))];
      const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
      expect(Number(boundary.slice(8, 10))).toBe(Math.min(day, last));
      expect(month).toBe((k % 12) + 1);
    }
  });
});

describe('a calendar anchor means midnight', () => {
  test('also when its own midnight was skipped', () => {
    // Midnight of 1 October 2017 did not exist in Asunción: the grid begins at 01:00 and goes on at 00:00.
    const asuncion = rhythm('2017-10-01T04:00:00Z', 'MONTHLY', 'America/Asuncion');
    expect(boundaries({ ...asuncion, billing_cycle: 'calendar' }, 0, 1)).toEqual([
      '2017-10-01T04:00Z',
      '2017-11-01T03:00Z',
    ]);
    expect(boundaries(asuncion, 0, 1)).toEqual(['2017-10-01T04:00Z', '2017-11-01T04:00Z']);
  });
});

describe('an anchor in the second hour of an overlap', () => {
  // 01:30 in New York for the second time on 1 November 2026.
  const second = rhythm('2026-11-01T06:30:00Z', 'DAILY', 'America/New_York');
  test('is the boundary itself; the time of day continues from there', () => {
    expect(boundaries(second, -1, 1)).toEqual([
      '2026-10-31T05:30Z',
      '2026-11-01T06:30Z',
      '2026-11-02T06:30Z',
    ]);
    expect(billingGrid(second).indexAt('2026-11-01T06:29:59.999Z')).toBe(-1);
    expect(billingGrid(second).indexAt('2026-11-01T06:30:00.000Z')).toBe(0);
  });
});

describe('a calendar subscription with a new anchor from some moment on', () => {
  test('keeps the clock of its anchor', () => {
    const moved = rhythm('2026-03-10T14:30:00Z', 'MONTHLY', '', { billing_cycle: 'calendar' });
    expect(boundaries(moved, 0, 1)).toEqual(['2026-03-10T14:30Z', '2026-04-10T14:30Z']);
  });
});

describe('index of an instant: the greatest k with B(k) at or before it', () => {
  const monthly = () => billingGrid(rhythm('2026-01-31T09:30:00Z'));
  test.each<[string, number]>([
    ['2026-01-31T09:30:00.000Z', 0],
    ['2026-01-31T09:29:59.999Z', -1],
    ['2026-02-28T09:29:59.999Z', 0],
    ['2026-02-28T09:30:00.000Z', 1],
    ['2026-02-28T09:30:00.001Z', 1],
    ['2026-03-01T00:00:00.000Z', 1],
    ['2026-03-31T09:29:59.999Z', 1],
    ['2026-03-31T09:30:00.000Z', 2],
    ['2036-01-31T09:30:00.000Z', 120],
    ['2036-01-31T09:29:59.999Z', 119],
    ['1970-01-01T00:00:00.000Z', -673],
  ])('%s: %d', (at, k) => expect(monthly().indexAt(at)).toBe(k));

  test('daily, thousands of steps away', () => {
    const daily = billingGrid(rhythm('2000-01-01T00:00:00Z', 'DAILY'));
    expect(daily.indexAt('2050-01-01T00:00:00.000Z')).toBe(18_263);
    expect(daily.indexAt('2049-12-31T23:59:59.999Z')).toBe(18_262);
  });

  test('where two boundaries fall together the later one counts', () => {
    const apia = billingGrid(rhythm('2011-12-29T20:00:00Z', 'DAILY', 'Pacific/Apia'));
    expect(apia.boundary(1)).toBe('2011-12-30T20:00:00.000Z');
    expect(apia.boundary(2)).toBe('2011-12-30T20:00:00.000Z');
    expect(apia.indexAt('2011-12-30T20:00:00.000Z')).toBe(2);
    expect(apia.indexAt('2011-12-30T19:59:59.999Z')).toBe(0);
  });
});

describe('units', () => {
  test('months', () => {
    expect(
      (['DAILY', 'WEEKLY', 'MONTHLY', 'QUARTERLY', 'HALF_YEARLY', 'ANNUAL'] as const).map(monthsOf),
    ).toEqual([null, null, 1, 3, 6, 12]);
  });

  test.each([0, -1, 1.5, Number.NaN])('a count of %d is a bug', (billing_period_count) => {
    expect(() =>
      billingGrid(rhythm('2026-01-01T00:00:00Z', 'MONTHLY', '', { billing_period_count })),
    ).toThrow('billing_period_count');
  });

  test('an unknown zone is a bug', () => {
    expect(() => billingGrid(rhythm('2026-01-01T00:00:00Z', 'MONTHLY', 'Mars/Base'))).toThrow(
      'unknown time zone',
    );
  });
});
