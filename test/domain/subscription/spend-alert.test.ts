import { decimal } from '../../../domain/money.ts';
import {
  spendAlertState,
  validateSpendAlert,
  type SpendAlertSettings,
} from '../../../domain/subscription/spend-alert.ts';
import { refusalText } from '../../support/refusal.ts';

const level = (threshold: string, condition: 'above' | 'below' = 'above') => ({
  threshold,
  condition,
});
const settings = (over: Partial<SpendAlertSettings> = {}): SpendAlertSettings => ({
  alert_enabled: true,
  critical: level('100'),
  warning: level('50'),
  info: level('10'),
  ...over,
});

describe('settings (money 20.2)', () => {
  test.each`
    why                | over
    ${'all three'}     | ${{}}
    ${'critical only'} | ${{ warning: null, info: null }}
    ${'info only'}     | ${{ critical: null, warning: null }}
    ${'from zero'}     | ${{ info: level('0') }}
    ${'off and empty'} | ${{ alert_enabled: false, critical: null, warning: null, info: null }}
  `('accepted: $why', ({ over }) => {
    expect(() => validateSpendAlert(settings(over))).not.toThrow();
  });

  test.each`
    why                        | over                                             | path
    ${'empty'}                 | ${{ critical: null, warning: null, info: null }} | ${'alert_settings'}
    ${'warning alone'}         | ${{ critical: null }}                            | ${'alert_settings.critical'}
    ${'below'}                 | ${{ critical: level('100', 'below') }}           | ${'alert_settings.critical.condition'}
    ${'info equals warning'}   | ${{ info: level('50') }}                         | ${'alert_settings.info.threshold'}
    ${'warning over critical'} | ${{ warning: level('100.01') }}                  | ${'alert_settings.warning.threshold'}
    ${'warning is critical'}   | ${{ warning: level('100') }}                     | ${'alert_settings.warning.threshold'}
    ${'info over critical'}    | ${{ warning: null, info: level('101') }}         | ${'alert_settings.info.threshold'}
    ${'negative'}              | ${{ info: level('-1') }}                         | ${'alert_settings.info.threshold'}
  `('refused: $why', ({ over, path }) => {
    expect(refusalText(() => validateSpendAlert(settings(over)))).toBe(
      `invalid validation_error ${path}`,
    );
  });
});

describe('the state', () => {
  test.each`
    spend      | state
    ${'0'}     | ${'ok'}
    ${'9.99'}  | ${'ok'}
    ${'10'}    | ${'info'}
    ${'49.99'} | ${'info'}
    ${'50'}    | ${'warning'}
    ${'99.99'} | ${'warning'}
    ${'100'}   | ${'in_alarm'}
  `('$spend: $state', ({ spend, state }) => {
    expect(spendAlertState(settings(), true, decimal(spend))).toBe(state);
  });

  test('both switches must be on', () => {
    expect(spendAlertState(settings(), false, decimal('1000'))).toBe('ok');
    expect(spendAlertState(settings({ alert_enabled: false }), true, decimal('1000'))).toBe('ok');
  });

  test('a level that is not set is passed over', () => {
    expect(spendAlertState(settings({ warning: null }), true, decimal('60'))).toBe('info');
  });

  test.each`
    spend     | previous      | state
    ${'96'}   | ${'ok'}       | ${'warning'}
    ${'96'}   | ${'warning'}  | ${'warning'}
    ${'96'}   | ${'in_alarm'} | ${'in_alarm'}
    ${'95'}   | ${'in_alarm'} | ${'warning'}
    ${'9.99'} | ${'info'}     | ${'ok'}
  `('hysteresis 5, $spend after $previous: $state (api 44)', ({ spend, previous, state }) => {
    const held = settings({ critical: { ...level('100'), hysteresis: 5 } });
    expect(spendAlertState(held, true, decimal(spend), previous)).toBe(state);
  });
});
