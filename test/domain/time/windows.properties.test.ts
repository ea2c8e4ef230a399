import fc from 'fast-check';
import { BUCKET_SIZES } from '../../../domain/metering/usage.ts';
import { type BucketSize, windowStart, windowsWithin } from '../../../domain/time/usage-windows.ts';
import { epochMs, isoText } from '../../../domain/time/instant.ts';
import { zoneOf } from '../../../domain/time/zone.ts';
import { property } from '../../support/properties.ts';
import { ALL_ZONES, luxonLocal, luxonOffset } from '../../support/second-calendar.ts';

const HOUR = 3_600_000;
const zones = fc.constantFrom(...ALL_ZONES);
const sizes = fc.constantFrom(...BUCKET_SIZES);
const instant = fc.integer({ min: Date.parse('1990-01-01'), max: Date.parse('2050-01-01') });
/** Some 40 windows of each size at most. */
const longest: Record<BucketSize, number> = {
  MINUTE: HOUR / 2,
  '15MIN': 10 * HOUR,
  '30MIN': 20 * HOUR,
  HOUR: 40 * HOUR,
  '3HOUR': 120 * HOUR,
  '6HOUR': 240 * HOUR,
  '12HOUR': 480 * HOUR,
  DAY: 960 * HOUR,
  WEEK: 5_000 * HOUR,
  MONTH: 20_000 * HOUR,
};

/** Ranges around the last change of the clock before an instant, where there is one. */
const cases = fc
  .record({
    zone: zones,
    size: sizes,
    at: instant,
    share: fc.double({ min: 0.001, max: 1, noNaN: true }),
    nearChange: fc.boolean(),
    anchor: fc.option(instant),
  })
  .map(({ zone, size, at, share, nearChange, anchor }) => {
    const length = Math.ceil(longest[size] * share);
    const change = nearChange ? zoneOf(zone).changeWithin(at - 400 * 24 * HOUR, at) : null;
    const start = change === null ? at : change - Math.floor(length / 2);
    return {
      zone,
      size,
      window: {
        bucket_size: size,
        timezone: zone,
        billing_anchor: anchor === null ? null : isoText(anchor),
      },
      period: { start: isoText(start), end: isoText(start + length) },
    };
  });

describe('usage windows', () => {
  property(
    'tile the range, and keep the identity of their grid',
    fc.property(cases, ({ window, period }) => {
      const cells = windowsWithin(window, period);
      let at = epochMs(period.start);
      for (const cell of cells) {
        expect(epochMs(cell.start)).toBe(at);
        at = epochMs(cell.end);
        expect(epochMs(cell.window_start)).toBeLessThanOrEqual(epochMs(cell.start));
        expect(epochMs(cell.window_end)).toBeGreaterThanOrEqual(at);
        expect(windowStart(window, cell.start)).toBe(cell.window_start);
        expect(windowStart(window, isoText(at - 1))).toBe(cell.window_start);
      }
      expect(at).toBe(epochMs(period.end));
      // Only the range cuts: inner windows are whole.
      for (const cell of cells.slice(1, -1)) {
        expect([cell.start, cell.end]).toEqual([cell.window_start, cell.window_end]);
      }
    }),
    { quick: 150, deep: 8_000 },
  );

  property(
    'begin at their wall-clock time, or where a change of the clock put its hands',
    fc.property(cases, ({ zone, size, window, period }) => {
      for (const { window_start } of windowsWithin(window, period)) {
        const ms = epochMs(window_start);
        const local = luxonLocal(zone, ms);
        const changed = luxonOffset(zone, ms - 1) !== luxonOffset(zone, ms);
        const minutes = local.hour * 60 + local.minute;
        const wholeSeconds = local.second === 0 && local.millisecond === 0;
        const onTime = {
          MINUTE: () => wholeSeconds,
          '15MIN': () => wholeSeconds && minutes % 15 === 0,
          '30MIN': () => wholeSeconds && minutes % 30 === 0,
          HOUR: () => wholeSeconds && minutes % 60 === 0,
          '3HOUR': () => wholeSeconds && minutes % 180 === 0,
          '6HOUR': () => wholeSeconds && minutes % 360 === 0,
          '12HOUR': () => wholeSeconds && minutes % 720 === 0,
          DAY: () => wholeSeconds && minutes === 0,
          WEEK: () => wholeSeconds && minutes === 0 && local.weekday === 1,
          MONTH: () =>
            window.billing_anchor !== null || (wholeSeconds && minutes === 0 && local.day === 1),
        }[size];
        // A wall-clock time that is skipped begins later that day, by at most the gap of a day.
        const skipped = local.hour * HOUR + local.minute * 60_000;
        const movedByGap = changedBefore(zone, ms, Math.max(skipped, 3 * HOUR));
        expect(onTime() || changed || movedByGap).toBe(true);
      }
    }),
    { quick: 150, deep: 8_000 },
  );

  property(
    'of an hour or less are never longer than that, others differ by the change only',
    fc.property(cases, ({ zone, size, window, period }) => {
      const lengths: Partial<Record<BucketSize, number>> = {
        MINUTE: 60_000,
        '15MIN': 15 * 60_000,
        '30MIN': 30 * 60_000,
        HOUR,
        '3HOUR': 3 * HOUR,
        '6HOUR': 6 * HOUR,
        '12HOUR': 12 * HOUR,
        DAY: 24 * HOUR,
        WEEK: 168 * HOUR,
      };
      const length = lengths[size];
      if (length === undefined) return;
      for (const cell of windowsWithin(window, period)) {
        const start = epochMs(cell.window_start);
        const end = epochMs(cell.window_end);
        const same = luxonOffset(zone, start - 24 * HOUR) === luxonOffset(zone, end + 24 * HOUR);
        if (length <= HOUR) expect(end - start).toBeLessThanOrEqual(length);
        if (same && zoneOf(zone).changeWithin(start - 48 * HOUR, end + 48 * HOUR) === null) {
          expect(end - start).toBe(length);
        }
      }
    }),
    { quick: 150, deep: 8_000 },
  );
});

function changedBefore(zone: string, ms: number, within: number): boolean {
  return luxonOffset(zone, ms) !== luxonOffset(zone, ms - within - 1);
}
