import type { EarlierPlan, ScheduledSubscription } from '../../../domain/subscription/schedule.ts';
import { movedByPause, unpausedTime } from '../../../domain/subscription/unpaused-time.ts';

const day = (text: string) => (text.length === 10 ? `${text}T00:00:00.000Z` : text);
const span = (start: string, end: string) => ({ start: day(start), end: day(end) });
function subscription(
  billing_anchor: string,
  anchors: readonly (readonly [anchor: string, until: string])[],
  more: Partial<ScheduledSubscription> = {},
): ScheduledSubscription {
  return {
    start_date: day('2026-01-01'),
    end_date: null,
    trial_end: null,
    billing_anchor: day(billing_anchor),
    billing_cycle: 'anniversary',
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    customer_timezone: 'UTC',
    current_period_start: day('2026-01-01'),
    earlier_plans: [],
    earlier_anchors: anchors.map(([anchor, until]) => ({
      billing_anchor: day(anchor),
      until: day(until),
    })),
    ...more,
  };
}

const restart = (billing_anchor: string, until: string): EarlierPlan => ({
  plan_id: 'plan',
  billing_anchor: day(billing_anchor),
  until: day(until),
  restarts: true,
});

describe('boundaries after a pause are the boundaries that they were without it (billing 12.4)', () => {
  test.each<
    [string, ScheduledSubscription, ReturnType<typeof span>[], [at: string, without: string][]]
  >([
    [
      'a pause of 69 days in January',
      subscription('2026-04-11', [['2026-01-01', '2026-01-01']]),
      [span('2026-01-11', '2026-03-21')],
      [
        ['2026-01-01', '2026-01-01'],
        ['2026-03-25', '2026-01-15'],
        ['2026-04-11', '2026-02-01'],
        ['2026-05-11', '2026-03-01'],
        ['2027-03-11', '2027-01-01'],
      ],
    ],
    [
      'a pause of a whole February: months have other lengths after it',
      subscription('2026-04-01', [['2026-01-01', '2026-02-01']]),
      [span('2026-02-05', '2026-03-08')],
      [
        ['2026-02-01', '2026-02-01'],
        ['2026-04-01', '2026-03-01'],
        ['2027-02-01', '2027-01-01'],
        ['2027-01-01', '2026-12-01'],
      ],
    ],
    [
      'pauses in two periods',
      subscription('2026-04-10', [
        ['2026-01-01', '2026-01-01'],
        ['2026-02-21', '2026-02-21'],
      ]),
      [span('2026-01-11', '2026-01-31'), span('2026-03-01', '2026-03-21')],
      [
        ['2026-02-21', '2026-02-01'],
        ['2026-04-10', '2026-03-01'],
        ['2026-05-10', '2026-04-01'],
      ],
    ],
    [
      'a pause from the end of a period, then one in the period that follows it',
      subscription('2026-07-20', [['2026-01-01', '2026-06-15']]),
      [span('2026-02-01', '2026-06-15'), span('2026-07-01', '2026-07-06')],
      [
        ['2026-01-01', '2026-01-01'],
        ['2026-06-15', '2026-02-01'],
        ['2026-07-20', '2026-03-01'],
        ['2026-08-20', '2026-04-01'],
      ],
    ],
    [
      'a calendar: the periods that are wholly paused',
      subscription('2026-01-01', [], { billing_cycle: 'calendar' }),
      [span('2026-01-11', '2026-04-05'), span('2026-06-10', '2026-06-20')],
      [
        ['2026-01-01', '2026-01-01'],
        ['2026-04-01', '2026-02-01'],
        ['2026-05-01', '2026-03-01'],
        ['2026-07-01', '2026-05-01'],
      ],
    ],
    [
      'weeks',
      subscription('2026-01-13', [['2026-01-01', '2026-01-01']], { billing_period: 'WEEKLY' }),
      [span('2026-01-03', '2026-01-08')],
      [
        ['2026-01-13', '2026-01-08'],
        ['2026-01-20', '2026-01-15'],
      ],
    ],
    [
      'a new anchor with a change of the plan, then a pause: the change stays where it is',
      subscription('2026-02-18', [['2026-01-12', '2026-01-12']], {
        earlier_plans: [restart('2026-01-01', '2026-01-12')],
      }),
      [span('2026-01-20', '2026-01-26')],
      [
        ['2026-01-05', '2026-01-05'],
        ['2026-01-12', '2026-01-12'],
        ['2026-01-27', '2026-01-21'],
        ['2026-02-18', '2026-02-12'],
        ['2026-03-20', '2026-03-14'],
      ],
    ],
    [
      'a pause, then a new anchor: the change of the plan is as far into its period as it would be without the pause',
      subscription('2026-02-20', [['2026-01-01', '2026-01-01']], {
        earlier_plans: [restart('2026-02-11', '2026-02-20')],
      }),
      [span('2026-01-11', '2026-01-21')],
      [
        ['2026-02-11', '2026-02-01'],
        ['2026-02-15', '2026-02-05'],
        ['2026-02-20', '2026-02-10'],
        ['2026-03-20', '2026-03-10'],
        ['2026-04-21', '2026-04-11'],
      ],
    ],
    [
      'a new anchor between two pauses',
      subscription(
        '2026-03-25',
        [
          ['2026-01-01', '2026-01-01'],
          ['2026-02-20', '2026-02-20'],
        ],
        { earlier_plans: [restart('2026-02-11', '2026-02-20')] },
      ),
      [span('2026-01-11', '2026-01-21'), span('2026-03-01', '2026-03-06')],
      [
        ['2026-02-11', '2026-02-01'],
        ['2026-02-20', '2026-02-10'],
        ['2026-03-25', '2026-03-10'],
        ['2026-04-26', '2026-04-11'],
      ],
    ],
  ])('%s', (_, row, pauses, pairs) => {
    const time = unpausedTime(row, pauses);
    for (const [at, without] of pairs) {
      expect([at, time.of(day(at))]).toEqual([at, day(without)]);
      expect([without, time.back(day(without))]).toEqual([without, day(at)]);
    }
  });

  test('a pause that has not ended moves nothing', () => {
    const time = unpausedTime(subscription('2026-01-01', []), [
      { start: day('2026-01-11'), end: null },
    ]);
    expect(time.of(day('2026-03-01'))).toBe(day('2026-03-01'));
  });
});

test('a pause after a new anchor moves the end of a coupon by the pause only', () => {
  const earlier_plans = [restart('2026-01-01', '2026-01-12')];
  const before = subscription('2026-01-12', [], { earlier_plans });
  const after = subscription('2026-02-18', [['2026-01-12', '2026-01-12']], { earlier_plans });
  const moved = movedByPause({ before, after }, span('2026-01-20', '2026-01-26'), []);
  expect(moved(day('2026-02-01'))).toBe(day('2026-02-07'));
});
