import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';
import {
  cancelledAt,
  dueEnd,
  planCancellation,
  type CancellableSubscription,
  type CancellationRequest,
} from '../../../domain/subscription/cancellation.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const at = '2026-01-11T00:00:00.000Z';
const periodEnd = '2026-02-01T00:00:00.000Z';
const subscription = (over: Partial<CancellableSubscription> = {}): CancellableSubscription => ({
  subscription_status: 'active',
  subscription_type: 'standalone',
  current_period_start: '2026-01-01T00:00:00.000Z',
  current_period_end: periodEnd,
  end_date: null,
  has_pending_cancellation: false,
  ...over,
});
const cancel = (of: Partial<CancellationRequest> = {}, on: Partial<CancellableSubscription> = {}) =>
  planCancellation(
    subscription(on),
    { cancellation_type: 'immediate', cancel_at: null, supersedes: false, ...of },
    at,
  );
const ended = (end: string) => ({
  subscription_status: 'cancelled',
  cancel_at: end,
  cancel_at_period_end: false,
  cancelled_at: end,
  end_date: end,
  takes_effect: 'now',
});
const standing = (cancel_at: string, cancel_at_period_end: boolean) => ({
  subscription_status: 'active',
  cancel_at,
  cancel_at_period_end,
  cancelled_at: null,
  end_date: null,
  takes_effect: 'later',
});

describe('a cancellation as asked for (billing 13)', () => {
  test.each`
    why                                   | of                                                                                | decision
    ${'now'}                              | ${{}}                                                                             | ${ended(at)}
    ${'now, at a moment that has passed'} | ${{ cancel_at: '2026-01-05T00:00:00.000Z' }}                                      | ${ended('2026-01-05T00:00:00.000Z')}
    ${'now, dated now'}                   | ${{ cancel_at: at }}                                                              | ${ended(at)}
    ${'at the end of the period'}         | ${{ cancellation_type: 'end_of_period' }}                                         | ${standing(periodEnd, true)}
    ${'on a date inside the period'}      | ${{ cancellation_type: 'scheduled_date', cancel_at: '2026-01-20T00:00:00.000Z' }} | ${standing('2026-01-20T00:00:00.000Z', false)}
    ${'on a date after the period'}       | ${{ cancellation_type: 'scheduled_date', cancel_at: '2026-05-01T00:00:00.000Z' }} | ${standing('2026-05-01T00:00:00.000Z', false)}
    ${'on a date that has passed'}        | ${{ cancellation_type: 'scheduled_date', cancel_at: '2026-01-05T00:00:00.000Z' }} | ${ended('2026-01-05T00:00:00.000Z')}
    ${'on this very moment'}              | ${{ cancellation_type: 'scheduled_date', cancel_at: at }}                         | ${ended(at)}
  `('$why', ({ of, decision }) => {
    expect(cancel(of)).toEqual(decision);
  });

  test('a later one keeps the end date that was set', () => {
    const end_date = '2027-01-01T00:00:00.000Z';
    expect(cancel({ cancellation_type: 'end_of_period' }, { end_date }).end_date).toBe(end_date);
  });

  test.each`
    path           | of
    ${'cancel_at'} | ${{ cancel_at: '2026-01-11T00:00:00.001Z' }}
    ${'cancel_at'} | ${{ cancel_at: '2026-01-01T00:00:00.000Z' }}
    ${'cancel_at'} | ${{ cancel_at: '2025-12-01T00:00:00.000Z' }}
    ${'cancel_at'} | ${{ cancellation_type: 'scheduled_date' }}
    ${'cancel_at'} | ${{ cancellation_type: 'scheduled_date', cancel_at: '2025-12-01T00:00:00.000Z' }}
  `('refused: $of', ({ path, of }) => {
    expect(refusalText(() => cancel(of))).toBe(`invalid validation_error ${path}`);
  });

  test('at the very start of its period it can be cancelled now', () => {
    expect(cancel({}, { current_period_start: at }).cancelled_at).toBe(at);
  });
});

