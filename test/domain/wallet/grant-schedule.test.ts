import { GRANT_APPLICATION_STATUSES } from '../../../schemas/words.ts';
import {
  attachedGrantStart,
  cancelledFrom,
  firstApplication,
  grantStart,
  nextApplication,
  type RunningGrant,
} from '../../../domain/wallet/grant-schedule.ts';
import type { GrantApplication } from '../../../domain/wallet/grant-application.ts';

const grant = (over: Partial<RunningGrant> = {}): RunningGrant => ({
  credits: '50',
  cadence: 'RECURRING',
  period: 'MONTHLY',
  period_count: 1,
  start_date: '2026-01-01T00:00:00.000Z',
  end_date: null,
  credit_grant_anchor: '2026-01-01T00:00:00.000Z',
  timezone: '',
  ...over,
});

/** Starts of the first `count` periods, and the end of the last. */
function bounds(of: RunningGrant, count: number): string[] {
  const found: string[] = [];
  let application = firstApplication(of);
  while (application !== null && found.length < count) {
    found.push(application.period_start.slice(0, 16));
    const next = nextApplication(of, application);
    if (next === null || found.length === count) found.push(application.period_end!.slice(0, 16));
    application = next;
  }
  return found;
}

describe('where a grant starts (money 5.2)', () => {
  test.each`
    trial_end                     | start
    ${null}                       | ${'2026-01-01T00:00:00.000Z'}
    ${'2026-01-15T00:00:00.000Z'} | ${'2026-01-15T00:00:00.000Z'}
  `('with a trial until $trial_end: $start', ({ trial_end, start }) => {
    expect(grantStart({ start_date: '2026-01-01T00:00:00.000Z', trial_end })).toEqual({
      start_date: start,
      credit_grant_anchor: start,
    });
  });

  const proration = (over = {}) => ({
    proration_behavior: 'create_prorations' as const,
    is_same_period: true,
    billing_period: { start: '2026-03-01T00:00:00.000Z', end: '2026-04-01T00:00:00.000Z' },
    aligned_at: '2026-04-01T00:00:00.000Z',
    attached_at: '2026-03-22T00:00:00.000Z',
    ...over,
  });

  test.each`
    cadence        | over                              | anchor
    ${'RECURRING'} | ${{}}                             | ${'2026-04-01T00:00:00.000Z'}
    ${'RECURRING'} | ${{ proration_behavior: 'none' }} | ${'2026-03-22T00:00:00.000Z'}
    ${'RECURRING'} | ${{ is_same_period: false }}      | ${'2026-03-22T00:00:00.000Z'}
    ${'ONETIME'}   | ${{}}                             | ${'2026-03-22T00:00:00.000Z'}
  `('attached later, $cadence $over: counted from $anchor', ({ cadence, over, anchor }) => {
    expect(attachedGrantStart({ cadence }, proration(over))).toEqual({
      start_date: '2026-03-22T00:00:00.000Z',
      credit_grant_anchor: anchor,
    });
  });

  test('a prorated first period ends with the billing period, the next ones are whole', () => {
    const part = proration();
    const running = grant({
      credits: '310',
      ...attachedGrantStart({ cadence: 'RECURRING' }, part),
    });
    const first = firstApplication(running, part)!;
    expect(first).toMatchObject({
      period_start: '2026-03-22T00:00:00.000Z',
      period_end: '2026-04-01T00:00:00.000Z',
      credits: '100',
      application_reason: 'first_time_recurring_credit_grant',
    });
    expect(nextApplication(running, first)).toMatchObject({
      period_start: '2026-04-01T00:00:00.000Z',
      period_end: '2026-05-01T00:00:00.000Z',
      credits: '310',
      application_reason: 'recurring_credit_grant',
    });
  });
});

