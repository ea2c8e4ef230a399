import { type BucketSize, windowStart, windowsWithin } from '../../../domain/time/usage-windows.ts';

const window = (bucket_size: BucketSize, timezone = '', billing_anchor: string | null = null) => ({
  bucket_size,
  timezone,
  billing_anchor,
});
const short = (text: string) => text.replace('.000Z', '').replace(':00Z', '');
const starts = (of: ReturnType<typeof window>, start: string, end: string) =>
  windowsWithin(of, { start, end }).map((cell) => short(cell.window_start));

describe('the window that holds an instant (billing 2.4)', () => {
  test.each<[BucketSize, string, string, string]>([
    ['MINUTE', '', '2026-03-04T05:06:07.008Z', '2026-03-04T05:06:00.000Z'],
    ['15MIN', '', '2026-03-04T05:29:59.999Z', '2026-03-04T05:15:00.000Z'],
    ['15MIN', '', '2026-03-04T05:30:00.000Z', '2026-03-04T05:30:00.000Z'],
    ['30MIN', '', '2026-03-04T05:29:59.999Z', '2026-03-04T05:00:00.000Z'],
    ['HOUR', '', '2026-03-04T05:59:59.999Z', '2026-03-04T05:00:00.000Z'],
    ['3HOUR', '', '2026-03-04T05:59:59.999Z', '2026-03-04T03:00:00.000Z'],
    ['6HOUR', '', '2026-03-04T05:59:59.999Z', '2026-03-04T00:00:00.000Z'],
    ['6HOUR', '', '2026-03-04T06:00:00.000Z', '2026-03-04T06:00:00.000Z'],
    ['12HOUR', '', '2026-03-04T11:59:59.999Z', '2026-03-04T00:00:00.000Z'],
    ['DAY', '', '2026-03-04T23:59:59.999Z', '2026-03-04T00:00:00.000Z'],
    ['WEEK', '', '2026-03-08T23:59:59.999Z', '2026-03-02T00:00:00.000Z'],
    ['WEEK', '', '2026-03-09T00:00:00.000Z', '2026-03-09T00:00:00.000Z'],
    ['MONTH', '', '2026-03-31T23:59:59.999Z', '2026-03-01T00:00:00.000Z'],
    // Wall clocks of Kathmandu are 5:45 ahead.
    ['MINUTE', 'Asia/Kathmandu', '2026-03-04T05:06:07.008Z', '2026-03-04T05:06:00.000Z'],
    ['HOUR', 'Asia/Kathmandu', '2026-03-04T05:14:59.999Z', '2026-03-04T04:15:00.000Z'],
    ['HOUR', 'Asia/Kathmandu', '2026-03-04T05:15:00.000Z', '2026-03-04T05:15:00.000Z'],
    ['30MIN', 'Asia/Kathmandu', '2026-03-04T05:14:59.999Z', '2026-03-04T04:45:00.000Z'],
    ['3HOUR', 'Asia/Kathmandu', '2026-03-04T05:00:00.000Z', '2026-03-04T03:15:00.000Z'],
    ['DAY', 'Asia/Kathmandu', '2026-03-04T18:14:59.999Z', '2026-03-03T18:15:00.000Z'],
    ['WEEK', 'Asia/Kathmandu', '2026-03-08T18:14:59.999Z', '2026-03-01T18:15:00.000Z'],
    ['MONTH', 'Europe/Berlin', '2026-03-01T00:30:00.000Z', '2026-02-28T23:00:00.000Z'],
    ['MONTH', 'Europe/Berlin', '2026-04-30T21:59:59.999Z', '2026-03-31T22:00:00.000Z'],
  ])('%s %j %s: %s', (size, timezone, at, start) => {
    expect(windowStart(window(size, timezone), at)).toBe(start);
    expect(windowStart(window(size, timezone), start)).toBe(start);
    const before = new Date(Date.parse(start) - 1).toISOString();
    expect(windowStart(window(size, timezone), before) < start).toBe(true);
  });

  test.each<[string, string, string]>([
    ['2026-01-31T00:00:00Z', '2026-02-27T23:59:59.999Z', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T00:00:00Z', '2026-02-28T00:00:00.000Z', '2026-02-28T00:00:00.000Z'],
    ['2026-01-31T00:00:00Z', '2026-03-30T23:59:59.999Z', '2026-02-28T00:00:00.000Z'],
    ['2026-01-18T00:00:00Z', '2026-01-10T00:00:00.000Z', '2025-12-18T00:00:00.000Z'],
    ['2024-02-29T12:00:00Z', '2026-02-28T12:00:00.000Z', '2026-02-28T12:00:00.000Z'],
  ])('MONTH from the anchor %s at %s: %s', (anchor, at, start) => {
    expect(windowStart(window('MONTH', '', anchor), at)).toBe(start);
  });
});

describe('days with 23 and 25 hours', () => {
  const newYork = 'America/New_York';
  const spring = ['2026-03-08T05:00:00Z', '2026-03-09T04:00:00Z'] as const;
  const autumn = ['2026-11-01T04:00:00Z', '2026-11-02T05:00:00Z'] as const;

  test.each<[BucketSize, number, number]>([
    ['MINUTE', 23 * 60, 25 * 60],
    ['15MIN', 23 * 4, 25 * 4],
    ['30MIN', 46, 50],
    ['HOUR', 23, 25],
    ['3HOUR', 8, 8],
    ['6HOUR', 4, 4],
    ['12HOUR', 2, 2],
    ['DAY', 1, 1],
  ])('%s: %d and %d windows', (size, inSpring, inAutumn) => {
    expect(starts(window(size, newYork), ...spring)).toHaveLength(inSpring);
    expect(starts(window(size, newYork), ...autumn)).toHaveLength(inAutumn);
  });

  test('three-hour windows begin at their wall-clock time', () => {
    expect(
      starts(window('3HOUR', newYork), '2026-03-08T05:00:00Z', '2026-03-08T14:00:00Z'),
    ).toEqual([
      '2026-03-08T05:00:00',
      '2026-03-08T07:00:00',
      '2026-03-08T10:00:00',
      '2026-03-08T13:00:00',
    ]);
    expect(
      starts(window('3HOUR', newYork), '2026-11-01T04:00:00Z', '2026-11-01T12:00:00Z'),
    ).toEqual(['2026-11-01T04:00:00', '2026-11-01T08:00:00', '2026-11-01T11:00:00']);
  });

  test('the half hour of Lord Howe', () => {
    const lordHowe = 'Australia/Lord_Howe';
    expect(
      starts(window('HOUR', lordHowe), '2026-04-04T13:00:00Z', '2026-04-04T17:00:00Z'),
    ).toEqual([
      '2026-04-04T13:00:00',
      '2026-04-04T14:00:00',
      '2026-04-04T15:00:00',
      '2026-04-04T15:30:00',
      '2026-04-04T16:30:00',
    ]);
    expect(
      starts(window('HOUR', lordHowe), '2026-10-03T14:30:00Z', '2026-10-03T17:00:00Z'),
    ).toEqual(['2026-10-03T14:30:00', '2026-10-03T15:30:00', '2026-10-03T16:00:00']);
    expect(windowStart(window('HOUR', lordHowe), '2026-04-04T15:29:59.999Z')).toBe(
      '2026-04-04T15:00:00.000Z',
    );
  });

  test('a clock that changes one minute after midnight', () => {
    // St John's went back from 00:01 to 23:01 on 1 November 2009.
    expect(
      starts(window('HOUR', 'America/St_Johns'), '2009-11-01T01:30:00Z', '2009-11-01T05:00:00Z'),
    ).toEqual([
      '2009-11-01T01:30:00',
      '2009-11-01T02:30:00',
      '2009-11-01T02:31:00',
      '2009-11-01T03:30:00',
      '2009-11-01T04:30:00',
    ]);
  });

  test('three hours at once, forwards and back, in Casey', () => {
    const casey = (size: BucketSize) => window(size, 'Antarctica/Casey');
    // 02:00 became 05:00: the window that would begin at 03:00 begins where 06:00 does.
    expect(starts(casey('3HOUR'), '2009-10-17T16:00:00Z', '2009-10-18T00:00:00Z')).toEqual([
      '2009-10-17T16:00:00',
      '2009-10-17T19:00:00',
      '2009-10-17T22:00:00',
    ]);
    expect(windowStart(casey('3HOUR'), '2009-10-17T18:10:00Z')).toBe('2009-10-17T16:00:00.000Z');
    // 02:00 became 23:00 of the day before: the day had begun and goes on, for 27 hours.
    expect(starts(casey('DAY'), '2010-03-03T13:00:00Z', '2010-03-06T16:00:00Z')).toEqual([
      '2010-03-03T13:00:00',
      '2010-03-04T13:00:00',
      '2010-03-05T16:00:00',
    ]);
    expect(windowStart(casey('DAY'), '2010-03-04T15:30:00Z')).toBe('2010-03-04T13:00:00.000Z');
    expect(starts(casey('HOUR'), '2010-03-04T13:00:00Z', '2010-03-04T17:00:00Z')).toEqual([
      '2010-03-04T13:00:00',
      '2010-03-04T14:00:00',
      '2010-03-04T15:00:00',
      '2010-03-04T16:00:00',
    ]);
  });

  test('the day that Samoa skipped is no window', () => {
    expect(
      starts(window('DAY', 'Pacific/Apia'), '2011-12-29T10:00:00Z', '2011-12-31T10:00:00Z'),
    ).toEqual(['2011-12-29T10:00:00', '2011-12-30T10:00:00']);
  });
});

describe('windows are cut to the range and keep their identity', () => {
  test('a part of a day on both sides', () => {
    expect(
      windowsWithin(window('DAY'), { start: '2026-01-10T12:30:00Z', end: '2026-01-12T06:00:00Z' }),
    ).toEqual([
      {
        window_start: '2026-01-10T00:00:00.000Z',
        window_end: '2026-01-11T00:00:00.000Z',
        start: '2026-01-10T12:30:00Z',
        end: '2026-01-11T00:00:00.000Z',
      },
      {
        window_start: '2026-01-11T00:00:00.000Z',
        window_end: '2026-01-12T00:00:00.000Z',
        start: '2026-01-11T00:00:00.000Z',
        end: '2026-01-12T00:00:00.000Z',
      },
      {
        window_start: '2026-01-12T00:00:00.000Z',
        window_end: '2026-01-13T00:00:00.000Z',
        start: '2026-01-12T00:00:00.000Z',
        end: '2026-01-12T06:00:00Z',
      },
    ]);
  });

  test('a range inside one window, and no range', () => {
    const inside = { start: '2026-01-10T10:05:00Z', end: '2026-01-10T10:06:00Z' };
    expect(windowsWithin(window('HOUR'), inside)).toEqual([
      {
        window_start: '2026-01-10T10:00:00.000Z',
        window_end: '2026-01-10T11:00:00.000Z',
        ...inside,
      },
    ]);
    expect(windowsWithin(window('HOUR'), { start: inside.end, end: inside.end })).toEqual([]);
  });

  test('months from the 31st', () => {
    expect(
      starts(
        window('MONTH', '', '2026-01-31T00:00:00Z'),
        '2026-01-31T00:00:00Z',
        '2026-05-01T00:00:00Z',
      ),
    ).toEqual([
      '2026-01-31T00:00:00',
      '2026-02-28T00:00:00',
      '2026-03-31T00:00:00',
      '2026-04-30T00:00:00',
    ]);
  });
});
