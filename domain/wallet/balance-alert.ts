import type { ALERT_STATES } from '../../schemas/words.ts';
import { invalidField } from '../errors.ts';
import { decimal, sum, ZERO, type Decimal } from '../money.ts';
import { epochMs } from '../time/instant.ts';
import { checkedLevels, hysteresisOf, type AlertLevel, type AlertLevels } from './alert-levels.ts';
import type { WalletTransaction } from './transaction.ts';

export type AlertState = (typeof ALERT_STATES)[number];

export interface AlertSettings extends AlertLevels {
  readonly alert_threshold_type: 'absolute' | 'percentage';
}

/** Refuses settings that cannot be evaluated (money 4.2, 4.3; interface, percentage alerts). */
export function validateAlertSettings(settings: AlertSettings, path = 'alert_settings'): void {
  const levels = checkedLevels(settings, path);
  if (levels.some((level) => hysteresisOf(level).lt(0))) {
    throw invalidField(`${path}.hysteresis`, 'must not be negative');
  }
  const thresholds = levels.map((level) => decimal(level.threshold));
  if (thresholds.some((threshold, index) => index > 0 && threshold.lt(thresholds[index - 1]!))) {
    throw invalidField(path, 'must have critical at most warning, and warning at most info');
  }
  if (
    settings.alert_threshold_type === 'percentage' &&
    thresholds.some((threshold) => threshold.lt(0) || threshold.gt(100))
  ) {
    throw invalidField(path, 'must have percentages from 0 to 100');
  }
}

/** Mildest first. */
export const SEVERITY: readonly AlertState[] = ['ok', 'info', 'warning', 'in_alarm'];

/**
 * The most severe level that a falling value has reached; `ok` when it reached none or alerts are off; null
 * for a wallet without settings (money 4.4, 4.9). A level that `previous` had reached is left only above its
 * threshold and its hysteresis (api 44).
 */
export function alertState(
  settings: AlertSettings | null,
  value: Decimal,
  previous: AlertState = 'ok',
): AlertState | null {
  if (settings === null) return null;
  if (!settings.alert_enabled) return 'ok';
  const reached = (level: AlertLevel | null, state: AlertState): boolean => {
    if (level === null) return false;
    const isHeld = SEVERITY.indexOf(previous) >= SEVERITY.indexOf(state);
    const margin = isHeld ? hysteresisOf(level) : ZERO;
    return value.lte(decimal(level.threshold).plus(margin));
  };
  if (reached(settings.critical, 'in_alarm')) return 'in_alarm';
  if (reached(settings.warning, 'warning')) return 'warning';
  return reached(settings.info, 'info') ? 'info' : 'ok';
}

export interface AlertTransition {
  readonly state: AlertState;
  readonly previous_state: AlertState;
  /** Which of the two events of this alert kind is emitted. */
  readonly event: 'dropped' | 'recovered';
}

/**
 * The log entry for a new state; null when nothing is logged. Every change is logged and announced; a change
 * to `ok` is a recovery. A first evaluation that results in `ok` is not a change (money 4.7,
 * 4.8; interface, webhook notes 4). `previous` null means nothing was logged before.
 */
export function alertTransition(
  previous: AlertState | null,
  state: AlertState,
): AlertTransition | null {
  const before = previous ?? 'ok';
  if (before === state) return null;
  return { state, previous_state: before, event: state === 'ok' ? 'recovered' : 'dropped' };
}

/** Fields of a subscription's running period that percentage alerts need. */
export interface RunningPeriod {
  readonly subscription_status: string;
  readonly current_period_start: string;
}

/** The earliest start of a running period; null when no period runs. */
export function earliestRunningStart(subscriptions: readonly RunningPeriod[]): string | null {
  const starts = subscriptions
    .filter(({ subscription_status: status }) => status === 'active' || status === 'trialing')
    .map((subscription) => subscription.current_period_start);
  return starts.toSorted((one, other) => epochMs(one) - epochMs(other))[0] ?? null;
}

/**
 * The value of a percentage alert: 100 × ongoing credits ÷ credits added since the earliest start of a
 * running period, or since the wallet exists when no period runs (interface, wallet; money
 * 4.6). Null means the base is zero: the evaluation is skipped and the state stays.
 */
export function percentageAlertValue(
  realTimeCredits: Decimal,
  subscriptions: readonly RunningPeriod[],
  credits: readonly (Pick<WalletTransaction, 'type' | 'transaction_status' | 'credit_amount'> & {
    readonly created_at: string;
  })[],
): Decimal | null {
  const start = earliestRunningStart(subscriptions);
  const since = start === null ? Number.NEGATIVE_INFINITY : epochMs(start);
  const base = sum(
    credits
      .filter((row) => row.type === 'credit' && row.transaction_status === 'completed')
      .filter((row) => epochMs(row.created_at) >= since)
      .map((row) => decimal(row.credit_amount)),
  );
  return base.isZero() ? null : realTimeCredits.times(100).div(base);
}
