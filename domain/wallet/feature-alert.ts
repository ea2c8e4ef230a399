import { invalidField } from '../errors.ts';
import { decimal, type Decimal } from '../money.ts';
import { checkedLevels, type AlertLevel, type AlertLevels } from './alert-levels.ts';
import type { AlertState } from './balance-alert.ts';

/** Levels of a feature, evaluated against the ongoing credits of each wallet (money 4.12). */
export type FeatureAlertSettings = AlertLevels;

/**
 * Refuses ambiguous levels (money 4.2): all levels share one condition, a warning needs a critical
 * level, and a more severe level lies further in the direction of the condition.
 */
export function validateFeatureAlert(
  settings: FeatureAlertSettings,
  path = 'alert_settings',
): void {
  const levels = checkedLevels(settings, path);
  levels.slice(1).forEach((level, index) => {
    const further = decimal(levels[index]!.threshold).comparedTo(decimal(level.threshold));
    if (level.condition === 'below' ? further > 0 : further < 0) {
      throw invalidField(path, `must have levels in order for the condition ${level.condition}`);
    }
  });
}

/** The most severe level that the value has reached; a value equal to the threshold counts. */
export function featureAlertState(settings: FeatureAlertSettings, value: Decimal): AlertState {
  if (!settings.alert_enabled) return 'ok';
  const reached = (level: AlertLevel | null): boolean => {
    if (level === null) return false;
    const threshold = decimal(level.threshold);
    return level.condition === 'below' ? value.lte(threshold) : value.gte(threshold);
  };
  if (reached(settings.critical)) return 'in_alarm';
  if (reached(settings.warning)) return 'warning';
  return reached(settings.info) ? 'info' : 'ok';
}
