import {
  anchorAfterTrial,
  billingAnchor,
  calendarAnchor,
} from '../../../domain/time/billing-anchor.ts';
import type { RecurringPeriod } from '../../../domain/time/billing-grid.ts';

describe('calendar anchor: the start when it is on a boundary, else the next one', () => {
  test.each<[string, RecurringPeriod, string, string]>([
    ['2024-03-10T15:30:00Z', 'DAILY', '', '2024-03-11T00:00:00.000Z'],
    ['2024-03-10T00:00:00Z', 'DAILY', '', '2024-03-10T00:00:00.000Z'],
    ['2024-03-10T00:00:00.001Z', 'DAILY', '', '2024-03-11T00:00:00.000Z'],
    ['2024-03-09T23:59:59.999Z', 'DAILY', '', '2024-03-10T00:00:00.000Z'],
    ['2026-08-16T12:00:00Z', 'WEEKLY', '', '2026-08-17T00:00:00.000Z'],
    ['2026-08-17T00:00:00Z', 'WEEKLY', '', '2026-08-17T00:00:00.000Z'],
    ['2026-08-17T00:00:00.001Z', 'WEEKLY', '', '2026-08-24T00:00:00.000Z'],
    ['2026-01-20T10:00:00Z', 'MONTHLY', '', '2026-02-01T00:00:00.000Z'],
    ['2026-02-01T00:00:00Z', 'MONTHLY', '', '2026-02-01T00:00:00.000Z'],
    ['2026-12-31T23:59:59.999Z', 'MONTHLY', '', '2027-01-01T00:00:00.000Z'],
    ['2026-02-10T00:00:00Z', 'QUARTERLY', '', '2026-04-01T00:00:00.000Z'],
    ['2026-04-01T00:00:00Z', 'QUARTERLY', '', '2026-04-01T00:00:00.000Z'],
    ['2026-11-10T00:00:00Z', 'QUARTERLY', '', '2027-01-01T00:00:00.000Z'],
    ['2026-02-10T00:00:00Z', 'HALF_YEARLY', '', '2026-07-01T00:00:00.000Z'],
    ['2026-07-01T00:00:00.001Z', 'HALF_YEARLY', '', '2027-01-01T00:00:00.000Z'],
    ['2026-02-10T00:00:00Z', 'ANNUAL', '', '2027-01-01T00:00:00.000Z'],
    ['2026-01-01T00:00:00Z', 'ANNUAL', '', '2026-01-01T00:00:00.000Z'],
    // The boundary is the customer's midnight.
    ['2026-08-18T12:00:00Z', 'MONTHLY', 'Asia/Kolkata', '2026-08-31T18:30:00.000Z'],
    ['2026-08-31T18:30:00Z', 'MONTHLY', 'Asia/Kolkata', '2026-08-31T18:30:00.000Z'],
    ['2026-08-31T19:00:00Z', 'MONTHLY', 'Asia/Kolkata', '2026-09-30T18:30:00.000Z'],
    ['2026-01-01T03:00:00Z', 'ANNUAL', 'America/New_York', '2026-01-01T05:00:00.000Z'],
    ['2026-03-07T20:00:00Z', 'DAILY', 'America/New_York', '2026-03-08T05:00:00.000Z'],
    ['2026-03-08T20:00:00Z', 'DAILY', 'America/New_York', '2026-03-09T04:00:00.000Z'],
    ['2026-01-15T00:00:00Z', 'WEEKLY', 'Asia/Kathmandu', '2026-01-18T18:15:00.000Z'],
  ])('%s %s in %j: %s', (start, period, timezone, anchor) => {
    expect(calendarAnchor(start, period, timezone)).toBe(anchor);
  });

  test('where the midnight of the start is skipped, its first instant is the boundary', () => {
    // Cairo goes from 23:59:59 to 01:00 on 24 April 2026.
    const first = '2026-04-23T22:00:00.000Z';
    expect(calendarAnchor(first, 'DAILY', 'Africa/Cairo')).toBe(first);
    expect(calendarAnchor('2026-04-23T21:00:00Z', 'DAILY', 'Africa/Cairo')).toBe(first);
  });
});

describe('the anchor of a subscription', () => {
  const subscription = {
    start_date: '2026-01-20T10:00:00.000Z',
    billing_cycle: 'anniversary',
    billing_period: 'MONTHLY',
    customer_timezone: 'UTC',
  } as const;

  test('anniversary: its start, or the requested one', () => {
    expect(billingAnchor(subscription)).toBe(subscription.start_date);
    expect(billingAnchor({ ...subscription, billing_anchor: null })).toBe(subscription.start_date);
    const billing_anchor = '2026-02-05T00:00:00.000Z';
    expect(billingAnchor({ ...subscription, billing_anchor })).toBe(billing_anchor);
  });

  test('calendar: the boundary', () => {
    expect(billingAnchor({ ...subscription, billing_cycle: 'calendar' })).toBe(
      '2026-02-01T00:00:00.000Z',
    );
  });

  test('after a trial, anniversary gets a new anchor and calendar keeps its grid', () => {
    const trialEnd = '2026-02-03T10:00:00.000Z';
    const billing_anchor = '2026-02-01T00:00:00.000Z';
    expect(anchorAfterTrial({ billing_cycle: 'anniversary', billing_anchor }, trialEnd)).toBe(
      trialEnd,
    );
    expect(anchorAfterTrial({ billing_cycle: 'calendar', billing_anchor }, trialEnd)).toBe(
      billing_anchor,
    );
  });
});
