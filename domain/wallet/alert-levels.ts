import { invalidField } from '../errors.ts';
import { Decimal } from '../money.ts';

/** Thresholds as decimal text: credits, or percent with `percentage` (money 4.5). */
export interface AlertLevel {
  readonly threshold: string;
  /**
   * Stored and returned, but ignored: a balance alert always fires on a falling balance (money
   * 4.3).
   */
  readonly condition: 'above' | 'below';
  /**
   * How far the value must move back beyond the threshold before a level that was reached is left (api 44).
   * Absent means 0.
   */
  readonly hysteresis?: string | number;
}

/** The hysteresis of a level; 0 when absent. */
export const hysteresisOf = (level: AlertLevel): Decimal => new Decimal(level.hysteresis ?? 0);

/** The levels of an alert. A state is the most severe level that the value has reached. */
export interface AlertLevels {
  readonly alert_enabled: boolean;
  readonly critical: AlertLevel | null;
  readonly warning: AlertLevel | null;
  readonly info: AlertLevel | null;
}

/**
 * The levels that are set, most severe first. Refuses ambiguous levels (money 4.2): an enabled alert needs a
 * level, a warning needs a critical level, and all levels have the same condition.
 */
export function checkedLevels(settings: AlertLevels, path: string): readonly AlertLevel[] {
  const { critical, warning, info } = settings;
  const levels = [critical, warning, info].filter((level) => level !== null);
  if (settings.alert_enabled && levels.length === 0) {
    throw invalidField(path, 'needs a critical, a warning or an info level');
  }
  if (warning !== null && critical === null) {
    throw invalidField(`${path}.critical`, 'is required with a warning level');
  }
  if (new Set(levels.map((level) => level.condition)).size > 1) {
    throw invalidField(`${path}.condition`, 'must be the same on every level');
  }
  return levels;
}
