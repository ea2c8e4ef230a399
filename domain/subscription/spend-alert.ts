import { invalidField } from '../errors.ts';
import { decimal, ZERO, type Decimal } from '../money.ts';
import { hysteresisOf, type AlertLevel } from '../wallet/alert-levels.ts';
import { SEVERITY, type AlertState } from '../wallet/balance-alert.ts';

/**
 * Thresholds for the usage cost of the period so far, in the subscription's currency (money 20).
 */
export interface SpendAlertSettings {
  readonly alert_enabled: boolean;
  readonly critical: AlertLevel | null;
  readonly warning: AlertLevel | null;
  readonly info: AlertLevel | null;
}

const FALLING = ['critical', 'warning', 'info'] as const;

/**
 * Refuses conditions other than `above`, a warning without a critical level, and thresholds that do not
 * strictly decrease from critical to info (money 20.2). The error path names the invalid level.
 */
export function validateSpendAlert(settings: SpendAlertSettings, path = 'alert_settings'): void {
  const levels = FALLING.flatMap((name) => {
    const level = settings[name];
    return level === null ? [] : [{ name, level, threshold: decimal(level.threshold) }];
  });
  if (settings.alert_enabled && levels.length === 0) {
    throw invalidField(path, 'needs a critical, a warning or an info level');
  }
  if (settings.warning !== null && settings.critical === null) {
    throw invalidField(`${path}.critical`, 'is required with a warning level');
  }
  levels.forEach(({ name, level, threshold }, index) => {
    const at = `${path}.${name}`;
    if (level.condition !== 'above') throw invalidField(`${at}.condition`, 'must be "above"');
    if (threshold.lt(0)) throw invalidField(`${at}.threshold`, 'must not be negative');
    const above = levels[index - 1];
    if (above !== undefined && threshold.gte(above.threshold)) {
      throw invalidField(`${at}.threshold`, `must be below that of ${above.name}`);
    }
  });
}

/**
 * State of the most severe threshold reached; equal counts as reached. A level that `previous` had reached is
 * left only below its threshold less its hysteresis (api 44). `tenantEnabled` is the setting
 * `subscription_alert_config.alert_enabled`: both settings must be on (money 20.2). A new period
 * starts at `ok` without a recovery alert, because each period has its own log (20.3).
 */
export function spendAlertState(
  settings: SpendAlertSettings,
  tenantEnabled: boolean,
  spend: Decimal,
  previous: AlertState = 'ok',
): AlertState {
  if (!tenantEnabled || !settings.alert_enabled) return 'ok';
  const reached = (level: AlertLevel | null, state: AlertState) => {
    if (level === null) return false;
    const isHeld = SEVERITY.indexOf(previous) >= SEVERITY.indexOf(state);
    const margin = isHeld ? hysteresisOf(level) : ZERO;
    return spend.gte(decimal(level.threshold)) || spend.gt(decimal(level.threshold).minus(margin));
  };
  if (reached(settings.critical, 'in_alarm')) return 'in_alarm';
  if (reached(settings.warning, 'warning')) return 'warning';
  return reached(settings.info, 'info') ? 'info' : 'ok';
}
