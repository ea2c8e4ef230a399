import { earlierOf, type Period } from '../../../domain/time/instant.ts';
import {
  resetWindowAt,
  type ResetSchedule,
  type UsageResetPeriod,
} from '../../../domain/time/reset-windows.ts';

const schedule = (more: Partial<ResetSchedule> = {}): ResetSchedule => ({
  start_date: '2026-01-15T10:00:00.000Z',
  billing_anchor: '2026-01-15T10:00:00.000Z',
  billing_cycle: 'anniversary',
  customer_timezone: '',
  ...more,
});

describe('the window that holds an instant (billing 4)', () => {
  test.each<[UsageResetPeriod, string, string, string | null]>([
    ['DAILY', '2026-01-20T23:59:59.999Z', '2026-01-20T00:00:00.000Z', '2026-01-21T00:00:00.000Z'],
    ['DAILY', '2026-01-21T00:00:00.000Z', '2026-01-21T00:00:00.000Z', '2026-01-22T00:00:00.000Z'],
    ['DAILY', '2026-01-15T12:00:00.000Z', '2026-01-15T10:00:00.000Z', '2026-01-16T00:00:00.000Z'],
    ['WEEKLY', '2026-01-22T09:59:59.999Z', '2026-01-15T10:00:00.000Z', '2026-01-22T10:00:00.000Z'],
    ['WEEKLY', '2026-01-22T10:00:00.000Z', '2026-01-22T10:00:00.000Z', '2026-01-29T10:00:00.000Z'],
    ['MONTHLY', '2026-02-15T09:59:59.999Z', '2026-01-15T10:00:00.000Z', '2026-02-15T10:00:00.000Z'],
    ['MONTHLY', '2026-02-15T10:00:00.000Z', '2026-02-15T10:00:00.000Z', '2026-03-15T10:00:00.000Z'],
    [
      'QUARTERLY',
      '2026-06-01T00:00:00.000Z',
      '2026-04-15T10:00:00.000Z',
      '2026-07-15T10:00:00.000Z',
    ],
    [
      'HALF_YEARLY',
      '2026-06-01T00:00:00.000Z',
      '2026-01-15T10:00:00.000Z',
      '2026-07-15T10:00:00.000Z',
    ],
    ['ANNUAL', '2027-06-01T00:00:00.000Z', '2027-01-15T10:00:00.000Z', '2028-01-15T10:00:00.000Z'],
    ['NEVER', '2036-06-01T00:00:00.000Z', '2026-01-15T10:00:00.000Z', null],
  ])('%s at %s: [%s, %s)', (reset, at, start, end) => {
    expect(resetWindowAt(schedule(), reset, at)).toEqual({ start, end });
  });

  test('the first window begins with the subscription, on the grid of its anchor', () => {
    const calendar = schedule({
      billing_cycle: 'calendar',
      billing_anchor: '2026-02-01T00:00:00.000Z',
    });
    expect(resetWindowAt(calendar, 'MONTHLY', '2026-01-20T00:00:00.000Z')).toEqual({
      start: '2026-01-15T10:00:00.000Z',
      end: '2026-02-01T00:00:00.000Z',
    });
    expect(resetWindowAt(calendar, 'MONTHLY', '2026-02-20T00:00:00.000Z')).toEqual({
      start: '2026-02-01T00:00:00.000Z',
      end: '2026-03-01T00:00:00.000Z',
    });
  });

  test.each<[UsageResetPeriod, string, string | null]>([
    ['DAILY', '2026-06-10T08:00:00.000Z', '2026-06-10T12:00:00.000Z'],
    ['MONTHLY', '2026-06-01T00:00:00.000Z', '2026-06-10T12:00:00.000Z'],
    ['MONTHLY', '2026-05-01T00:00:00.000Z', '2026-05-15T10:00:00.000Z'],
    ['ANNUAL', '2026-06-01T00:00:00.000Z', '2026-06-10T12:00:00.000Z'],
    ['NEVER', '2026-06-01T00:00:00.000Z', '2026-06-10T12:00:00.000Z'],
  ])('%s at %s ends with the subscription at the latest: %s', (reset, at, end) => {
    const ended = schedule({ end_date: '2026-06-10T12:00:00.000Z' });
    expect(resetWindowAt(ended, reset, at).end).toBe(end);
  });

  test.each<UsageResetPeriod>(['DAILY', 'MONTHLY', 'NEVER'])(
    '%s before the start is refused',
    (reset) => {
      expect(() => resetWindowAt(schedule(), reset, '2026-01-15T09:59:59.999Z')).toThrow(
        'must not be before the start of the subscription',
      );
    },
  );

  test('days are those of the customer', () => {
    const newYork = schedule({ customer_timezone: 'America/New_York' });
    expect(resetWindowAt(newYork, 'DAILY', '2026-03-08T12:00:00.000Z')).toEqual({
      start: '2026-03-08T05:00:00.000Z',
      end: '2026-03-09T04:00:00.000Z',
    });
  });
});

describe('windows inside a charge period', () => {
  const period = { start: '2026-01-15T10:00:00.000Z', end: '2026-04-15T10:00:00.000Z' };

  test('shorter windows tile it, the first and the last cut', () => {
    const days = windowsWithin(schedule(), 'DAILY', period);
    expect(days).toHaveLength(91);
    expect(days[0]).toEqual({ start: period.start, end: '2026-01-16T00:00:00.000Z' });
    expect(days.at(-1)).toEqual({ start: '2026-04-15T00:00:00.000Z', end: period.end });
    expect(windowsWithin(schedule(), 'MONTHLY', period)).toEqual([
      { start: '2026-01-15T10:00:00.000Z', end: '2026-02-15T10:00:00.000Z' },
      { start: '2026-02-15T10:00:00.000Z', end: '2026-03-15T10:00:00.000Z' },
      { start: '2026-03-15T10:00:00.000Z', end: '2026-04-15T10:00:00.000Z' },
    ]);
  });

  test('a longer window, and NEVER, give the period itself', () => {
    expect(windowsWithin(schedule(), 'ANNUAL', period)).toEqual([period]);
    expect(windowsWithin(schedule(), 'NEVER', period)).toEqual([period]);
  });

  test('a period that two longer windows share is cut between them', () => {
    const shared = { start: '2026-12-15T10:00:00.000Z', end: '2027-03-15T10:00:00.000Z' };
    expect(windowsWithin(schedule(), 'ANNUAL', shared)).toEqual([
      { start: shared.start, end: '2027-01-15T10:00:00.000Z' },
      { start: '2027-01-15T10:00:00.000Z', end: shared.end },
    ]);
  });

  test('an empty period has no windows', () => {
    expect(windowsWithin(schedule(), 'DAILY', { start: period.end, end: period.end })).toEqual([]);
  });
});

/** The windows that overlap a period, one after another, each cut to the period. */
function windowsWithin(of: ResetSchedule, reset: UsageResetPeriod, period: Period): Period[] {
  const windows: Period[] = [];
  for (let start = period.start; start < period.end;) {
    const end = earlierOf(period.end, resetWindowAt(of, reset, start).end);
    windows.push({ start, end });
    start = end;
  }
  return windows;
}
