import fc from 'fast-check';
import { billingGrid, type RecurringPeriod } from '../../../domain/time/billing-grid.ts';
import { calendarAnchor } from '../../../domain/time/billing-anchor.ts';
import {
  billingPeriods,
  endOfPeriods,
  periodContaining,
  type BillingSchedule,
} from '../../../domain/time/billing-periods.ts';
import { chargeCells } from '../../../domain/time/charge-cells.ts';
import { earlierOf, epochMs, isoText, type Period } from '../../../domain/time/instant.ts';
import {
  resetWindowAt,
  type ResetSchedule,
  type UsageResetPeriod,
} from '../../../domain/time/reset-windows.ts';
import { property } from '../../support/properties.ts';
import { ALL_ZONES, luxonAdd, luxonInstant, luxonLocal } from '../../support/second-calendar.ts';

const DAY = 86_400_000;
const first = Date.parse('1990-01-01');
const last = Date.parse('2050-01-01');

const zones = fc.constantFrom(...ALL_ZONES);
const units: Record<RecurringPeriod, ['months' | 'days', number]> = {
  DAILY: ['days', 1],
  WEEKLY: ['days', 7],
  MONTHLY: ['months', 1],
  QUARTERLY: ['months', 3],
  HALF_YEARLY: ['months', 6],
  ANNUAL: ['months', 12],
};
const period = fc.constantFrom(...(Object.keys(units) as RecurringPeriod[]));

/** Instants on all days, with the ends of months and the hours of clock changes in favour. */
const instant = fc
  .tuple(
    fc.integer({ min: 1990, max: 2049 }),
    fc.integer({ min: 0, max: 11 }),
    fc.oneof(fc.integer({ min: 1, max: 28 }), fc.integer({ min: 28, max: 31 })),
    fc.oneof(
      fc.integer({ min: 0, max: DAY - 1 }),
      fc.constantFrom(0, 3_600_000, 7_200_000, 9_000_000),
    ),
  )
  .map(([year, month, day, time]) => Date.UTC(year, month, day) + time)
  .filter((ms) => ms >= first && ms < last);

const rhythm = fc.record({
  anchor: instant,
  billing_period: period,
  billing_period_count: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 13 })),
  zone: zones,
});

/** A schedule whose start is near its anchor, on either side, or exactly on it. */
const schedules = fc
  .tuple(
    rhythm,
    fc.oneof(
      fc.constant(0),
      fc.integer({ min: -500 * DAY, max: 500 * DAY }),
      fc.integer({ min: -DAY, max: DAY }),
    ),
    fc.option(fc.integer({ min: 1, max: 3_000 * DAY })),
  )
  .map(([{ anchor, zone, ...unit }, offset, length]): BillingSchedule => ({
    ...unit,
    start_date: isoText(anchor + offset),
    end_date: length === null ? null : isoText(anchor + offset + length),
    billing_anchor: isoText(anchor),
    billing_cycle: 'anniversary',
    customer_timezone: zone,
  }));

const FAR = '9000-01-01T00:00:00.000Z';

function firstPeriods(schedule: BillingSchedule, count: number) {
  return billingPeriods(schedule, schedule.start_date, FAR, count);
}

property(
  'the end of the n-th period is that of the n-th in their list',
  fc.property(
    schedules,
    fc.integer({ min: -400, max: 400 }),
    fc.integer({ min: 1, max: 40 }),
    instant,
    (schedule, days, count, until) => {
      const from = isoText(epochMs(schedule.start_date) + days * DAY);
      for (const bound of [FAR, isoText(until)])
        expect(endOfPeriods(schedule, from, bound, count)).toBe(
          billingPeriods(schedule, from, bound, count).at(-1)?.end ?? null,
        );
    },
  ),
);

/** B(k) by luxon: its calendar for the clock time, its offsets for the instant. */
function luxonBoundary(schedule: BillingSchedule, k: number): number {
  const zone = schedule.customer_timezone;
  const anchor = epochMs(schedule.billing_anchor);
  if (k === 0) return anchor;
  const local = anchor + luxonLocal(zone, anchor).offset * 60_000;
  const [unit, length] = units[schedule.billing_period];
  return luxonInstant(zone, luxonAdd(local, unit, k * length * schedule.billing_period_count));
}

