import {
  addMonths,
  civilDate,
  dayNumber,
  daysInMonth,
  daysOfDate,
  monthNumber,
  startOfDay,
  startOfMonth,
  startOfWeek,
} from '../../../domain/time/civil.ts';

/** Wall-clock text as milliseconds, through the runtime's own calendar. */
const at = (text: string) => Date.parse(`${text}Z`);

describe('days and dates', () => {
  test.each<[number, number, number, number]>([
    [0, 1970, 1, 1],
    [-1, 1969, 12, 31],
    [59, 1970, 3, 1],
    [11_016, 2000, 2, 29],
    [11_017, 2000, 3, 1],
    [20_454, 2026, 1, 1],
    [-25_509, 1900, 2, 28],
    [-25_508, 1900, 3, 1],
    [-719_468, 0, 3, 1],
    [-719_528, 0, 1, 1],
    [2_932_896, 9999, 12, 31],
  ])('day %d is %d-%d-%d', (days, year, month, day) => {
    expect(civilDate(days)).toEqual({ year, month, day });
    expect(daysOfDate(year, month, day)).toBe(days);
  });

  test('every day of eight centuries follows the one before', () => {
    let previous = civilDate(daysOfDate(1600, 1, 1) - 1);
    for (let days = daysOfDate(1600, 1, 1); days < daysOfDate(2400, 1, 1); days++) {
      const date = civilDate(days);
      const follows =
        (date.day === previous.day + 1 && date.month === previous.month) ||
        (date.day === 1 && previous.day === daysInMonth(previous.year, previous.month));
      if (!follows) throw new Error(`${JSON.stringify(previous)} then ${JSON.stringify(date)}`);
      if (daysOfDate(date.year, date.month, date.day) !== days) throw new Error(`day ${days}`);
      previous = date;
    }
    expect(previous).toEqual({ year: 2399, month: 12, day: 31 });
  });

  test.each<[number, number, number]>([
    [2025, 2, 28],
    [2024, 2, 29],
    [1900, 2, 28],
    [2000, 2, 29],
    [2100, 2, 28],
    [2026, 1, 31],
    [2026, 4, 30],
    [2026, 6, 30],
    [2026, 9, 30],
    [2026, 11, 30],
    [2026, 12, 31],
    [2026, 3, 31],
    [2026, 5, 31],
    [2026, 7, 31],
    [2026, 8, 31],
    [2026, 10, 31],
  ])('%d-%d has %d days', (year, month, days) => expect(daysInMonth(year, month)).toBe(days));
});

describe('adding months clamps to the last day and keeps the clock', () => {
  test.each<[string, number, string]>([
    ['2026-01-31T09:30:00.123', 1, '2026-02-28T09:30:00.123'],
    ['2028-01-31T00:00', 1, '2028-02-29T00:00'],
    ['2026-01-31T00:00', 2, '2026-03-31T00:00'],
    ['2026-01-31T00:00', -1, '2025-12-31T00:00'],
    ['2026-03-31T23:59:59.999', -1, '2026-02-28T23:59:59.999'],
    ['2024-02-29T00:00', 12, '2025-02-28T00:00'],
    ['2024-02-29T00:00', 48, '2028-02-29T00:00'],
    ['2026-12-15T12:00', 1, '2027-01-15T12:00'],
    ['2026-01-15T12:00', -13, '2024-12-15T12:00'],
    ['2026-01-15T12:00', 0, '2026-01-15T12:00'],
    ['1969-12-31T23:59:59.999', 2, '1970-02-28T23:59:59.999'],
  ])('%s + %d months = %s', (from, months, to) => {
    expect(addMonths(at(from), months)).toBe(at(to));
  });

  test('half a month is a bug', () => expect(() => addMonths(0, 0.5)).toThrow('0.5 months'));
});

describe('beginnings', () => {
  test.each<[string, string, string]>([
    ['2026-08-16T23:59:59.999', '2026-08-16T00:00', '2026-08-10T00:00'],
    ['2026-08-17T00:00', '2026-08-17T00:00', '2026-08-17T00:00'],
    ['2026-08-18T12:00', '2026-08-18T00:00', '2026-08-17T00:00'],
    ['1970-01-01T00:00', '1970-01-01T00:00', '1969-12-29T00:00'],
    ['1969-12-28T23:00', '1969-12-28T00:00', '1969-12-22T00:00'],
    ['1969-12-31T23:59:59.999', '1969-12-31T00:00', '1969-12-29T00:00'],
  ])('%s: day %s, week %s', (local, day, week) => {
    expect(startOfDay(at(local))).toBe(at(day));
    expect(startOfWeek(at(local))).toBe(at(week));
    expect(dayNumber(at(local))).toBe(at(day) / 86_400_000);
  });

  test('months', () => {
    expect(monthNumber(at('2026-08-31T23:59'))).toBe(2026 * 12 + 7);
    expect(startOfMonth(2026 * 12 + 7)).toBe(at('2026-08-01T00:00'));
    expect(startOfMonth(2026 * 12 + 12)).toBe(at('2027-01-01T00:00'));
    expect(startOfMonth(1969 * 12 + 11)).toBe(at('1969-12-01T00:00'));
  });
});