describe('what can be cancelled', () => {
  test.each(SUBSCRIPTION_STATUSES)('a %s one', (subscription_status) => {
    const attempt = () => cancel({}, { subscription_status });
    if (subscription_status === 'cancelled' || subscription_status === 'draft') {
      expect(refusalText(attempt)).toBe('invalid invalid_operation subscription_status');
    } else expect(attempt().subscription_status).toBe('cancelled');
  });

  test.each`
    on                                      | message
    ${{ subscription_status: 'cancelled' }} | ${'The subscription is cancelled already.'}
    ${{ subscription_status: 'draft' }}     | ${'A draft subscription cannot be cancelled; archive it.'}
    ${{ subscription_type: 'inherited' }}   | ${'An inherited subscription is cancelled with its parent.'}
  `('a refusal says what to do: $message', ({ on, message }) => {
    expect(refusalOf(() => cancel({}, on)).message).toBe(message);
  });

  test('a second one names the field', () => {
    const refusal = refusalOf(() =>
      cancel({ cancellation_type: 'end_of_period' }, { has_pending_cancellation: true }),
    );
    expect(refusal.details).toEqual([
      {
        path: 'cancel_at',
        code: 'invalid_state',
        message: 'A cancellation is scheduled already.',
      },
    ]);
  });

  test('an inherited one goes with its parent', () => {
    expect(refusalText(() => cancel({}, { subscription_type: 'inherited' }))).toBe(
      'invalid invalid_operation subscription_type',
    );
  });

  test.each`
    of                                                                                | accepted
    ${{ cancellation_type: 'end_of_period' }}                                         | ${false}
    ${{ cancellation_type: 'scheduled_date', cancel_at: '2026-05-01T00:00:00.000Z' }} | ${false}
    ${{ cancellation_type: 'end_of_period', supersedes: true }}                       | ${true}
    ${{ cancellation_type: 'immediate' }}                                             | ${true}
  `('beside a pending one, $of: $accepted', ({ of, accepted }) => {
    const attempt = () => cancel(of, { has_pending_cancellation: true });
    if (accepted) expect(attempt).not.toThrow();
    else expect(refusalOf(attempt).kind).toBe('invalid');
  });
});

describe('when it is over (billing 13, 3.4)', () => {
  test.each`
    cancel_at                     | end_date                      | end
    ${null}                       | ${null}                       | ${null}
    ${at}                         | ${null}                       | ${at}
    ${'2026-01-11T00:00:00.001Z'} | ${null}                       | ${null}
    ${null}                       | ${'2026-01-05T00:00:00.000Z'} | ${'2026-01-05T00:00:00.000Z'}
    ${'2026-01-07T00:00:00.000Z'} | ${'2026-01-05T00:00:00.000Z'} | ${'2026-01-05T00:00:00.000Z'}
    ${'2026-01-05T00:00:00.000Z'} | ${'2026-01-07T00:00:00.000Z'} | ${'2026-01-05T00:00:00.000Z'}
    ${'2026-09-01T00:00:00.000Z'} | ${'2026-01-07T00:00:00.000Z'} | ${'2026-01-07T00:00:00.000Z'}
  `('cancel_at $cancel_at, end_date $end_date: $end', ({ cancel_at, end_date, end }) => {
    expect(dueEnd({ cancel_at, end_date }, at)).toBe(end);
  });

  test.each(SUBSCRIPTION_STATUSES)('a %s one ends', (subscription_status) => {
    const attempt = () => cancelledAt({ subscription_status }, at);
    if (subscription_status === 'cancelled' || subscription_status === 'draft') {
      expect(refusalText(attempt)).toBe('invalid invalid_operation subscription_status');
    } else expect(attempt()).toEqual(ended(at));
  });
});
