import { CREDIT_GRANT_PERIODS } from '../../../schemas/words.ts';
import fc from 'fast-check';
import { DateTime } from 'luxon';
import { decimal, sum } from '../../../domain/money.ts';
import { cooldownMs, cooldownText } from '../../../domain/wallet/auto-top-up.ts';
import {
  firstPeriodCredits,
  type GrantApplication,
} from '../../../domain/wallet/grant-application.ts';
import {
  attachedGrantStart,
  firstApplication,
  nextApplication,
  upcomingApplication,
  type RunningGrant,
} from '../../../domain/wallet/grant-schedule.ts';
import { property } from '../../support/properties.ts';

const zones = fc.constantFrom(
  'UTC',
  'America/New_York',
  'Asia/Kolkata',
  'Australia/Lord_Howe',
  'Africa/Casablanca',
);
const instants = fc
  .integer({ min: Date.UTC(2020, 0, 1) / 60_000, max: Date.UTC(2040, 0, 1) / 60_000 })
  .map((minute) => new Date(minute * 60_000).toISOString());

const LUXON = {
  DAILY: { days: 1 },
  WEEKLY: { weeks: 1 },
  MONTHLY: { months: 1 },
  QUARTERLY: { months: 3 },
  HALF_YEARLY: { months: 6 },
  ANNUAL: { years: 1 },
} as const;

function applications(grant: RunningGrant, count: number): GrantApplication[] {
  const found: GrantApplication[] = [];
  for (
    let next = firstApplication(grant);
    next !== null && found.length < count;
    next = nextApplication(grant, next)
  ) {
    found.push(next);
  }
  return found;
}

property(
  'the upcoming application is the first one after now when stepping from one to the next',
  fc.property(
    instants,
    zones,
    fc.constantFrom('MONTHLY', 'QUARTERLY', 'ANNUAL', 'WEEKLY' as const),
    fc.integer({ min: 1, max: 3 }),
    fc.integer({ min: -40, max: 700 }),
    fc.option(fc.integer({ min: 1, max: 900 })),
    fc.integer({ min: -20, max: 20 }),
    (start, zone, period, count, daysOn, lasts, anchorDays) => {
      const days = (more: number) => new Date(Date.parse(start) + more * 86_400_000).toISOString();
      const grant: RunningGrant = {
        credits: '10',
        cadence: 'RECURRING',
        period,
        period_count: count,
        start_date: start,
        end_date: lasts === null ? null : days(lasts),
        credit_grant_anchor: days(anchorDays),
        timezone: zone,
      };
      const at = days(daysOn);
      const stepped = applications(grant, 200).find(({ scheduled_for }) => scheduled_for > at);
      const upcoming = upcomingApplication(grant, { subscription_status: 'active' }, at);
      expect(upcoming).toEqual(stepped ?? null);
      const waiting = upcomingApplication(grant, { subscription_status: 'incomplete' }, at);
      expect(waiting).toEqual(firstApplication(grant));
      expect(upcomingApplication(grant, { subscription_status: 'cancelled' }, at)).toBeNull();
    },
  ),
);

property(
  'whenever a grant begins and however long its periods are, what is upcoming can be told',
  fc.property(
    fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(9998, 11, 31) }),
    fc.integer({ min: Date.UTC(1900, 0, 1), max: Date.UTC(9998, 11, 31) }),
    zones,
    fc.constantFrom(...CREDIT_GRANT_PERIODS),
    fc.constantFrom(1, 7, 1200),
    (start, at, zone, period, count) => {
      const start_date = new Date(start).toISOString();
      const grant: RunningGrant = {
        credits: '10',
        cadence: 'RECURRING',
        period,
        period_count: count,
        start_date,
        end_date: null,
        credit_grant_anchor: start_date,
        timezone: zone,
      };
      const now = new Date(at).toISOString();
      const next = upcomingApplication(grant, { subscription_status: 'active' }, now);
      if (next !== null)
        expect([next.scheduled_for > now, next.period_end! < '9999~']).toEqual([true, true]);
    },
  ),
);

property(
  'the periods of a grant tile time, on the wall clock of the zone, each counted from the anchor (money 24 I11)',
  fc.property(
    instants,
    zones,
    fc.constantFrom(...CREDIT_GRANT_PERIODS),
    fc.integer({ min: 1, max: 5 }),
    (start, zone, period, count) => {
      const grant: RunningGrant = {
        credits: '10',
        cadence: 'RECURRING',
        period,
        period_count: count,
        start_date: start,
        end_date: null,
        credit_grant_anchor: start,
        timezone: zone,
      };
      const found = applications(grant, 14);
      expect(found[0]!.period_start).toBe(start);
      found
        .slice(1)
        .forEach((each, index) => expect(each.period_start).toBe(found[index]!.period_end));
      const anchor = DateTime.fromISO(start, { zone });
      found.forEach((each, index) => {
        const [[unit, length]] = Object.entries(LUXON[period]) as [[string, number]];
        const expected = anchor.plus({ [unit]: length * count * (index + 1) });
        // Clocks that are set forward or back may put the two calendars an hour apart.
        const off = Math.abs(expected.toMillis() - Date.parse(each.period_end!));
        expect(off).toBeLessThanOrEqual(3_600_000);
      });
      expect(found.every((each) => each.scheduled_for === each.period_start)).toBe(true);
    },
  ),
  { quick: 100, deep: 10_000 },
);

property(
  'a grant with an end gives whole periods only, and as many as fit',
  fc.property(instants, fc.integer({ min: 0, max: 400 }), (start, days) => {
    const end = new Date(Date.parse(start) + days * 86_400_000).toISOString();
    const grant: RunningGrant = {
      credits: '10',
      cadence: 'RECURRING',
      period: 'WEEKLY',
      period_count: 1,
      start_date: start,
      end_date: end,
      credit_grant_anchor: start,
      timezone: 'UTC',
    };
    expect(applications(grant, 1000)).toHaveLength(Math.floor(days / 7));
  }),
  { quick: 60, deep: 5_000 },
);

property(
  'a prorated first period is worth its part: attached at two moments, the parts differ by the time between',
  fc.property(
    fc.integer({ min: 1, max: 43_000 }),
    fc.integer({ min: 1, max: 43_000 }),
    fc.integer({ min: 1, max: 100_000 }),
    (one, other, credits) => {
      const billing_period = { start: '2026-03-01T00:00:00.000Z', end: '2026-03-31T00:00:00.000Z' };
      const attached = (minute: number) => {
        const proration = {
          proration_behavior: 'create_prorations' as const,
          is_same_period: true,
          billing_period,
          aligned_at: billing_period.end,
          attached_at: new Date(Date.parse(billing_period.start) + minute * 60_000).toISOString(),
        };
        const grant = { cadence: 'RECURRING' as const, credits: String(credits) };
        expect(attachedGrantStart(grant, proration).credit_grant_anchor).toBe(billing_period.end);
        return firstPeriodCredits(grant, proration);
      };
      const difference = attached(one).minus(attached(other));
      const exact = decimal(String(credits))
        .times(other - one)
        .div(43_200);
      expect(difference.minus(exact).abs().lte('0.000000000000000001')).toBe(true);
      expect(sum([attached(one)]).lt(credits)).toBe(true);
    },
  ),
  { quick: 100, deep: 5_000 },
);

property(
  'a cooldown is answered in a form that means the same',
  fc.property(fc.integer({ min: 0, max: 366 * 86_400 }), (seconds) => {
    expect(cooldownMs(cooldownText(seconds * 1000))).toBe(seconds * 1000);
  }),
  { quick: 100, deep: 5_000 },
);