describe('applications (money 5.3)', () => {
  test('are pending, due at the start of their period', () => {
    expect(firstApplication(grant())).toEqual({
      scheduled_for: '2026-01-01T00:00:00.000Z',
      period_start: '2026-01-01T00:00:00.000Z',
      period_end: '2026-02-01T00:00:00.000Z',
      credits: '50',
      application_status: 'pending',
      application_reason: 'first_time_recurring_credit_grant',
    });
  });

  test('a one-time grant has one, without an end', () => {
    const once = grant({ cadence: 'ONETIME', period: null, period_count: null });
    const only = firstApplication(once)!;
    expect(only).toMatchObject({
      period_end: null,
      application_reason: 'onetime_credit_grant',
      credits: '50',
    });
    expect(nextApplication(once, only)).toBeNull();
    expect(nextApplication(once, { period_end: '2026-02-01T00:00:00.000Z' })).toBeNull();
    expect(nextApplication(grant(), { period_end: null })).toBeNull();
  });

  test.each`
    end_date                      | credits
    ${'2026-01-01T00:00:00.000Z'} | ${undefined}
    ${'2026-01-01T00:00:00.001Z'} | ${'50'}
  `('a one-time grant that ends at $end_date gives $credits (5.1.7)', ({ end_date, credits }) => {
    expect(firstApplication(grant({ cadence: 'ONETIME', end_date }))?.credits).toBe(credits);
  });

  test.each`
    why                       | over                                                                                                                                          | starts
    ${'months'}               | ${{}}                                                                                                                                         | ${['2026-01-01T00:00', '2026-02-01T00:00', '2026-03-01T00:00', '2026-04-01T00:00']}
    ${'two weeks'}            | ${{ period: 'WEEKLY', period_count: 2 }}                                                                                                      | ${['2026-01-01T00:00', '2026-01-15T00:00', '2026-01-29T00:00', '2026-02-12T00:00']}
    ${'days'}                 | ${{ period: 'DAILY' }}                                                                                                                        | ${['2026-01-01T00:00', '2026-01-02T00:00', '2026-01-03T00:00', '2026-01-04T00:00']}
    ${'quarters'}             | ${{ period: 'QUARTERLY' }}                                                                                                                    | ${['2026-01-01T00:00', '2026-04-01T00:00', '2026-07-01T00:00', '2026-10-01T00:00']}
    ${'half-years'}           | ${{ period: 'HALF_YEARLY' }}                                                                                                                  | ${['2026-01-01T00:00', '2026-07-01T00:00', '2027-01-01T00:00', '2027-07-01T00:00']}
    ${'never drifting to 28'} | ${{ start_date: '2026-01-31T00:00:00.000Z', credit_grant_anchor: '2026-01-31T00:00:00.000Z' }}                                                | ${['2026-01-31T00:00', '2026-02-28T00:00', '2026-03-31T00:00', '2026-04-30T00:00']}
    ${'leap days come back'}  | ${{ period: 'ANNUAL', start_date: '2028-02-29T00:00:00.000Z', credit_grant_anchor: '2028-02-29T00:00:00.000Z' }}                              | ${['2028-02-29T00:00', '2029-02-28T00:00', '2030-02-28T00:00', '2031-02-28T00:00']}
    ${'by the local clock'}   | ${{ period: 'DAILY', timezone: 'America/New_York', start_date: '2026-03-07T05:00:00.000Z', credit_grant_anchor: '2026-03-07T05:00:00.000Z' }} | ${['2026-03-07T05:00', '2026-03-08T05:00', '2026-03-09T04:00', '2026-03-10T04:00']}
    ${'half an hour off'}     | ${{ timezone: 'Asia/Kolkata', start_date: '2026-01-30T18:30:00.000Z', credit_grant_anchor: '2026-01-30T18:30:00.000Z' }}                      | ${['2026-01-30T18:30', '2026-02-27T18:30', '2026-03-30T18:30', '2026-04-29T18:30']}
  `('$why', ({ over, starts }) => {
    expect(bounds(grant(over), 3)).toEqual(starts);
  });

  test.each`
    end                           | periods
    ${null}                       | ${5}
    ${'2026-04-01T00:00:00.000Z'} | ${3}
    ${'2026-03-31T23:59:59.999Z'} | ${2}
    ${'2026-04-15T00:00:00.000Z'} | ${3}
    ${'2026-02-01T00:00:00.000Z'} | ${1}
    ${'2026-01-31T00:00:00.000Z'} | ${0}
  `('until $end there are $periods whole periods (5.3.4)', ({ end, periods }) => {
    expect(bounds(grant({ end_date: end }), 5)).toHaveLength(periods === 0 ? 0 : periods + 1);
  });

  test('a recurring grant without a period is a bug', () => {
    expect(() => firstApplication(grant({ period: null }))).toThrow('has a period');
  });
});

describe('cancellation (money 5.1.7, 5.6.3)', () => {
  const due = (scheduled_for: string, application_status: GrantApplication['application_status']) =>
    ({
      scheduled_for: `${scheduled_for}T00:00:00.000Z`,
      period_start: '',
      period_end: null,
      credits: '1',
      application_status,
      application_reason: 'recurring_credit_grant',
    }) satisfies GrantApplication;
  const from = '2026-03-01T00:00:00.000Z';

  test.each(GRANT_APPLICATION_STATUSES)('an application that is %s, due at the cut', (status) => {
    const after = cancelledFrom(due('2026-03-01', status), from);
    expect(after.application_status).toBe(
      status === 'pending' || status === 'failed' ? 'cancelled' : status,
    );
  });

  test.each`
    scheduled       | status
    ${'2026-02-28'} | ${'pending'}
    ${'2026-03-01'} | ${'cancelled'}
    ${'2026-03-02'} | ${'cancelled'}
  `('due $scheduled: $status', ({ scheduled, status }) => {
    expect(cancelledFrom(due(scheduled, 'pending'), from).application_status).toBe(status);
  });
});
