import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';
import {
  decideApplication,
  firstPeriodCredits,
  grantExpiry,
  proratesFirstPeriod,
  retryAt,
} from '../../../domain/wallet/grant-application.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const at = '2026-03-01T00:00:00.000Z';
const TRIAL_END = '2026-03-15T00:00:00.000Z';

describe('by the state of the subscription (money 5.4)', () => {
  const decisions = {
    draft: { action: 'wait', next_attempt_at: '2026-03-01T00:30:00.000Z' },
    trialing: { action: 'wait', next_attempt_at: TRIAL_END },
    active: { action: 'apply', expiry_date: null },
    incomplete: { action: 'wait', next_attempt_at: '2026-03-01T00:30:00.000Z' },
    paused: { action: 'skip', reason: 'the subscription was paused' },
    cancelled: { action: 'cancel' },
  };
  test.each(SUBSCRIPTION_STATUSES)('%s', (subscription_status) => {
    expect(decideApplication({ subscription_status, trial_end: TRIAL_END }, null, 0, at)).toEqual(
      decisions[subscription_status],
    );
  });

  test('a trial without a known end waits like a draft', () => {
    expect(
      decideApplication({ subscription_status: 'trialing', trial_end: null }, null, 0, at),
    ).toEqual(decisions.draft);
  });

  test.each`
    deferrals | minutes
    ${0}      | ${30}
    ${1}      | ${60}
    ${2}      | ${120}
    ${3}      | ${240}
    ${4}      | ${480}
    ${5}      | ${480}
    ${99}     | ${480}
  `('after $deferrals deferrals it waits $minutes minutes', ({ deferrals, minutes }) => {
    const decision = decideApplication(
      { subscription_status: 'incomplete', trial_end: null },
      null,
      deferrals,
      at,
    );
    const expected = new Date(Date.parse(at) + minutes * 60_000).toISOString();
    expect(decision).toEqual({ action: 'wait', next_attempt_at: expected });
  });

  test.each`
    expiry                        | action
    ${null}                       | ${'apply'}
    ${'2026-03-01T00:00:00.001Z'} | ${'apply'}
    ${at}                         | ${'skip'}
    ${'2026-02-01T00:00:00.000Z'} | ${'skip'}
  `('credits that expire $expiry: $action (5.5.5)', ({ expiry, action }) => {
    const decision = decideApplication(
      { subscription_status: 'active', trial_end: null },
      expiry,
      0,
      at,
    );
    expect(decision.action).toBe(action);
    if (decision.action === 'apply') expect(decision.expiry_date).toBe(expiry);
  });
});

describe('after a failure (money 5.3.6)', () => {
  test.each`
    failures | minutes
    ${1}     | ${15}
    ${2}     | ${30}
    ${3}     | ${60}
    ${7}     | ${960}
    ${8}     | ${1440}
    ${50}    | ${1440}
  `('number $failures it is tried again after $minutes minutes', ({ failures, minutes }) => {
    expect(retryAt(failures, at)).toBe(new Date(Date.parse(at) + minutes * 60_000).toISOString());
  });
});