describe('the boundary function agrees with a second calendar', () => {
  property(
    'B(k) for every unit, count, anchor and zone, 1990 to 2050',
    fc.property(rhythm, fc.integer({ min: -60, max: 60 }), ({ anchor, zone, ...unit }, k) => {
      const schedule: BillingSchedule = {
        ...unit,
        start_date: isoText(anchor),
        end_date: null,
        billing_anchor: isoText(anchor),
        billing_cycle: 'anniversary',
        customer_timezone: zone,
      };
      const grid = billingGrid(schedule);
      expect(grid.boundaryMs(k)).toBe(luxonBoundary(schedule, k));
      // The index is the greatest whose boundary is not later, so a boundary's own index has its instant.
      expect(grid.boundaryMs(grid.indexAtMs(grid.boundaryMs(k)))).toBe(grid.boundaryMs(k));
      expect(grid.boundaryMs(grid.indexAtMs(grid.boundaryMs(k) - 1))).toBeLessThan(
        grid.boundaryMs(k),
      );
    }),
    { quick: 300, deep: 40_000 },
  );

  property(
    'twelve months are a year, and the clamped day comes back',
    fc.property(rhythm, fc.integer({ min: -10, max: 10 }), ({ anchor, zone }, years) => {
      const base = {
        billing_anchor: isoText(anchor),
        billing_cycle: 'anniversary',
        customer_timezone: zone,
      } as const;
      const months = billingGrid({ ...base, billing_period: 'MONTHLY', billing_period_count: 1 });
      const annual = billingGrid({ ...base, billing_period: 'ANNUAL', billing_period_count: 1 });
      expect(months.boundary(12 * years)).toBe(annual.boundary(years));
      const day = luxonLocal(zone, anchor).day;
      const back = luxonLocal(zone, months.boundaryMs(12 * years));
      const isLeapDay = luxonLocal(zone, anchor).month === 2 && day === 29;
      if (!isLeapDay && back.hour === luxonLocal(zone, anchor).hour) expect(back.day).toBe(day);
    }),
    { quick: 100, deep: 5_000 },
  );
});

describe('periods tile the life of a subscription', () => {
  property(
    'no gap, no overlap, on boundaries, from the start to the end',
    fc.property(schedules, (schedule) => {
      const periods = firstPeriods(schedule, 15);
      expect(periods.length).toBeGreaterThan(0);
      let at = epochMs(schedule.start_date);
      for (const cell of periods) {
        expect(epochMs(cell.start)).toBe(at);
        expect(epochMs(cell.end)).toBeGreaterThan(at);
        at = epochMs(cell.end);
        expect(cell.is_stub).toBe(
          cell.start !== cell.reference.start || cell.end !== cell.reference.end,
        );
        expect(epochMs(cell.reference.start)).toBeLessThanOrEqual(epochMs(cell.start));
        expect(epochMs(cell.reference.end)).toBeGreaterThanOrEqual(epochMs(cell.end));
      }
      if (periods.length < 15) expect(at).toBe(epochMs(schedule.end_date!));

      // Inner boundaries are boundaries of the second calendar, one after the other.
      const grid = billingGrid(schedule);
      for (const { end } of periods.slice(0, -1)) {
        expect(epochMs(end)).toBe(luxonBoundary(schedule, grid.indexAt(end)));
      }
      // Only the first and the last can be stubs.
      expect(periods.slice(1, -1).some((cell) => cell.is_stub)).toBe(false);
    }),
    { quick: 150, deep: 8_000 },
  );

  property(
    'every instant is in the one period that the list has for it',
    fc.property(schedules, fc.double({ min: 0, max: 1, noNaN: true }), (schedule, share) => {
      const periods = firstPeriods(schedule, 12);
      const start = epochMs(periods[0]!.start);
      const end = epochMs(periods.at(-1)!.end);
      const at = Math.min(end - 1, start + Math.floor((end - start) * share));
      const holding = periods.filter((cell) => epochMs(cell.start) <= at && at < epochMs(cell.end));
      expect(holding).toHaveLength(1);
      expect(periodContaining(schedule, isoText(at))).toEqual(holding[0]);
      expect(periodContaining(schedule, isoText(start - 1))).toBeNull();
      if (schedule.end_date !== null) {
        expect(periodContaining(schedule, schedule.end_date)).toBeNull();
      }
    }),
    { quick: 150, deep: 8_000 },
  );

  property(
    'a first period is never hours long because of an anchor on the same local date',
    fc.property(rhythm, fc.integer({ min: 1, max: DAY }), ({ anchor, zone, ...unit }, before) => {
      const start = anchor - before;
      const sameDate = luxonLocal(zone, start).toISODate() === luxonLocal(zone, anchor).toISODate();
      const [cell] = firstPeriods(
        {
          ...unit,
          start_date: isoText(start),
          end_date: null,
          billing_anchor: isoText(anchor),
          billing_cycle: 'anniversary',
          customer_timezone: zone,
        },
        1,
      );
      if (sameDate) {
        expect(epochMs(cell!.end)).toBeGreaterThan(anchor);
        expect(cell!.is_stub).toBe(false);
      }
    }),
    { quick: 100, deep: 5_000 },
  );
});

