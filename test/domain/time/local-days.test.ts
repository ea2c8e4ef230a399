import { windowStart } from '../../../domain/time/usage-windows.ts';
import { advanceDays, localDaysBetween } from '../../../domain/time/local-days.ts';

const short = (text: string) => text.replace('.000Z', 'Z');

describe('back to a local boundary', () => {
  test.each<[string, string, string, string, string]>([
    [
      '',
      '2026-08-13T14:37:12Z',
      '2026-08-13T14:00:00Z',
      '2026-08-13T00:00:00Z',
      '2026-08-10T00:00:00Z',
    ],
    [
      'Asia/Kolkata',
      '2026-08-13T14:37:00Z',
      '2026-08-13T14:30:00Z',
      '2026-08-12T18:30:00Z',
      '2026-08-09T18:30:00Z',
    ],
    [
      'Asia/Kathmandu',
      '2026-08-13T14:37:00Z',
      '2026-08-13T14:15:00Z',
      '2026-08-12T18:15:00Z',
      '2026-08-09T18:15:00Z',
    ],
    [
      'America/New_York',
      '2026-11-01T06:30:00Z',
      '2026-11-01T06:00:00Z',
      '2026-11-01T04:00:00Z',
      '2026-10-26T04:00:00Z',
    ],
    [
      'America/New_York',
      '2026-11-02T04:59:59.999Z',
      '2026-11-02T04:00:00Z',
      '2026-11-01T04:00:00Z',
      '2026-10-26T04:00:00Z',
    ],
    [
      'America/New_York',
      '2026-11-02T05:00:00Z',
      '2026-11-02T05:00:00Z',
      '2026-11-02T05:00:00Z',
      '2026-11-02T05:00:00Z',
    ],
    [
      'Africa/Cairo',
      '2026-04-23T22:30:00Z',
      '2026-04-23T22:00:00Z',
      '2026-04-23T22:00:00Z',
      '2026-04-19T22:00:00Z',
    ],
  ])('%s %s', (zone, at, hour, day, week) => {
    expect(
      short(windowStart({ bucket_size: 'HOUR', timezone: zone, billing_anchor: null }, at)),
    ).toBe(hour);
    expect(
      short(windowStart({ bucket_size: 'DAY', timezone: zone, billing_anchor: null }, at)),
    ).toBe(day);
    expect(
      short(windowStart({ bucket_size: 'WEEK', timezone: zone, billing_anchor: null }, at)),
    ).toBe(week);
  });
});

describe('calendar days', () => {
  test.each<[string, number, string, string]>([
    ['2026-07-13T12:34:56Z', 3, '', '2026-07-16T12:34:56Z'],
    ['2026-07-13T00:00:00Z', -5, '', '2026-07-08T00:00:00Z'],
    ['2026-07-13T00:00:00Z', 0, '', '2026-07-13T00:00:00Z'],
    ['2026-03-05T05:00:00Z', 5, 'America/New_York', '2026-03-10T04:00:00Z'],
    ['2026-03-07T07:30:00Z', 1, 'America/New_York', '2026-03-08T07:30:00Z'],
    ['2026-10-31T05:30:00Z', 1, 'America/New_York', '2026-11-01T05:30:00Z'],
    ['2026-02-27T10:00:00Z', 2, 'UTC', '2026-03-01T10:00:00Z'],
  ])('%s and %d days in %j: %s', (at, days, zone, expected) => {
    expect(short(advanceDays(at, days, zone))).toBe(expected);
  });

  test.each<[string, string, string, number]>([
    ['2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', '', 28],
    ['2024-02-01T00:00:00Z', '2024-03-01T00:00:00Z', '', 29],
    ['2026-03-01T05:00:00Z', '2026-04-01T04:00:00Z', 'America/New_York', 31],
    ['2026-03-01T23:00:00Z', '2026-03-02T01:00:00Z', '', 1],
    ['2026-03-01T23:00:00Z', '2026-03-02T01:00:00Z', 'America/New_York', 0],
    ['2026-03-02T01:00:00Z', '2026-03-01T23:00:00Z', '', -1],
  ])('from %s to %s in %j: %d', (start, end, zone, days) => {
    expect(localDaysBetween(start, end, zone)).toBe(days);
  });
});
