import { SUBSCRIPTION_STATUSES } from '../../../schemas/words.ts';
import {
  moveTrialEnd,
  trialFrom,
  trialWindow,
  type TrialRequest,
} from '../../../domain/subscription/trial.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const start = '2026-01-01T00:00:00.000Z';
const request = (over: Partial<TrialRequest> = {}): TrialRequest => ({
  trial_start: null,
  trial_end: null,
  trial_period_days: null,
  ...over,
});
const price = (trial_period: number | null, over = {}) => ({
  type: 'FIXED' as const,
  is_recurring: true,
  trial_period,
  ...over,
});
const window = (of: Partial<TrialRequest>, prices = [price(14)], at = start, zone = '') => {
  const found = trialWindow(at, request(of), prices, zone);
  return found === null ? null : [found.start, found.end];
};

describe('the trial of a new subscription (billing 10.4)', () => {
  test.each`
    why                              | prices                                             | end
    ${'the days that prices share'}  | ${[price(14), price(14)]}                          | ${'2026-01-15T00:00:00.000Z'}
    ${'no price has one'}            | ${[price(null), price(0)]}                         | ${null}
    ${'no prices'}                   | ${[]}                                              | ${null}
    ${'usage prices say nothing'}    | ${[price(14), price(99, { type: 'USAGE' })]}       | ${'2026-01-15T00:00:00.000Z'}
    ${'one-time prices say nothing'} | ${[price(14), price(99, { is_recurring: false })]} | ${'2026-01-15T00:00:00.000Z'}
  `('$why: until $end', ({ prices, end }) => {
    expect(window({}, prices)).toEqual(end === null ? null : [start, end]);
  });

  test.each`
    days  | end
    ${0}  | ${null}
    ${1}  | ${'2026-01-02T00:00:00.000Z'}
    ${30} | ${'2026-01-31T00:00:00.000Z'}
  `('$days days of the request win over those of the prices', ({ days, end }) => {
    expect(window({ trial_period_days: days })).toEqual(end === null ? null : [start, end]);
  });

  test.each`
    why                    | of                                                                                    | bounds
    ${'both dates'}        | ${{ trial_start: '2025-12-20T00:00:00.000Z', trial_end: '2026-02-01T00:00:00.000Z' }} | ${['2025-12-20T00:00:00.000Z', '2026-02-01T00:00:00.000Z']}
    ${'an end alone'}      | ${{ trial_end: '2026-02-01T00:00:00.000Z' }}                                          | ${[start, '2026-02-01T00:00:00.000Z']}
    ${'dates over days'}   | ${{ trial_end: '2026-02-01T00:00:00.000Z', trial_period_days: 3 }}                    | ${[start, '2026-02-01T00:00:00.000Z']}
    ${'equal dates: none'} | ${{ trial_start: start, trial_end: start }}                                           | ${null}
    ${'ends at the start'} | ${{ trial_start: '2025-12-20T00:00:00.000Z', trial_end: start }}                      | ${['2025-12-20T00:00:00.000Z', start]}
  `('$why', ({ of, bounds }) => {
    expect(window(of)).toEqual(bounds);
  });

  test('days are calendar days in the zone of the customer', () => {
    expect(
      window({ trial_period_days: 2 }, [], '2026-03-07T17:00:00.000Z', 'America/New_York'),
    ).toEqual(['2026-03-07T17:00:00.000Z', '2026-03-09T16:00:00.000Z']);
  });

  test.each`
    path                   | of                                                                                    | prices
    ${'trial_period_days'} | ${{}}                                                                                 | ${[price(14), price(7)]}
    ${'trial_period_days'} | ${{}}                                                                                 | ${[price(14), price(null)]}
    ${'trial_period_days'} | ${{ trial_period_days: -1 }}                                                          | ${[]}
    ${'trial_period_days'} | ${{ trial_period_days: 1.5 }}                                                         | ${[]}
    ${'trial_end'}         | ${{ trial_start: start }}                                                             | ${[]}
    ${'trial_start'}       | ${{ trial_start: '2026-01-01T00:00:00.001Z', trial_end: '2026-02-01T00:00:00.000Z' }} | ${[]}
    ${'trial_end'}         | ${{ trial_end: '2025-12-31T23:59:59.999Z' }}                                          | ${[]}
  `('refused: $path of $of', ({ path, of, prices }) => {
    expect(refusalText(() => window(of, prices))).toBe(`invalid validation_error ${path}`);
  });
});

describe('moving the end of a trial (billing 10.4)', () => {
  const at = '2026-03-10T00:00:00.000Z';
  test.each(['2026-03-13T00:00:00.000Z', '2026-06-01T00:00:00.000Z', at])('to %s', (end) => {
    expect(moveTrialEnd({ subscription_status: 'trialing' }, end, at)).toEqual({
      trial_end: end,
      current_period_end: end,
    });
  });
  test('not into the past', () => {
    expect(
      refusalText(() =>
        moveTrialEnd({ subscription_status: 'trialing' }, '2026-03-09T23:59:59.999Z', at),
      ),
    ).toBe('invalid validation_error trial_end');
  });
  test.each(SUBSCRIPTION_STATUSES.filter((status) => status !== 'trialing'))(
    'not of a %s subscription',
    (subscription_status) => {
      const refusal = refusalOf(() => moveTrialEnd({ subscription_status }, at, at));
      expect(refusal.code).toBe('invalid_operation');
      expect(refusal.details[0]!.path).toBe('subscription_status');
      expect(refusal.message).toContain(subscription_status);
    },
  );
});

describe('the trial of a draft (billing 10.5)', () => {
  const trialOf = (from: string, to: string, zone = 'UTC') =>
    trialFrom('2026-03-20T09:00:00.000Z', {
      trial_start: from,
      trial_end: to,
      customer_timezone: zone,
    });
  test.each`
    why                                  | from                          | to                            | zone               | end
    ${'as many days'}                    | ${'2026-01-01T00:00:00.000Z'} | ${'2026-01-15T00:00:00.000Z'} | ${'UTC'}           | ${'2026-04-03T09:00:00.000Z'}
    ${'days of the zone, of 23 hours'}   | ${'2026-01-01T00:00:00.000Z'} | ${'2026-01-15T00:00:00.000Z'} | ${'Europe/Berlin'} | ${'2026-04-03T08:00:00.000Z'}
    ${'no whole days: as long in hours'} | ${'2026-01-01T00:00:00.000Z'} | ${'2026-01-01T06:00:00.000Z'} | ${'UTC'}           | ${'2026-03-20T15:00:00.000Z'}
  `('$why', ({ from, to, zone, end }) => {
    expect(trialOf(from, to, zone)).toEqual({ start: '2026-03-20T09:00:00.000Z', end });
  });
  test('without trial days there is no trial', () => {
    const none = { trial_start: null, trial_end: null, customer_timezone: 'UTC' };
    expect(trialFrom(start, none)).toBe(null);
  });
});