describe('calendar anchors', () => {
  property(
    'are the first boundary of the unit at or after the start, by luxon',
    fc.property(zones, instant, period, (zone, ms, unit) => {
      const anchor = epochMs(calendarAnchor(isoText(ms), unit, zone));
      expect(anchor).toBeGreaterThanOrEqual(ms);
      const local = luxonLocal(zone, anchor);
      const unitStart = {
        DAILY: () => true,
        WEEKLY: () => local.weekday === 1,
        MONTHLY: () => local.day === 1,
        QUARTERLY: () => local.day === 1 && local.month % 3 === 1,
        HALF_YEARLY: () => local.day === 1 && local.month % 6 === 1,
        ANNUAL: () => local.day === 1 && local.month === 1,
      }[unit];
      expect(unitStart()).toBe(true);
      // The moment before belongs to another date, and that date is the start's or later.
      expect(luxonLocal(zone, anchor - 1).toISODate()).not.toBe(local.toISODate());
      const [luxonUnit, length] = units[unit];
      const longest = luxonAdd(ms, luxonUnit, length) - ms + 4 * DAY;
      expect(anchor - ms).toBeLessThanOrEqual(longest);
    }),
    { quick: 150, deep: 8_000 },
  );
});

describe('charge cells', () => {
  const pairs = fc.constantFrom<[RecurringPeriod, RecurringPeriod, number]>(
    ['QUARTERLY', 'MONTHLY', 3],
    ['ANNUAL', 'MONTHLY', 12],
    ['ANNUAL', 'QUARTERLY', 4],
    ['ANNUAL', 'HALF_YEARLY', 2],
    ['HALF_YEARLY', 'MONTHLY', 6],
    ['MONTHLY', 'MONTHLY', 1],
  );
  property(
    'tile every billing period, and a full period has its whole number of full cells',
    fc.property(schedules, pairs, (schedule, [own, price, ratio]) => {
      const subscription = { ...schedule, billing_period: own, billing_period_count: 1 };
      for (const cell of firstPeriods(subscription, 4)) {
        const cells = chargeCells(
          subscription,
          { billing_period: price, billing_period_count: 1 },
          cell,
        );
        expect(cells[0]!.cell.start).toBe(cell.start);
        expect(cells.at(-1)!.cell.end).toBe(cell.end);
        cells.slice(1).forEach((next, index) => {
          expect(next.cell.start).toBe(cells[index]!.cell.end);
        });
        if (!cell.is_stub) {
          expect(cells).toHaveLength(ratio);
          for (const part of cells) expect(part.reference).toEqual(part.cell);
        }
      }
    }),
    { quick: 100, deep: 5_000 },
  );
});

describe('reset windows', () => {
  const reset = fc.constantFrom<RecurringPeriod[]>(
    'DAILY',
    'WEEKLY',
    'MONTHLY',
    'QUARTERLY',
    'ANNUAL',
  );
  property(
    'tile any charge period, and each instant is in the window that names it',
    fc.property(
      schedules,
      reset,
      fc.integer({ min: 1, max: 100 * DAY }),
      (subscription, every, length) => {
        const schedule = { ...subscription, end_date: null };
        const start = epochMs(schedule.start_date);
        const charge = { start: schedule.start_date, end: isoText(start + length) };
        const windows = windowsWithin(schedule, every, charge);
        let at = start;
        for (const window of windows) {
          expect(epochMs(window.start)).toBe(at);
          at = epochMs(window.end);
          const holding = resetWindowAt(schedule, every, window.start);
          expect(epochMs(holding.start)).toBeLessThanOrEqual(epochMs(window.start));
          expect(epochMs(holding.end!)).toBeGreaterThanOrEqual(epochMs(window.end));
          expect(resetWindowAt(schedule, every, isoText(at - 1))).toEqual(holding);
        }
        expect(at).toBe(start + length);
      },
    ),
    { quick: 100, deep: 4_000 },
  );
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
