import {
  billingPeriods,
  endOfPeriods,
  firstPeriod,
  nextPeriod,
  periodContaining,
  previousPeriod,
  unclampedBoundary,
  type BillingPeriodCell,
  type BillingSchedule,
} from '../../../domain/time/billing-periods.ts';

const schedule = (start_date: string, more: Partial<BillingSchedule> = {}): BillingSchedule => ({
  start_date,
  end_date: null,
  billing_anchor: start_date,
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  customer_timezone: '',
  ...more,
});

/** `2026-01-20 > 2026-02-01`, with the reference behind a `/` when the period is a stub. */
const shown = (cell: BillingPeriodCell | null): string | null => {
  if (cell === null) return null;
  const short = (text: string) => text.replace(':00.000Z', '').replace('T00:00', '');
  const reference = `${short(cell.reference.start)} > ${short(cell.reference.end)}`;
  return `${short(cell.start)} > ${short(cell.end)}${cell.is_stub ? ` / ${reference}` : ''}`;
};

const first = (of: BillingSchedule, count: number) =>
  billingPeriods(of, of.start_date, '2100-01-01T00:00:00Z', count).map(shown);

describe('first and following periods (billing 1.4, 1.5)', () => {
  test.each<[string, BillingSchedule, string[]]>([
    [
      'anniversary has no stub',
      schedule('2026-01-31T00:00:00Z'),
      ['2026-01-31 > 2026-02-28', '2026-02-28 > 2026-03-31', '2026-03-31 > 2026-04-30'],
    ],
    [
      'calendar monthly: 12 of 31 days, then full months',
      schedule('2026-01-20T00:00:00Z', {
        billing_cycle: 'calendar',
        billing_anchor: '2026-02-01T00:00:00Z',
      }),
      ['2026-01-20 > 2026-02-01 / 2026-01-01 > 2026-02-01', '2026-02-01 > 2026-03-01'],
    ],
    [
      'three months on the calendar: stub of 17 of 92 days',
      schedule('2026-01-15T00:00:00Z', {
        billing_cycle: 'calendar',
        billing_anchor: '2026-02-01T00:00:00Z',
        billing_period_count: 3,
      }),
      ['2026-01-15 > 2026-02-01 / 2025-11-01 > 2026-02-01', '2026-02-01 > 2026-05-01'],
    ],
    [
      'annual with a later anchor: a stub, then years',
      schedule('2025-03-01T00:00:00Z', {
        billing_anchor: '2025-06-15T00:00:00Z',
        billing_period: 'ANNUAL',
      }),
      ['2025-03-01 > 2025-06-15 / 2024-06-15 > 2025-06-15', '2025-06-15 > 2026-06-15'],
    ],
    [
      'an anchor before the start',
      schedule('2025-07-10T15:00:00Z', { billing_anchor: '2025-01-31T15:00:00Z' }),
      [
        '2025-07-10T15:00 > 2025-07-31T15:00 / 2025-06-30T15:00 > 2025-07-31T15:00',
        '2025-07-31T15:00 > 2025-08-31T15:00',
      ],
    ],
    [
      'an anchor later on the same day: a full first period some hours longer than its cell',
      schedule('2026-01-10T09:00:00Z', { billing_anchor: '2026-01-10T17:00:00Z' }),
      ['2026-01-10T09:00 > 2026-02-10T17:00', '2026-02-10T17:00 > 2026-03-10T17:00'],
    ],
    [
      'the same day in the zone of the customer, the next day in UTC',
      schedule('2026-01-10T23:00:00Z', {
        billing_anchor: '2026-01-11T04:00:00Z',
        customer_timezone: 'America/New_York',
      }),
      ['2026-01-10T23:00 > 2026-02-11T04:00', '2026-02-11T04:00 > 2026-03-11T03:00'],
    ],
    [
      'the same day in UTC, the next day in the zone of the customer: a stub',
      schedule('2026-01-10T17:00:00Z', {
        billing_anchor: '2026-01-10T20:00:00Z',
        customer_timezone: 'Asia/Kolkata',
      }),
      [
        '2026-01-10T17:00 > 2026-01-10T20:00 / 2025-12-10T20:00 > 2026-01-10T20:00',
        '2026-01-10T20:00 > 2026-02-10T20:00',
      ],
    ],
    [
      'daily with a later clock of the anchor',
      schedule('2026-01-10T09:00:00Z', {
        billing_anchor: '2026-01-05T17:00:00Z',
        billing_period: 'DAILY',
      }),
      ['2026-01-10T09:00 > 2026-01-11T17:00', '2026-01-11T17:00 > 2026-01-12T17:00'],
    ],
    [
      'an anchor earlier on the same day is the boundary before: the first period is a stub',
      schedule('2026-01-10T17:00:00Z', { billing_anchor: '2026-01-10T09:00:00Z' }),
      [
        '2026-01-10T17:00 > 2026-02-10T09:00 / 2026-01-10T09:00 > 2026-02-10T09:00',
        '2026-02-10T09:00 > 2026-03-10T09:00',
      ],
    ],
    [
      'cut by the end: the reference is the uncut cell',
      schedule('2026-01-01T00:00:00Z', { end_date: '2026-02-15T00:00:00Z' }),
      ['2026-01-01 > 2026-02-01', '2026-02-01 > 2026-02-15 / 2026-02-01 > 2026-03-01'],
    ],
    [
      'an end on a boundary is no stub',
      schedule('2026-01-01T00:00:00Z', { end_date: '2026-03-01T00:00:00Z' }),
      ['2026-01-01 > 2026-02-01', '2026-02-01 > 2026-03-01'],
    ],
    [
      'cut on both sides',
      schedule('2026-01-20T00:00:00Z', {
        billing_cycle: 'calendar',
        billing_anchor: '2026-02-01T00:00:00Z',
        end_date: '2026-01-25T00:00:00Z',
      }),
      ['2026-01-20 > 2026-01-25 / 2026-01-01 > 2026-02-01'],
    ],
    [
      'a long first period that the end cuts is a stub of itself',
      schedule('2026-01-10T09:00:00Z', {
        billing_anchor: '2026-01-10T17:00:00Z',
        end_date: '2026-01-12T09:00:00Z',
      }),
      ['2026-01-10T09:00 > 2026-01-12T09:00 / 2026-01-10T09:00 > 2026-02-10T17:00'],
    ],
    ['no time at all', schedule('2026-01-01T00:00:00Z', { end_date: '2026-01-01T00:00:00Z' }), []],
    [
      'over the day that Samoa skipped: no empty period',
      schedule('2011-12-28T20:00:00Z', {
        billing_period: 'DAILY',
        customer_timezone: 'Pacific/Apia',
      }),
      [
        '2011-12-28T20:00 > 2011-12-29T20:00',
        '2011-12-29T20:00 > 2011-12-30T20:00',
        '2011-12-30T20:00 > 2011-12-31T20:00',
      ],
    ],
  ])('%s', (_title, of, periods) => {
    expect(first(of, Math.max(periods.length, 1))).toEqual(periods);
    expect(shown(firstPeriod(of))).toBe(periods[0] ?? null);
  });
});

