import { ALERT_STATES } from '../../../schemas/words.ts';
import { decimal } from '../../../domain/money.ts';
import {
  alertState,
  alertTransition,
  percentageAlertValue,
  validateAlertSettings,
  type AlertSettings,
} from '../../../domain/wallet/balance-alert.ts';
import { refusalText } from '../../support/refusal.ts';

const level = (threshold: string, condition: 'above' | 'below' = 'below') => ({
  threshold,
  condition,
});
const settings = (over: Partial<AlertSettings> = {}): AlertSettings => ({
  alert_enabled: true,
  alert_threshold_type: 'absolute',
  critical: level('10'),
  warning: level('20'),
  info: level('50'),
  ...over,
});

describe('settings (money 4.2, 4.3)', () => {
  test.each`
    why                       | over
    ${'all three'}            | ${{}}
    ${'critical alone'}       | ${{ warning: null, info: null }}
    ${'info alone'}           | ${{ critical: null, warning: null }}
    ${'critical and info'}    | ${{ warning: null }}
    ${'equal thresholds'}     | ${{ warning: level('10'), info: level('10') }}
    ${'disabled and empty'}   | ${{ alert_enabled: false, critical: null, warning: null, info: null }}
    ${'condition above'}      | ${{ critical: level('10', 'above'), warning: level('20', 'above'), info: level('50', 'above') }}
    ${'negative, absolute'}   | ${{ critical: level('-10') }}
    ${'percentages 0 to 100'} | ${{ alert_threshold_type: 'percentage', critical: level('0'), info: level('100') }}
  `('accepted: $why', ({ over }) => {
    expect(() => validateAlertSettings(settings(over))).not.toThrow();
  });

  test.each`
    why                           | over                                                                | path
    ${'enabled without a level'}  | ${{ critical: null, warning: null, info: null }}                    | ${'alert_settings'}
    ${'warning without critical'} | ${{ critical: null }}                                               | ${'alert_settings.critical'}
    ${'mixed conditions'}         | ${{ warning: level('20', 'above') }}                                | ${'alert_settings.condition'}
    ${'critical over warning'}    | ${{ critical: level('20.01') }}                                     | ${'alert_settings'}
    ${'warning over info'}        | ${{ warning: level('50.01') }}                                      | ${'alert_settings'}
    ${'critical over info'}       | ${{ warning: null, critical: level('51') }}                         | ${'alert_settings'}
    ${'a percentage below 0'}     | ${{ alert_threshold_type: 'percentage', critical: level('-0.01') }} | ${'alert_settings'}
    ${'a percentage above 100'}   | ${{ alert_threshold_type: 'percentage', info: level('100.01') }}    | ${'alert_settings'}
  `('refused: $why', ({ over, path }) => {
    expect(refusalText(() => validateAlertSettings(settings(over)))).toBe(
      `invalid validation_error ${path}`,
    );
  });
});

describe('the state of a falling value (money 4.4)', () => {
  test.each`
    value      | state
    ${'50.01'} | ${'ok'}
    ${'50'}    | ${'info'}
    ${'20.01'} | ${'info'}
    ${'20'}    | ${'warning'}
    ${'10.01'} | ${'warning'}
    ${'10'}    | ${'in_alarm'}
    ${'-5'}    | ${'in_alarm'}
  `('$value: $state', ({ value, state }) => {
    expect(alertState(settings(), decimal(value))).toBe(state);
  });

  test('for every condition', () => {
    const above = settings({ critical: level('10', 'above'), warning: null, info: null });
    expect(alertState(above, decimal('5'))).toBe('in_alarm');
    expect(alertState(above, decimal('50'))).toBe('ok');
  });

  test.each`
    why                    | of                                             | value   | state
    ${'no settings'}       | ${null}                                        | ${'0'}  | ${null}
    ${'switched off'}      | ${settings({ alert_enabled: false })}          | ${'0'}  | ${'ok'}
    ${'no critical level'} | ${settings({ critical: null, warning: null })} | ${'0'}  | ${'info'}
    ${'no info level'}     | ${settings({ info: null })}                    | ${'30'} | ${'ok'}
    ${'no warning level'}  | ${settings({ warning: null })}                 | ${'15'} | ${'info'}
  `('$why: $state', ({ of, value, state }) => {
    expect(alertState(of, decimal(value))).toBe(state);
  });
});

describe('what is logged and announced (money 4.7, 4.8)', () => {
  const pairs = [null, ...ALERT_STATES].flatMap((previous) =>
    ALERT_STATES.map((state) => ({ previous, state })),
  );
  test.each(pairs)('$previous to $state', ({ previous, state }) => {
    const before = previous ?? 'ok';
    expect(alertTransition(previous, state)).toEqual(
      before === state
        ? null
        : { state, previous_state: before, event: state === 'ok' ? 'recovered' : 'dropped' },
    );
  });

  test('no log contains two equal states in a row', () => {
    const log: string[] = [];
    let current: (typeof ALERT_STATES)[number] | null = null;
    for (const value of ['60', '55', '50', '9', '8', '15', '60', '70', '5']) {
      const state = alertState(settings(), decimal(value))!;
      const transition = alertTransition(current, state);
      if (transition !== null) log.push(transition.state);
      current = state;
    }
    expect(log).toEqual(['info', 'in_alarm', 'warning', 'ok', 'in_alarm']);
  });
});

describe('percentage alerts (interface, wallet; money 4.6)', () => {
  const credit = (credit_amount: string, created_at: string, over = {}) => ({
    type: 'credit' as const,
    transaction_status: 'completed' as const,
    credit_amount,
    created_at: `${created_at}T00:00:00.000Z`,
    ...over,
  });
  const period = (start: string, subscription_status = 'active') => ({
    subscription_status,
    current_period_start: `${start}T00:00:00.000Z`,
  });

  test('example H: 150 of 1200 are 12.5 %', () => {
    const value = percentageAlertValue(
      decimal('150'),
      [period('2026-05-01')],
      [
        credit('999', '2026-04-30'),
        credit('1000', '2026-05-01'),
        credit('200', '2026-05-02'),
        credit('77', '2026-05-03', { transaction_status: 'pending' }),
        credit('77', '2026-05-03', { transaction_status: 'failed' }),
        credit('77', '2026-05-03', { type: 'debit' }),
      ],
    );
    expect(value!.toFixed()).toBe('12.5');
    expect(alertState(settings({ alert_threshold_type: 'percentage' }), value!)).toBe('warning');
  });

  test.each`
    why                               | subscriptions                                                                                | value
    ${'the earliest running period'}  | ${[period('2026-05-01'), period('2026-04-01', 'trialing')]}                                  | ${'50'}
    ${'others do not run'}            | ${[period('2026-05-01'), period('2026-01-01', 'cancelled'), period('2026-01-01', 'paused')]} | ${'100'}
    ${'nothing runs: all of history'} | ${[]}                                                                                        | ${'25'}
    ${'nothing came in since'}        | ${[period('2026-06-01')]}                                                                    | ${null}
  `('$why: $value', ({ subscriptions, value }) => {
    const credits = [
      credit('200', '2026-03-01'),
      credit('100', '2026-04-01'),
      credit('100', '2026-05-01'),
    ];
    const found = percentageAlertValue(decimal('100'), subscriptions, credits);
    expect(found === null ? null : found.toFixed()).toBe(value);
  });

  test('a negative balance is a negative percentage', () => {
    expect(percentageAlertValue(decimal('-10'), [], [credit('100', '2026-05-01')])!.toFixed()).toBe(
      '-10',
    );
  });
});
