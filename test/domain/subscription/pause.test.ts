import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';
import {
  planPause,
  resume,
  resumedPeriod,
  type PausableSubscription,
  type PauseRequest,
} from '../../../domain/subscription/pause.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const at = '2026-01-11T00:00:00.000Z';
const subscription = (over: Partial<PausableSubscription> = {}): PausableSubscription => ({
  subscription_status: 'active',
  subscription_type: 'standalone',
  current_period_start: '2026-01-01T00:00:00.000Z',
  current_period_end: '2026-02-01T00:00:00.000Z',
  customer_timezone: '',
  active_pause_id: null,
  has_phases: false,
  has_pending_plan_change: false,
  ...over,
});
const request = (over: Partial<PauseRequest> = {}): PauseRequest => ({
  pause_mode: 'immediate',
  pause_start: null,
  pause_end: null,
  pause_days: null,
  ...over,
});
const plan = (of: Partial<PauseRequest> = {}, on: Partial<PausableSubscription> = {}) =>
  planPause(subscription(on), request(of), at);

describe('a pause as asked for (billing 12.1)', () => {
  const later = '2026-01-20T00:00:00.000Z';

  test.each`
    why                  | of                                                                | start                         | end                           | record         | status
    ${'now, open'}       | ${{}}                                                             | ${at}                         | ${null}                       | ${'active'}    | ${'paused'}
    ${'now, to an end'}  | ${{ pause_end: later }}                                           | ${at}                         | ${later}                      | ${'active'}    | ${'paused'}
    ${'now, for days'}   | ${{ pause_days: 30 }}                                             | ${at}                         | ${'2026-02-10T00:00:00.000Z'} | ${'active'}    | ${'paused'}
    ${'later'}           | ${{ pause_mode: 'scheduled', pause_start: later }}                | ${later}                      | ${null}                       | ${'scheduled'} | ${'active'}
    ${'later, for days'} | ${{ pause_mode: 'scheduled', pause_start: later, pause_days: 1 }} | ${later}                      | ${'2026-01-21T00:00:00.000Z'} | ${'scheduled'} | ${'active'}
    ${'at the boundary'} | ${{ pause_mode: 'period_end' }}                                   | ${'2026-02-01T00:00:00.000Z'} | ${null}                       | ${'scheduled'} | ${'active'}
  `('$why', ({ of, start, end, record, status }) => {
    expect(plan(of)).toEqual({
      pause: {
        pause_mode: of.pause_mode ?? 'immediate',
        pause_status: record,
        pause_start: start,
        pause_end: end,
        original_period_start: '2026-01-01T00:00:00.000Z',
        original_period_end: '2026-02-01T00:00:00.000Z',
      },
      subscription_status: status,
      pause_status: record,
    });
  });

  test('days are calendar days of the customer', () => {
    const { pause } = planPause(
      subscription({ customer_timezone: 'America/New_York' }),
      request({ pause_days: 1 }),
      '2026-03-07T17:00:00.000Z',
    );
    expect(pause.pause_end).toBe('2026-03-08T16:00:00.000Z');
  });

  test.each`
    path             | of
    ${'pause_days'}  | ${{ pause_end: later, pause_days: 3 }}
    ${'pause_days'}  | ${{ pause_days: 0 }}
    ${'pause_days'}  | ${{ pause_days: 1.5 }}
    ${'pause_end'}   | ${{ pause_end: at }}
    ${'pause_end'}   | ${{ pause_end: '2026-01-01T00:00:00.000Z' }}
    ${'pause_end'}   | ${{ pause_mode: 'period_end', pause_end: later }}
    ${'pause_start'} | ${{ pause_mode: 'scheduled' }}
    ${'pause_start'} | ${{ pause_mode: 'scheduled', pause_start: at }}
    ${'pause_start'} | ${{ pause_mode: 'scheduled', pause_start: '2026-01-10T00:00:00.000Z' }}
    ${'pause_start'} | ${{ pause_start: later }}
    ${'pause_start'} | ${{ pause_mode: 'period_end', pause_start: later }}
  `('refused: $path of $of', ({ path, of }) => {
    expect(refusalText(() => plan(of))).toBe(`invalid validation_error ${path}`);
  });
});

describe('what can be paused (billing 12.2)', () => {
  test.each(SUBSCRIPTION_STATUSES.filter((status) => status !== 'active'))(
    'not %s',
    (subscription_status) => {
      const refusal = refusalOf(() => plan({}, { subscription_status }));
      expect(refusal.code).toBe('invalid_operation');
      expect(refusal.details[0]!.path).toBe('subscription_status');
      expect(refusal.message).toContain(subscription_status);
    },
  );
  test.each`
    why                 | on                                    | kind
    ${'a pause stands'} | ${{ active_pause_id: 'pause_1' }}     | ${'conflict'}
    ${'inherited'}      | ${{ subscription_type: 'inherited' }} | ${'invalid'}
    ${'phases'}         | ${{ has_phases: true }}               | ${'invalid'}
    ${'a plan change'}  | ${{ has_pending_plan_change: true }}  | ${'invalid'}
  `('not when: $why', ({ on, kind }) => {
    expect(refusalOf(() => plan({}, on)).kind).toBe(kind);
  });
});