describe('the period that holds an instant', () => {
  const of = schedule('2026-01-20T10:00:00Z', {
    billing_cycle: 'calendar',
    billing_anchor: '2026-02-01T00:00:00Z',
    end_date: '2026-04-10T00:00:00Z',
  });
  test.each<[string, string | null]>([
    ['2026-01-20T09:59:59.999Z', null],
    ['2026-01-20T10:00:00.000Z', '2026-01-20T10:00 > 2026-02-01 / 2026-01-01 > 2026-02-01'],
    ['2026-01-31T23:59:59.999Z', '2026-01-20T10:00 > 2026-02-01 / 2026-01-01 > 2026-02-01'],
    ['2026-02-01T00:00:00.000Z', '2026-02-01 > 2026-03-01'],
    ['2026-02-28T23:59:59.999Z', '2026-02-01 > 2026-03-01'],
    ['2026-04-09T23:59:59.999Z', '2026-04-01 > 2026-04-10 / 2026-04-01 > 2026-05-01'],
    ['2026-04-10T00:00:00.000Z', null],
    ['2030-01-01T00:00:00.000Z', null],
  ])('%s: %s', (at, period) => expect(shown(periodContaining(of, at))).toBe(period));

  test('hundreds of daily periods and hundreds of years away', () => {
    const daily = schedule('2020-01-01T00:00:00Z', { billing_period: 'DAILY' });
    expect(shown(periodContaining(daily, '2026-11-21T12:00:00Z'))).toBe('2026-11-21 > 2026-11-22');
    const annual = schedule('2024-02-29T00:00:00Z', { billing_period: 'ANNUAL' });
    expect(shown(periodContaining(annual, '2524-02-29T00:00:00Z'))).toBe('2524-02-29 > 2525-02-28');
  });

  test('the neighbours', () => {
    expect(shown(nextPeriod(of, '2026-02-01T00:00:00Z'))).toBe('2026-02-01 > 2026-03-01');
    expect(nextPeriod(of, '2026-04-10T00:00:00Z')).toBeNull();
    expect(shown(previousPeriod(of, '2026-02-01T00:00:00Z'))).toBe(
      '2026-01-20T10:00 > 2026-02-01 / 2026-01-01 > 2026-02-01',
    );
    expect(previousPeriod(of, '2026-01-20T10:00:00Z')).toBeNull();
  });

  test('nothing of the schedule is written in a form that a record does not have', () => {
    expect(periodContaining(of, '2026-02-10T00:00:00Z')).toEqual({
      start: '2026-02-01T00:00:00.000Z',
      end: '2026-03-01T00:00:00.000Z',
      reference: { start: '2026-02-01T00:00:00.000Z', end: '2026-03-01T00:00:00.000Z' },
      is_stub: false,
    });
  });
});

