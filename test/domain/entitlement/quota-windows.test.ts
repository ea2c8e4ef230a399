import {
  openQuotaWindow,
  quotaOverage,
  quotaSlots,
  quotaStatus,
  validateQuotas,
  type QuotaConfig,
  type QuotaUnit,
} from '../../../domain/entitlement/quota-windows.ts';
import { Decimal } from '../../../domain/money.ts';
import { refusalOf } from '../../support/refusal.ts';
import { at, span } from '../pricing/lines.ts';

const config = (more: Partial<QuotaConfig> = {}): QuotaConfig => ({
  entitlement_id: 'ent_1',
  grant_measure: 'quantity',
  grant_duration_value: 5,
  grant_duration_unit: 'hour',
  grant_quota: new Decimal(100),
  grant_allocation_behavior: 'first_usage',
  aggregation_mode: 'additive',
  ...more,
});

describe('which quotas can be combined (money 7.2)', () => {
  const feature = {
    aggregation: 'SUM' as const,
    bucketed: false,
    lifetime: false,
  };
  const problems = (
    configs: QuotaConfig[],
    of: Partial<Parameters<typeof validateQuotas>[1]> = {},
  ) =>
    refusalOf(() => validateQuotas(configs, { ...feature, ...of })).details.map(
      ({ path, code }) => `${path} ${code}`,
    );

  test('one, several equal ones, parallel ones of any length', () => {
    expect(validateQuotas([config()], feature)).toBeUndefined();
    expect(validateQuotas([config(), config()], feature)).toBeUndefined();
    const parallel = [1, 24].map((grant_duration_value) =>
      config({ aggregation_mode: 'parallel', grant_duration_value }),
    );
    expect(validateQuotas(parallel, feature)).toBeUndefined();
    const period = config({ grant_duration_unit: 'subscription_period', grant_duration_value: 1 });
    expect(validateQuotas([period], feature)).toBeUndefined();
  });

  test.each<[string, QuotaConfig[], object, string]>([
    ['MAX', [config()], { aggregation: 'MAX' }, 'feature_id quota_not_countable'],
    ['distinct values', [config()], { aggregation: 'COUNT_UNIQUE' }, 'feature_id quota_not_countable'],
    ['a meter with a bucket', [config()], { bucketed: true }, 'feature_id quota_not_countable'],
    ['a running total', [config()], { lifetime: true }, 'feature_id quota_not_countable'],
    ['money', [config(), config({ grant_measure: 'amount' })], {}, 'grant_measure quota_amount'],
    ['two periods', [config({ grant_duration_unit: 'subscription_period', grant_duration_value: 2 })], {}, 'grant_duration_value quota_duration'],
    ['both modes', [config(), config({ aggregation_mode: 'parallel' })], {}, 'aggregation_mode quota_mixed_mode'],
    ['additive ones of two lengths', [config(), config({ grant_duration_value: 6 })], {}, 'grant_duration_value quota_mixed_duration'],
    ['additive ones of two units', [config(), config({ grant_duration_unit: 'day' })], {}, 'grant_duration_value quota_mixed_duration'],
    ['a quota of 0', [config({ grant_quota: new Decimal(0) })], {}, 'grant_quota quota_not_positive'],
    ['a duration of 0', [config({ grant_duration_value: 0 })], {}, 'grant_duration_value quota_duration'],
    ['half an hour', [config({ grant_duration_value: 0.5 })], {}, 'grant_duration_value quota_duration'],
  ])('refused: %s', (_title, configs, of, problem) => {
    expect(problems(configs, of)).toEqual([problem]);
  }); // prettier-ignore
});

test('the refusals say what would be right', () => {
  const configs = [
    config({ grant_quota: new Decimal(0), grant_duration_value: 0 }),
    config({ grant_measure: 'amount', aggregation_mode: 'parallel' }),
  ];
  const { details } = refusalOf(() =>
    validateQuotas(configs, { aggregation: 'MAX', bucketed: true, lifetime: false }),
  );
  expect(details.map(({ message }) => message)).toEqual([
    'quotas need a meter of COUNT, SUM or SUM_WITH_MULTIPLIER without windows, with a reset',
    'must be quantity: amounts cannot be a quota',
    'must be the same on all of a feature',
    'must be the same on additive ones',
    'must be greater than 0',
    'must be an integer of at least 1',
  ]);
});

