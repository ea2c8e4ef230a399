import { invalidField } from '../../../domain/errors.ts';
import { Decimal } from '../../../domain/money.ts';
import { validateFeatureAlert } from '../../../domain/wallet/feature-alert.ts';
import type { AlertSettings, AlertSettingsBody } from '../../../schemas/feature.ts';

type Level = { threshold: number; condition: 'above' | 'below' };

/**
 * Merges the sent settings into the stored ones, level by level; null clears a level. The merged result is
 * validated: one direction for all levels, and thresholds in the order in which they are crossed (below:
 * critical ≤ warning ≤ info; above: the reverse). An enabled alert needs a level, a warning a critical level (money
 * 4.2).
 */
export function mergeAlertSettings(
  stored: AlertSettings | null,
  sent: AlertSettingsBody,
): AlertSettings {
  const level = (name: 'critical' | 'warning' | 'info'): Level | null => {
    const given = sent[name];
    if (given === undefined) return stored?.[name] ?? null;
    if (given === null) return null;
    return { threshold: Number(given.threshold), condition: given.condition };
  };
  const merged: AlertSettings = {
    alert_enabled: sent.alert_enabled ?? stored?.alert_enabled ?? false,
    critical: level('critical'),
    warning: level('warning'),
    info: level('info'),
  };
  assertOrder(merged);
  validateFeatureAlert({
    alert_enabled: merged.alert_enabled,
    critical: asText(merged.critical),
    warning: asText(merged.warning),
    info: asText(merged.info),
  });
  return merged;
}

const asText = (level: Level | null) => level && { ...level, threshold: String(level.threshold) };

function assertOrder(settings: AlertSettings): void {
  const names = ['critical', 'warning', 'info'] as const;
  const set = names.flatMap((name) =>
    settings[name] === null ? [] : [{ name, ...settings[name] }],
  );
  for (const [index, { name, threshold, condition }] of set.entries()) {
    const before = set[index - 1];
    if (before === undefined) continue;
    if (before.condition !== condition)
      throw invalidField(
        `alert_settings.${name}.condition`,
        `must be ${before.condition}, as ${before.name}`,
      );
    const isAscending = new Decimal(threshold).gte(before.threshold);
    const isDescending = new Decimal(threshold).lte(before.threshold);
    if (condition === 'below' ? !isAscending : !isDescending) {
      const side = condition === 'below' ? 'below' : 'above';
      throw invalidField(
        `alert_settings.${name}.threshold`,
        `must not be ${side} that of ${before.name}`,
      );
    }
  }
}