describe('periods that overlap a range', () => {
  const of = schedule('2026-01-15T00:00:00Z');
  test.each<[string, string, number | undefined, string[]]>([
    ['2026-02-15T00:00:00Z', '2026-03-15T00:00:00Z', undefined, ['2026-02-15 > 2026-03-15']],
    [
      '2026-02-14T23:59:59.999Z',
      '2026-03-15T00:00:00.001Z',
      undefined,
      ['2026-01-15 > 2026-02-15', '2026-02-15 > 2026-03-15', '2026-03-15 > 2026-04-15'],
    ],
    ['2025-01-01T00:00:00Z', '2026-01-15T00:00:00Z', undefined, []],
    ['2025-01-01T00:00:00Z', '2026-01-16T00:00:00Z', undefined, ['2026-01-15 > 2026-02-15']],
    ['2026-02-15T00:00:00Z', '2026-02-15T00:00:00Z', undefined, []],
    [
      '2026-01-15T00:00:00Z',
      '2030-01-01T00:00:00Z',
      2,
      ['2026-01-15 > 2026-02-15', '2026-02-15 > 2026-03-15'],
    ],
    ['2026-01-15T00:00:00Z', '2030-01-01T00:00:00Z', 0, []],
  ])('[%s, %s) limit %p', (from, until, limit, periods) => {
    expect(billingPeriods(of, from, until, limit).map(shown)).toEqual(periods);
  });

  test('stops at the end of the subscription', () => {
    const ended = { ...of, end_date: '2026-02-20T00:00:00Z' };
    expect(
      billingPeriods(ended, '2026-01-01T00:00:00Z', '2030-01-01T00:00:00Z').map(shown),
    ).toEqual(['2026-01-15 > 2026-02-15', '2026-02-15 > 2026-02-20 / 2026-02-15 > 2026-03-15']);
  });
});

describe('trials (billing 1.6)', () => {
  test('anniversary: the first paid period after the trial is full', () => {
    const trialEnd = '2026-01-24T10:00:00Z';
    const paid = schedule(trialEnd, { billing_anchor: trialEnd });
    expect(shown(firstPeriod(paid))).toBe('2026-01-24T10:00 > 2026-02-24T10:00');
  });
  test('calendar: a stub from the end of the trial on the old grid', () => {
    const paid = schedule('2026-01-24T10:00:00Z', {
      billing_cycle: 'calendar',
      billing_anchor: '2026-02-01T00:00:00Z',
    });
    expect(shown(firstPeriod(paid))).toBe(
      '2026-01-24T10:00 > 2026-02-01 / 2026-01-01 > 2026-02-01',
    );
  });
});

test.each<[string, string, Partial<BillingSchedule>, string]>([
  ['2026-01-15', '2026-02-15', {}, '2026-02-15'],
  ['2026-01-31', '2026-02-28', {}, '2026-03-31'],
  ['2026-03-31', '2026-04-30', {}, '2026-05-31'],
  ['2024-02-29', '2026-02-28', { billing_period: 'ANNUAL' }, '2028-02-29'],
  ['2026-01-31', '2026-02-14', { billing_period: 'WEEKLY' }, '2026-02-14'],
  ['2026-01-31', '2026-02-05', { billing_period: 'DAILY' }, '2026-02-05'],
])('a subscription from %s on: the boundary %s, not clamped %#', (start, from, more, expected) => {
  const midnight = (day: string) => `${day}T00:00:00.000Z`;
  expect(unclampedBoundary(schedule(midnight(start), more), midnight(from))).toBe(
    midnight(expected),
  );
});

describe('a local day that a zone leaves out at the date line is no period', () => {
  const FAR = '9000-01-01T00:00:00.000Z';
  test.each([
    ['Pacific/Apia', '2011-12-28T20:00:00.000Z', 4],
    ['Pacific/Apia', '2011-12-28T10:00:00.000Z', 1],
    ['Pacific/Apia', '2011-12-28T10:00:00.000Z', 2],
    ['Pacific/Apia', '2011-12-28T10:00:00.000Z', 3],
    ['Pacific/Apia', '2011-12-28T10:00:00.000Z', 400],
    ['Pacific/Kiritimati', '1994-08-29T00:00:00.000Z', 200],
    ['Pacific/Fakaofo', '2011-12-25T11:00:00.000Z', 30],
    ['Pacific/Kwajalein', '1993-08-01T12:00:00.000Z', 40],
    ['Europe/Berlin', '2026-03-01T00:30:00.000Z', 60],
  ])('%s from %s: the end of %s days is that of the last in their list', (zone, start, count) => {
    const days = schedule(start, { billing_period: 'DAILY', customer_timezone: zone });
    const last = billingPeriods(days, start, FAR, count).at(-1)!;
    expect(endOfPeriods(days, start, FAR, count)).toBe(last.end);
  });

  test('no end in sight: as many days as there are', () => {
    const days = schedule('2011-01-01T00:00:00.000Z', {
      ...{ billing_period: 'DAILY', customer_timezone: 'Pacific/Apia' },
      end_date: '2012-01-01T00:00:00.000Z',
    });
    expect(endOfPeriods(days, days.start_date, FAR, 1e9)).toBe('2012-01-01T00:00:00.000Z');
  });
});
