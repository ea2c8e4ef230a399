import {
  movesOf,
  paidPeriodAt,
  type ScheduledSubscription,
} from '../../../domain/subscription/schedule.ts';
import { day } from '../../support/day.ts';

/** Monthly from 1 January; restarted on 15 June; a pause of 5 days in the period from there makes it longer. */
const subscription: ScheduledSubscription = {
  start_date: day('2026-01-01'),
  end_date: null,
  trial_end: null,
  billing_anchor: day('2026-07-20'),
  billing_cycle: 'anniversary',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  customer_timezone: 'UTC',
  current_period_start: day('2026-06-15'),
  earlier_plans: [
    {
      plan_id: 'plan',
      billing_anchor: day('2026-01-01'),
      until: day('2026-06-15'),
      restarts: true,
    },
  ],
  earlier_anchors: [{ billing_anchor: day('2026-06-15'), until: day('2026-06-15') }],
};

describe('a plan change that restarts the periods, and a pause in the first of them (billing 12.4, 14.2)', () => {
  test('move the anchor in this order, though both are stored with the same instant', () => {
    expect(
      movesOf(subscription).map(({ isRestart, billing_anchor }) => [isRestart, billing_anchor]),
    ).toEqual([
      [true, day('2026-01-01')],
      [false, day('2026-06-15')],
    ]);
  });

  test.each([
    ['2026-05-20', '2026-05-01', '2026-06-01'],
    ['2026-06-10', '2026-06-01', '2026-06-15'],
    ['2026-06-20', '2026-06-15', '2026-07-20'],
    ['2026-07-25', '2026-07-20', '2026-08-20'],
  ])('%s is in the period from %s to %s', (at, start, end) => {
    expect(paidPeriodAt(subscription, day(at))).toEqual({ start: day(start), end: day(end) });
  });
});

describe('a pause, then a plan change that restarts the periods within the longer one (billing 12.4, 14.2)', () => {
  /** A pause of 5 days made June longer, to 6 July; restarted on 20 June. */
  const changed: ScheduledSubscription = {
    ...subscription,
    billing_anchor: day('2026-06-20'),
    current_period_start: day('2026-06-20'),
    earlier_plans: [
      {
        plan_id: 'plan',
        billing_anchor: day('2026-07-06'),
        until: day('2026-06-20'),
        restarts: true,
      },
    ],
    earlier_anchors: [{ billing_anchor: day('2026-01-01'), until: day('2026-06-01') }],
  };

  test.each([
    ['2026-05-20', '2026-05-01', '2026-06-01'],
    ['2026-06-19', '2026-06-01', '2026-06-20'],
    ['2026-06-20', '2026-06-20', '2026-07-20'],
    ['2026-07-07', '2026-06-20', '2026-07-20'],
    ['2026-07-25', '2026-07-20', '2026-08-20'],
  ])('%s is in the period from %s to %s', (at, start, end) => {
    expect(paidPeriodAt(changed, day(at))).toEqual({ start: day(start), end: day(end) });
  });
});
