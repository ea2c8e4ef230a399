import { grantAfterPause, statusWhenDue } from '../../../domain/wallet/grant-pauses.ts';
import type { RunningGrant } from '../../../domain/wallet/grant-schedule.ts';
import { day } from '../../support/day.ts';

describe('the status that decides about due credits (money 5.4.2)', () => {
  const pauses = [{ start: day('2026-01-10'), end: day('2026-01-20') }];
  test.each`
    now            | pauseAt         | due             | status
    ${'active'}    | ${null}         | ${'2026-01-09'} | ${'active'}
    ${'active'}    | ${null}         | ${'2026-01-10'} | ${'paused'}
    ${'active'}    | ${null}         | ${'2026-01-19'} | ${'paused'}
    ${'active'}    | ${null}         | ${'2026-01-20'} | ${'active'}
    ${'paused'}    | ${'2026-02-01'} | ${'2026-01-31'} | ${'active'}
    ${'paused'}    | ${'2026-02-01'} | ${'2026-02-01'} | ${'paused'}
    ${'cancelled'} | ${null}         | ${'2026-01-10'} | ${'cancelled'}
    ${'trialing'}  | ${null}         | ${'2026-01-09'} | ${'trialing'}
  `('$now, due on $due: $status', ({ now, pauseAt, due, status }) => {
    const pause_at = pauseAt === null ? null : day(pauseAt);
    expect(statusWhenDue({ subscription_status: now, pause_at }, pauses, day(due))).toBe(status);
  });
});

describe('a grant after a pause (billing 12.4)', () => {
  const monthly: RunningGrant = {
    ...{ credits: '1', cadence: 'RECURRING', period: 'MONTHLY', period_count: 1 },
    ...{ start_date: day('2026-01-31'), credit_grant_anchor: day('2026-01-31') },
    ...{ end_date: null, timezone: 'UTC' },
  };
  const open = (start: string, end: string | null) => ({
    scheduled_for: day(start),
    period_start: day(start),
    period_end: end && day(end),
  });
  const pause = (start: string, end: string) => ({ start: day(start), end: day(end) });

  test.each`
    name                                     | start           | end             | from            | to              | moved
    ${'its next period is later'}            | ${'2026-02-28'} | ${'2026-03-31'} | ${'2026-02-10'} | ${'2026-02-15'} | ${['2026-03-05', '2026-04-05']}
    ${'one that began in the pause too'}     | ${'2026-03-31'} | ${'2026-04-30'} | ${'2026-02-28'} | ${'2026-03-10'} | ${['2026-03-10', '2026-04-10']}
    ${'the end of one that is due is later'} | ${'2026-02-28'} | ${'2026-03-31'} | ${'2026-03-01'} | ${'2026-03-03'} | ${['2026-02-28', '2026-04-02']}
    ${'earlier ones that are due stay'}      | ${'2026-02-28'} | ${'2026-03-31'} | ${'2026-04-01'} | ${'2026-04-03'} | ${null}
  `('$name', ({ start, end, from, to, moved }) => {
    const found = grantAfterPause(monthly, open(start, end), pause(from, to));
    const period = found?.application ?? null;
    expect(period && [period.period_start, period.period_end]).toEqual(moved && moved.map(day));
  }); // prettier-ignore

  test('what is given once, or begins after the pause, does not move', () => {
    const once: RunningGrant = { ...monthly, cadence: 'ONETIME', period: null, period_count: null };
    expect(
      grantAfterPause(once, open('2026-01-31', null), pause('2026-01-01', '2026-02-05')),
    ).toBeNull();
    const first = open('2026-01-31', '2026-02-28');
    expect(grantAfterPause(monthly, first, pause('2026-01-01', '2026-01-31'))).toBeNull();
  });

  test('a grant that would begin in the pause begins after it', () => {
    const first = open('2026-01-31', '2026-02-28');
    expect(grantAfterPause(monthly, first, pause('2026-01-20', '2026-02-05'))).toMatchObject({
      start_date: day('2026-02-05'),
      credit_grant_anchor: day('2026-02-05'),
      application: open('2026-02-05', '2026-03-05'),
    });
  });
});
