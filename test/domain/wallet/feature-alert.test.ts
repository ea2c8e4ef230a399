import { decimal } from '../../../domain/money.ts';
import {
  featureAlertState,
  validateFeatureAlert,
  type FeatureAlertSettings,
} from '../../../domain/wallet/feature-alert.ts';
import { refusalText } from '../../support/refusal.ts';

const level = (threshold: string, condition: 'above' | 'below') => ({ threshold, condition });
const below = (over: Partial<FeatureAlertSettings> = {}): FeatureAlertSettings => ({
  alert_enabled: true,
  critical: level('10', 'below'),
  warning: level('20', 'below'),
  info: level('50', 'below'),
  ...over,
});
const above = (over: Partial<FeatureAlertSettings> = {}): FeatureAlertSettings => ({
  alert_enabled: true,
  critical: level('50', 'above'),
  warning: level('20', 'above'),
  info: level('10', 'above'),
  ...over,
});

describe('settings (money 4.2, 4.12)', () => {
  test.each`
    why                | of
    ${'below'}         | ${below()}
    ${'above'}         | ${above()}
    ${'equal, below'}  | ${below({ warning: level('10', 'below'), info: level('10', 'below') })}
    ${'equal, above'}  | ${above({ warning: level('50', 'above'), info: level('50', 'above') })}
    ${'info alone'}    | ${below({ critical: null, warning: null })}
    ${'off and empty'} | ${below({ alert_enabled: false, critical: null, warning: null, info: null })}
  `('accepted: $why', ({ of }) => {
    expect(() => validateFeatureAlert(of)).not.toThrow();
  });

  test.each`
    why                         | of                                                      | path
    ${'empty'}                  | ${below({ critical: null, warning: null, info: null })} | ${'alert_settings'}
    ${'warning alone'}          | ${below({ critical: null })}                            | ${'alert_settings.critical'}
    ${'mixed'}                  | ${below({ info: level('50', 'above') })}                | ${'alert_settings.condition'}
    ${'below, critical higher'} | ${below({ critical: level('20.01', 'below') })}         | ${'alert_settings'}
    ${'below, warning higher'}  | ${below({ warning: level('50.01', 'below') })}          | ${'alert_settings'}
    ${'above, critical lower'}  | ${above({ critical: level('19.99', 'above') })}         | ${'alert_settings'}
    ${'above, warning lower'}   | ${above({ warning: level('9.99', 'above') })}           | ${'alert_settings'}
  `('refused: $why', ({ of, path }) => {
    expect(refusalText(() => validateFeatureAlert(of))).toBe(`invalid validation_error ${path}`);
  });
});

describe('the state', () => {
  test.each`
    of                                 | value      | state
    ${below()}                         | ${'50.01'} | ${'ok'}
    ${below()}                         | ${'50'}    | ${'info'}
    ${below()}                         | ${'20'}    | ${'warning'}
    ${below()}                         | ${'10'}    | ${'in_alarm'}
    ${above()}                         | ${'9.99'}  | ${'ok'}
    ${above()}                         | ${'10'}    | ${'info'}
    ${above()}                         | ${'20'}    | ${'warning'}
    ${above()}                         | ${'50'}    | ${'in_alarm'}
    ${above({ warning: null })}        | ${'20'}    | ${'info'}
    ${above({ alert_enabled: false })} | ${'99'}    | ${'ok'}
  `('$of.critical.condition at $value: $state', ({ of, value, state }) => {
    expect(featureAlertState(of, decimal(value))).toBe(state);
  });
});
