import fc from 'fast-check';
import { parseTimestamp } from '../../schemas/events/timestamp.ts';
import { property } from '../support/properties.ts';

describe('RFC 3339 times', () => {
  test.each`
    text                                  | time
    ${'1970-01-01T00:00:00Z'}             | ${0}
    ${'2024-02-29T23:59:59.999Z'}         | ${Date.UTC(2024, 1, 29, 23, 59, 59, 999)}
    ${'2026-01-15T16:00:00.123456+05:30'} | ${Date.UTC(2026, 0, 15, 10, 30, 0, 123)}
    ${'2026-01-15T00:00:00.9999-08:00'}   | ${Date.UTC(2026, 0, 15, 8, 0, 0, 999)}
    ${'2026-01-15t00:00:00.5z'}           | ${Date.UTC(2026, 0, 15, 0, 0, 0, 500)}
    ${'2026-01-15T00:00:00.05Z'}          | ${Date.UTC(2026, 0, 15, 0, 0, 0, 50)}
    ${'1969-12-31T23:59:59.999Z'}         | ${-1}
    ${'2026-01-15'}                       | ${null}
    ${'2026-01-15T10:00:00'}              | ${null}
    ${'2026-01-15T10:00Z'}                | ${null}
    ${'2026-01-15 10:00:00Z'}             | ${null}
    ${'2026-01-15T10:00:00.Z'}            | ${null}
    ${'2026-01-15T10:00:00+0530'}         | ${null}
    ${'2026-01-15T10:00:00+05'}           | ${null}
    ${'2026-01-15T10:00:00+24:00'}        | ${null}
    ${'2026-01-15T10:00:00ZZ'}            | ${null}
    ${'2026-01-15T24:00:00Z'}             | ${null}
    ${'2026-01-15T23:59:60Z'}             | ${null}
    ${'2025-02-29T00:00:00Z'}             | ${null}
    ${'1900-02-29T00:00:00Z'}             | ${null}
    ${'2026-13-01T00:00:00Z'}             | ${null}
    ${'2026-00-01T00:00:00Z'}             | ${null}
    ${'2026-01-00T00:00:00Z'}             | ${null}
    ${'+026-01-15T10:00:00Z'}             | ${null}
    ${'2026-01-1５T10:00:00Z'}            | ${null}
    ${''}                                 | ${null}
  `('$text is $time', ({ text, time }) => expect(parseTimestamp(text)).toBe(time));

  property(
    'an instant in any zone and precision is that instant',
    fc.property(
      fc.integer({ min: 0, max: 253_402_300_799_999 }),
      fc.integer({ min: -1439, max: 1439 }),
      fc.integer({ min: 3, max: 9 }),
      (time, offset, places) => {
        const local = new Date(time + offset * 60_000);
        fc.pre(local.getUTCFullYear() >= 1970 && local.getUTCFullYear() <= 9999);
        const sign = offset < 0 ? '-' : '+';
        const zone = new Date(Math.abs(offset) * 60_000).toISOString().slice(11, 16);
        const text = local.toISOString().slice(0, -1) + '9'.repeat(places - 3) + sign + zone;
        expect(parseTimestamp(text)).toBe(time);
      },
    ),
    { quick: 2_000 },
  );
});
