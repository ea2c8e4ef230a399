import { Decimal, ZERO } from '../money.ts';
import type { EffectiveEntitlement } from './effective-limits.ts';

/** How much of a metered entitlement is used. */
export interface UsageSummary {
  /** Null means unlimited. */
  readonly total_limit: Decimal | null;
  readonly is_unlimited: boolean;
  readonly current_usage: Decimal;
  /** Percent with two decimals. 0 when unlimited. With a limit of 0, 100 as soon as there is usage. */
  readonly usage_percent: Decimal;
  readonly has_access: boolean;
}

/** Compares usage of the running reset window with the limit (money 6.12, 6.15). */
export function summarizeUsage(
  entitlement: Pick<EffectiveEntitlement, 'usage_limit' | 'is_soft_limit' | 'is_enabled'>,
  currentUsage: Decimal,
): UsageSummary {
  const limit = entitlement.usage_limit;
  return {
    total_limit: limit,
    is_unlimited: limit === null,
    current_usage: currentUsage,
    usage_percent: usagePercent(limit, currentUsage),
    has_access: hasAccess(entitlement, currentUsage),
  };
}

/**
 * Whether a feature may be used now. A reached hard limit denies access; a soft limit never does. Neither
 * changes the bill or the acceptance of events (billing 4.3, money 6.15).
 */
export function hasAccess(
  entitlement: Pick<EffectiveEntitlement, 'usage_limit' | 'is_soft_limit' | 'is_enabled'>,
  currentUsage: Decimal,
): boolean {
  if (!entitlement.is_enabled) return false;
  if (entitlement.is_soft_limit || entitlement.usage_limit === null) return true;
  return currentUsage.lt(entitlement.usage_limit);
}

/**
 * The same for a feature with quotas for windows of time (money 7.1): the slot with the highest share of use
 * decides. A used-up slot denies access unless the limit is soft.
 */
export function summarizeQuotas(
  { is_enabled, is_soft_limit }: Pick<EffectiveEntitlement, 'is_soft_limit' | 'is_enabled'>,
  slots: readonly { readonly quota: Decimal; readonly used: Decimal }[],
): UsageSummary {
  const percents = slots.map(({ quota, used }) => usagePercent(quota, used));
  const most = percents.reduce(
    (best, percent, index) => (percent.gt(percents[best]!) ? index : best),
    0,
  );
  const { quota, used } = slots[most] ?? { quota: ZERO, used: ZERO };
  return {
    total_limit: quota,
    is_unlimited: false,
    current_usage: used,
    usage_percent: percents[most] ?? ZERO,
    has_access: is_enabled && (is_soft_limit || slots.every((slot) => slot.used.lt(slot.quota))),
  };
}

function usagePercent(limit: Decimal | null, used: Decimal): Decimal {
  if (limit === null) return ZERO;
  if (limit.isZero()) return used.gt(0) ? HUNDRED : ZERO;
  return used.times(HUNDRED).div(limit).toDecimalPlaces(2);
}

const HUNDRED = new Decimal(100);