describe('slots (money 7.5)', () => {
  const text = (configs: QuotaConfig[]) =>
    quotaSlots(configs).map(
      ({ config: { entitlement_id }, quota }) => `${entitlement_id} ${quota}`,
    );
  const three = (aggregation_mode: QuotaConfig['aggregation_mode']) =>
    [['b', 200], ['a', 100], ['c', 300]].map(([entitlement_id, quota]) =>
      config({ entitlement_id: String(entitlement_id), grant_quota: new Decimal(quota!), aggregation_mode }),
    ); // prettier-ignore

  test('additive ones share one, on the lowest id', () => {
    expect(text(three('additive'))).toEqual(['a 600']);
  });
  test('parallel ones have one each', () => {
    expect(text(three('parallel'))).toEqual(['a 100', 'b 200', 'c 300']);
  });
  test('none without configs', () => expect(quotaSlots([])).toEqual([]));
});

describe('the window that the first uncovered usage opens (money 7.6, 7.7)', () => {
  const JULY = span('2026-07-01', '2026-07-31');
  const open = (
    usage: string,
    more: Partial<QuotaConfig> = {},
    covered: string | null = null,
    cycle = JULY,
    timezone = 'UTC',
  ) =>
    openQuotaWindow(
      config(more),
      { cycle, covered_until: covered === null ? null : at(covered), timezone },
      at(usage),
    );
  const unit = (grant_duration_unit: QuotaUnit, grant_duration_value = 1) => ({
    grant_duration_unit,
    grant_duration_value,
  });

  test('from the usage, for the duration', () => {
    expect(open('2026-07-10T02:00')).toEqual(span('2026-07-10T02:00', '2026-07-10T07:00'));
    expect(open('2026-07-10T02:00', unit('day'))).toEqual(
      span('2026-07-10T02:00', '2026-07-11T02:00'),
    );
    expect(open('2026-07-10T02:00', unit('week'))).toEqual(
      span('2026-07-10T02:00', '2026-07-17T02:00'),
    );
  });

  test('after an idle gap from the next usage on', () => {
    expect(open('2026-07-10T07:35', {}, '2026-07-10T07:00')).toEqual(
      span('2026-07-10T07:35', '2026-07-10T12:35'),
    );
    expect(open('2026-07-10T07:00', {}, '2026-07-10T07:00')).toEqual(
      span('2026-07-10T07:00', '2026-07-10T12:00'),
    );
  });

  test('usage that is covered, or outside of the cycle, opens none', () => {
    expect(open('2026-07-10T06:59', {}, '2026-07-10T07:00')).toBeNull();
    expect(open('2026-06-30T23:59')).toBeNull();
    expect(open('2026-07-31')).toBeNull();
    expect(open('2026-07-01')).not.toBeNull();
  });

  test('never beyond the cycle', () => {
    expect(open('2026-07-30T18:00', unit('hour', 24))).toEqual(
      span('2026-07-30T18:00', '2026-07-31'),
    );
  });

  test.each`
    usage                 | end
    ${'2026-07-30T17:59'} | ${'2026-07-30T22:59'}
    ${'2026-07-30T18:00'} | ${'2026-07-30T23:00'}
    ${'2026-07-30T18:01'} | ${'2026-07-31'}
    ${'2026-07-30T19:00'} | ${'2026-07-31'}
  `('a rest of less than an hour is added: from $usage to $end', ({ usage, end }) => {
    expect(open(usage)).toEqual(span(usage, end));
  });

  test('a quota as long as the cycle has no windows', () => {
    const short = span('2026-07-01', '2026-07-02');
    expect(open('2026-07-01T05:00', unit('hour', 24), null, short)).toBeNull();
    expect(open('2026-07-01T05:00', unit('hour', 25), null, short)).toBeNull();
    expect(open('2026-07-01T05:00', unit('hour', 23), null, short)).not.toBeNull();
  });

  test('subscription_period is the whole cycle', () => {
    expect(open('2026-07-10', unit('subscription_period'))).toEqual(JULY);
  });

  describe('unit_start: from the beginning of the unit', () => {
    const start = { grant_allocation_behavior: 'unit_start' as const };
    test.each`
      unit               | usage                 | covered               | window
      ${unit('hour')}    | ${'2026-07-10T02:35'} | ${null}               | ${['2026-07-10T02:00', '2026-07-10T03:00']}
      ${unit('hour', 5)} | ${'2026-07-10T02:35'} | ${null}               | ${['2026-07-09T23:00', '2026-07-10T04:00']}
      ${unit('day')}     | ${'2026-07-10T02:35'} | ${null}               | ${['2026-07-10', '2026-07-11']}
      ${unit('day', 2)}  | ${'2026-07-10T02:35'} | ${null}               | ${['2026-07-09', '2026-07-11']}
      ${unit('week')}    | ${'2026-07-10T02:35'} | ${null}               | ${['2026-07-06', '2026-07-13']}
      ${unit('day', 3)}  | ${'2026-07-10T02:35'} | ${null}               | ${['2026-07-10', '2026-07-13']}
      ${unit('hour')}    | ${'2026-07-10T02:35'} | ${'2026-07-10T02:20'} | ${['2026-07-10T02:20', '2026-07-10T03:20']}
      ${unit('week')}    | ${'2026-07-02'}       | ${null}               | ${['2026-07-01', '2026-07-08']}
    `('$unit at $usage', ({ unit: of, usage, covered, window }) => {
      expect(open(usage, { ...start, ...of }, covered)).toEqual(span(window[0], window[1]));
    });

    test('on the subscription’s clock', () => {
      const kolkata = open(
        '2026-07-10T02:45',
        { ...start, ...unit('day') },
        null,
        JULY,
        'Asia/Kolkata',
      );
      expect(kolkata).toEqual(span('2026-07-09T18:30', '2026-07-10T18:30'));
      const hourly = open(
        '2026-07-10T02:45',
        { ...start, ...unit('hour') },
        null,
        JULY,
        'Asia/Kolkata',
      );
      expect(hourly).toEqual(span('2026-07-10T02:30', '2026-07-10T03:30'));
      const strides = open(
        '2026-07-10T02:45',
        { ...start, ...unit('hour', 5) },
        null,
        JULY,
        'Asia/Kolkata',
      );
      expect(strides).toEqual(span('2026-07-09T22:30', '2026-07-10T03:30'));
    });
  });

  test('days and weeks follow the wall clock over a clock change, hours do not', () => {
    const march = span('2026-03-01T05:00', '2026-04-01T04:00');
    const zone = 'America/New_York';
    expect(open('2026-03-07T12:00', unit('day'), null, march, zone)).toEqual(
      span('2026-03-07T12:00', '2026-03-08T11:00'),
    );
    expect(open('2026-03-07T12:00', unit('hour', 24), null, march, zone)).toEqual(
      span('2026-03-07T12:00', '2026-03-08T12:00'),
    );
  });

  test('a duration of less than one is a bug', () => {
    expect(() => open('2026-07-10', unit('hour', 0))).toThrow('a duration of 0');
  });
});

describe('usage against quotas (money 7.10)', () => {
  const dec = (text: string) => new Decimal(text);
  test.each`
    usage    | status
    ${'99'}  | ${'active'}
    ${'100'} | ${'exhausted'}
    ${'101'} | ${'exhausted'}
    ${'0'}   | ${'active'}
  `('$usage of 100: $status', ({ usage, status }) => {
    expect(quotaStatus(dec('100'), dec(usage))).toBe(status);
  });

  test('each window bills what is beyond its quota', () => {
    const windows = [
      { quota: dec('100'), usage: dec('40') },
      { quota: dec('200'), usage: dec('250.5') },
      { quota: dec('10'), usage: dec('10') },
      { quota: dec('0'), usage: dec('3') },
    ];
    expect(quotaOverage(windows).toFixed()).toBe('53.5');
    expect(quotaOverage([]).toFixed()).toBe('0');
  });
});
