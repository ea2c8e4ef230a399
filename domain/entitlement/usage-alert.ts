import type { SpendAlertSettings } from '../subscription/spend-alert.ts';
import { spendAlertState } from '../subscription/spend-alert.ts';
import { Decimal } from '../money.ts';
import type { AlertState } from '../wallet/balance-alert.ts';
import type { EffectiveEntitlement } from './effective-limits.ts';
import { summarizeUsage } from './access.ts';

/** How much of a granted limit is used, with the states of its two alerts. */
export interface GrantUsageState {
  /** Percent of the limit, two decimals. */
  readonly usage_percent: Decimal;
  /** The most severe level of percent that the usage has reached. */
  readonly threshold: AlertState;
  /** `in_alarm` once nothing of the limit is left; it stays so until the window ends (money 7.12). */
  readonly exhausted: AlertState;
}

/**
 * The alerts of a metered entitlement in its running reset window. Thresholds are percent of the limit. Null
 * for an entitlement without a limit. `previous` are the last states of the same window.
 */
export function grantUsageState(
  levels: SpendAlertSettings,
  entitlement: Pick<EffectiveEntitlement, 'usage_limit' | 'is_soft_limit' | 'is_enabled'>,
  usage: Decimal,
  previous: { readonly threshold: AlertState; readonly exhausted: AlertState },
): GrantUsageState | null {
  if (entitlement.usage_limit === null) return null;
  const { usage_percent } = summarizeUsage(entitlement, usage);
  const isUsedUp = usage.gt(0) && usage.gte(entitlement.usage_limit);
  return {
    usage_percent,
    threshold: spendAlertState(levels, levels.alert_enabled, usage_percent, previous.threshold),
    exhausted: isUsedUp ? 'in_alarm' : previous.exhausted,
  };
}