describe('a refusal says what to do', () => {
  test.each`
    on                                       | message
    ${{ subscription_status: 'trialing' }}   | ${'A trialing subscription cannot be paused.'}
    ${{ subscription_status: 'incomplete' }} | ${'An incomplete subscription cannot be paused.'}
    ${{ subscription_type: 'inherited' }}    | ${'An inherited subscription is paused with its parent.'}
    ${{ has_phases: true }}                  | ${'A subscription with phases cannot be paused.'}
    ${{ has_pending_plan_change: true }}     | ${'A plan change is pending; cancel it before the pause.'}
  `('$message', ({ on, message }) => {
    const refusal = refusalOf(() => plan({}, on));
    expect(refusal.message).toBe(message);
    expect(refusal.details).toEqual([
      { path: expect.stringMatching(/^[a-z_]+$/), code: 'invalid_state', message },
    ]);
  });

  test('an existing pause names the field', () => {
    expect(refusalOf(() => plan({}, { active_pause_id: 'pause_1' })).details).toEqual([
      {
        path: 'pause_status',
        code: 'already_exists',
        message: 'The subscription has a pause already.',
      },
    ]);
  });
});

describe('the period after a pause (billing 12.4)', () => {
  const running = {
    billing_cycle: 'anniversary' as const,
    billing_anchor: '2026-01-01T00:00:00.000Z',
    current_period_start: '2026-01-01T00:00:00.000Z',
    current_period_end: '2026-02-01T00:00:00.000Z',
  };
  const DAY = 86_400_000;

  test('anniversary: longer by the pause, and anchored at its new end', () => {
    expect(resumedPeriod(running, { pause_start: at }, '2026-01-21T00:00:00.000Z')).toEqual({
      current_period_start: '2026-01-01T00:00:00.000Z',
      current_period_end: '2026-02-11T00:00:00.000Z',
      billing_anchor: '2026-02-11T00:00:00.000Z',
      shift_ms: 10 * DAY,
      starts_new_period: false,
    });
  });

  test('calendar: the grid does not move', () => {
    const calendar = { ...running, billing_cycle: 'calendar' as const };
    expect(resumedPeriod(calendar, { pause_start: at }, '2026-01-21T00:00:00.000Z')).toEqual({
      current_period_start: '2026-01-01T00:00:00.000Z',
      current_period_end: '2026-02-01T00:00:00.000Z',
      billing_anchor: '2026-01-01T00:00:00.000Z',
      shift_ms: 10 * DAY,
      starts_new_period: false,
    });
  });

  test.each`
    billing_cycle    | anchor
    ${'anniversary'} | ${'2026-03-15T00:00:00.000Z'}
    ${'calendar'}    | ${'2026-01-01T00:00:00.000Z'}
  `(
    'paused at a boundary, $billing_cycle: a new period starts where it ends',
    ({ billing_cycle, anchor }) => {
      const resumed = resumedPeriod(
        { ...running, billing_cycle },
        { pause_start: '2026-02-01T00:00:00.000Z' },
        '2026-03-15T00:00:00.000Z',
      );
      expect(resumed).toMatchObject({
        current_period_start: '2026-03-15T00:00:00.000Z',
        billing_anchor: anchor,
        shift_ms: 42 * DAY,
        starts_new_period: true,
      });
    },
  );

  test('a pause that never ran shifts nothing', () => {
    const resumed = resumedPeriod(running, { pause_start: '2026-01-20T00:00:00.000Z' }, at);
    expect([resumed.shift_ms, resumed.current_period_end]).toEqual([0, running.current_period_end]);
  });
});

describe('resuming', () => {
  test('completes the pause', () => {
    expect(resume('paused', 'active')).toEqual({
      subscription_status: 'active',
      pause_record_status: 'completed',
      pause_status: 'none',
      active_pause_id: null,
    });
  });
  test.each(SUBSCRIPTION_STATUSES.filter((status) => status !== 'paused'))(
    'not a %s one',
    (status) => {
      expect(refusalText(() => resume(status, 'active'))).toBe(
        'invalid invalid_operation subscription_status',
      );
    },
  );
  test.each(['scheduled', 'completed', 'cancelled'] as const)(
    'not a pause that is %s',
    (status) => {
      expect(refusalText(() => resume('paused', status))).toBe(
        'invalid invalid_operation pause_status',
      );
    },
  );
});
