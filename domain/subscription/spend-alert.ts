import { invalidField } from '../errors.ts';
import { decimal, type Decimal } from '../money.ts';
import type { AlertLevel, AlertState } from '../wallet/balance-alert.ts';

/** Thresholds on what usage of a period costs so far, in the subscription's currency (money-semantics 20). */
export interface SpendAlertSettings {
  readonly alert_enabled: boolean;
  readonly critical: AlertLevel | null;
  readonly warning: AlertLevel | null;
  readonly info: AlertLevel | null;
}

/** Refuses anything but `above`, a warning without a critical level, and levels that do not rise strictly (money-semantics 20.2). */
export function validateSpendAlert(settings: SpendAlertSettings, path = 'alert_settings'): void {
  const rising = [settings.info, settings.warning, settings.critical].filter(
    (level) => level !== null,
  );
  if (settings.alert_enabled && rising.length === 0) {
    throw invalidField(path, 'needs a critical, a warning or an info level');
  }
  if (settings.warning !== null && settings.critical === null) {
    throw invalidField(`${path}.critical`, 'is required with a warning level');
  }
  if (rising.some((level) => level.condition !== 'above')) {
    throw invalidField(`${path}.condition`, 'must be "above"');
  }
  rising.forEach((level, index) => {
    const threshold = decimal(level.threshold);
    if (threshold.lt(0)) throw invalidField(path, 'must have thresholds of 0 or more');
    if (index > 0 && threshold.lte(decimal(rising[index - 1]!.threshold))) {
      throw invalidField(path, 'must have info below warning, and warning below critical');
    }
  });
}

/**
 * The most severe threshold that the spend has reached; at it counts. `tenantEnabled` is the setting
 * `subscription_alert_config.alert_enabled`: both must be on (money-semantics 20.2). The state of a
 * new period begins at `ok` without a recovery (20.3): a period's log is its own.
 */
export function spendAlertState(
  settings: SpendAlertSettings,
  tenantEnabled: boolean,
  spend: Decimal,
): AlertState {
  if (!tenantEnabled || !settings.alert_enabled) return 'ok';
  const reached = (level: AlertLevel | null) =>
    level !== null && spend.gte(decimal(level.threshold));
  if (reached(settings.critical)) return 'in_alarm';
  if (reached(settings.warning)) return 'warning';
  return reached(settings.info) ? 'info' : 'ok';
}
