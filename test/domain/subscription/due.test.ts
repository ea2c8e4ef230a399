import { dueAction, dueAt, type ClockedSubscription } from '../../../domain/subscription/due.ts';

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const subscription = (more: Partial<ClockedSubscription> = {}): ClockedSubscription => ({
  subscription_status: 'active',
  current_period_start: day('03-01'),
  current_period_end: day('04-01'),
  cancel_at: null,
  due_at: day('04-01'),
  ...more,
});

describe('when the clock next changes a subscription', () => {
  test.each`
    status          | cancelAt        | due
    ${'active'}     | ${null}         | ${day('04-01')}
    ${'trialing'}   | ${null}         | ${day('04-01')}
    ${'active'}     | ${day('03-20')} | ${day('03-20')}
    ${'active'}     | ${day('04-01')} | ${day('04-01')}
    ${'active'}     | ${day('06-01')} | ${day('04-01')}
    ${'incomplete'} | ${null}         | ${null}
    ${'incomplete'} | ${day('03-20')} | ${day('03-20')}
    ${'incomplete'} | ${day('06-01')} | ${day('06-01')}
    ${'paused'}     | ${null}         | ${null}
    ${'draft'}      | ${null}         | ${null}
    ${'cancelled'}  | ${day('03-20')} | ${null}
  `('$status, cancellation $cancelAt: $due', ({ status, cancelAt, due }) => {
    expect(dueAt(subscription({ subscription_status: status, cancel_at: cancelAt }))).toBe(due);
  });
});

describe('what is due', () => {
  test.each`
    at              | more                                                                                    | action
    ${day('03-31')} | ${{}}                                                                                   | ${null}
    ${day('04-01')} | ${{}}                                                                                   | ${'close'}
    ${day('09-01')} | ${{}}                                                                                   | ${'close'}
    ${day('04-01')} | ${{ subscription_status: 'trialing' }}                                                  | ${'end_trial'}
    ${day('03-01')} | ${{ due_at: day('03-01') }}                                                             | ${'open'}
    ${day('02-28')} | ${{ due_at: day('03-01') }}                                                             | ${null}
    ${day('03-20')} | ${{ due_at: day('03-20'), cancel_at: day('03-20') }}                                    | ${'cancel'}
    ${day('04-01')} | ${{ due_at: day('04-01'), cancel_at: day('04-01') }}                                    | ${'close'}
    ${day('03-20')} | ${{ due_at: day('03-20'), cancel_at: day('03-20'), subscription_status: 'trialing' }}   | ${'cancel'}
    ${day('04-01')} | ${{ due_at: day('04-01'), cancel_at: day('04-01'), subscription_status: 'incomplete' }} | ${'cancel'}
    ${day('04-01')} | ${{ due_at: null }}                                                                     | ${null}
  `('at $at with $more: $action', ({ at, more, action }) => {
    expect(dueAction(subscription(more), at)).toBe(action);
  });
});