describe('when the credits expire (money 5.5.3, 5.5.4)', () => {
  const lasting = (expiration_duration: number, expiration_duration_unit: string) =>
    ({ expiration_type: 'DURATION', expiration_duration, expiration_duration_unit }) as Parameters<
      typeof grantExpiry
    >[0];
  const plain = (expiration_type: 'NEVER' | 'BILLING_CYCLE') => ({
    expiration_type,
    expiration_duration: null,
    expiration_duration_unit: null,
  });

  test.each`
    grant                  | start                         | zone                  | expiry
    ${lasting(900, 'DAY')} | ${'2026-06-01T00:00:00.000Z'} | ${'UTC'}              | ${'2028-11-17T00:00:00.000Z'}
    ${lasting(2, 'DAY')}   | ${'2026-03-07T05:00:00.000Z'} | ${'America/New_York'} | ${'2026-03-09T04:00:00.000Z'}
    ${lasting(1, 'DAY')}   | ${'2026-10-31T16:00:00.000Z'} | ${'America/New_York'} | ${'2026-11-01T17:00:00.000Z'}
    ${lasting(1, 'WEEK')}  | ${'2026-03-07T05:00:00.000Z'} | ${'America/New_York'} | ${'2026-03-14T04:00:00.000Z'}
    ${lasting(1, 'MONTH')} | ${'2026-01-31T00:00:00.000Z'} | ${''}                 | ${'2026-02-28T00:00:00.000Z'}
    ${lasting(1, 'MONTH')} | ${'2028-01-31T00:00:00.000Z'} | ${''}                 | ${'2028-02-29T00:00:00.000Z'}
    ${lasting(2, 'MONTH')} | ${'2026-01-31T00:00:00.000Z'} | ${''}                 | ${'2026-03-31T00:00:00.000Z'}
    ${lasting(1, 'YEAR')}  | ${'2028-02-29T00:00:00.000Z'} | ${''}                 | ${'2029-02-28T00:00:00.000Z'}
    ${lasting(4, 'YEAR')}  | ${'2028-02-29T00:00:00.000Z'} | ${''}                 | ${'2032-02-29T00:00:00.000Z'}
    ${lasting(1, 'DAY')}   | ${'2026-01-01T18:30:00.000Z'} | ${'Asia/Kolkata'}     | ${'2026-01-02T18:30:00.000Z'}
    ${plain('NEVER')}      | ${'2026-01-31T00:00:00.000Z'} | ${''}                 | ${null}
  `(
    '$grant.expiration_duration $grant.expiration_duration_unit from $start: $expiry',
    ({ grant, start, zone, expiry }) => {
      expect(grantExpiry(grant, start, zone, null)).toBe(expiry);
    },
  );

  test('BILLING_CYCLE ends with the billing period, for every grant period', () => {
    expect(grantExpiry(plain('BILLING_CYCLE'), at, '', '2026-04-01T00:00:00.000Z')).toBe(
      '2026-04-01T00:00:00.000Z',
    );
  });

  test('BILLING_CYCLE outside of every period is refused, rather than never expiring', () => {
    const refusal = refusalOf(() => grantExpiry(plain('BILLING_CYCLE'), at, '', null));
    expect([refusal.kind, refusal.code]).toEqual(['invalid', 'invalid_operation']);
    expect(refusal.details[0]!.path).toBe('expiration_type');
  });

  test.each`
    grant                 | path
    ${lasting(3, 'HOUR')} | ${'expiration_duration_unit'}
    ${lasting(0, 'DAY')}  | ${'expiration_duration'}
  `('refused: $path', ({ grant, path }) => {
    expect(refusalText(() => grantExpiry(grant, at, '', null))).toBe(
      `invalid validation_error ${path}`,
    );
  });
});

describe('a first period that is a part (money 5.2.6)', () => {
  const period = { start: '2026-04-01T00:00:00.000Z', end: '2026-05-01T00:00:00.000Z' };
  const proration = (over = {}) => ({
    proration_behavior: 'create_prorations' as const,
    is_same_period: true,
    billing_period: period,
    aligned_at: period.end,
    attached_at: '2026-04-21T00:00:00.000Z',
    ...over,
  });
  const grant = (over = {}) => ({ cadence: 'RECURRING' as const, credits: '300', ...over });

  test.each`
    why                               | of                               | over                                                                                                                                   | credits
    ${'example I: 10 of 30 days'}     | ${grant()}                       | ${{}}                                                                                                                                  | ${'100'}
    ${'half of it'}                   | ${grant()}                       | ${{ attached_at: '2026-04-16T00:00:00.000Z' }}                                                                                         | ${'150'}
    ${'6 of 7 days, 18 decimals'}     | ${grant({ credits: '100' })}     | ${{ billing_period: { start: '2026-03-01T00:00:00.000Z', end: '2026-03-08T00:00:00.000Z' }, attached_at: '2026-03-02T00:00:00.000Z' }} | ${'85.714285714285714286'}
    ${'without proration'}            | ${grant()}                       | ${{ proration_behavior: 'none' }}                                                                                                      | ${'300'}
    ${'of another length'}            | ${grant()}                       | ${{ is_same_period: false }}                                                                                                           | ${'300'}
    ${'one-time'}                     | ${grant({ cadence: 'ONETIME' })} | ${{}}                                                                                                                                  | ${'300'}
    ${'attached with the period'}     | ${grant()}                       | ${{ attached_at: period.start }}                                                                                                       | ${'300'}
    ${'attached at its end'}          | ${grant()}                       | ${{ attached_at: period.end }}                                                                                                         | ${'300'}
    ${'a millisecond before the end'} | ${grant({ credits: '2592000' })} | ${{ attached_at: '2026-04-30T23:59:59.999Z' }}                                                                                         | ${'0.001'}
  `('$why: $credits', ({ of, over, credits }) => {
    const found = firstPeriodCredits(of, proration(over));
    expect(found.toFixed()).toBe(credits);
    expect(proratesFirstPeriod(of, proration(over))).toBe(credits !== '300');
  });
});
