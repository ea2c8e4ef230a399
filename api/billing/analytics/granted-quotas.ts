import {
  sourcesDuring,
  sourcesWithQuota,
  type EffectiveEntitlement,
  type EntitlementSource,
} from '../../../domain/entitlement/effective-limits.ts';
import {
  quotaCycle,
  quotaGrant,
  quotaStates,
  quotaUsage,
  type QuotaGrant,
  type QuotaState,
} from '../../../domain/entitlement/quota-usage.ts';
import type { UsageQuery, UsageRow } from '../../../domain/metering/usage.ts';
import { decimal } from '../../../domain/money.ts';
import type { QuotaWindow } from '../../../domain/pricing/quota-share.ts';
import { quotaScheduleAt } from '../../../domain/subscription/reset-schedule.ts';
import { epochMs, laterOf, type Period } from '../../../domain/time/instant.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';

/** The quotas of one subscription for a feature, and the cycle whose usage opens their windows. */
export interface RunningQuotas {
  readonly subscription_id: string;
  readonly grants: readonly QuotaGrant[];
  readonly schedule: ReturnType<typeof quotaScheduleAt>;
  readonly cycle: Period;
}

/**
 * The quotas of a feature, by subscription: each opens windows of its own. Empty without quotas. `all` has the sources
 * of earlier plans too: what they opened in the running cycle lasts (money 7.4).
 */
export function runningQuotas(
  { feature_id, quotas }: Pick<EffectiveEntitlement, 'feature_id' | 'quotas'>,
  all: readonly EntitlementSource[],
  subscriptions: ReadonlyMap<string, SubscriptionRow>,
  at: string,
): RunningQuotas[] {
  return [...new Set(quotas.map(({ subscription_id }) => subscription_id))].map((id) => {
    const subscription = subscriptions.get(id)!;
    const own = all.filter(
      ({ subscription_id, entitlement }) =>
        subscription_id === id && entitlement.feature_id === feature_id,
    );
    const schedule = quotaScheduleAt(subscription, at);
    const { start, end } = quotaCycle(schedule, at);
    const from = schedule.start_date <= at ? schedule.start_date : subscription.start_date;
    return {
      subscription_id: id,
      grants: sourcesWithQuota(sourcesDuring(own, { start, end })).map(quotaGrant),
      schedule,
      cycle: { start: laterOf(start, from), end },
    };
  });
}

/** The same question, by time: its rows open the windows. */
export const byTime = (query: UsageQuery): UsageQuery => ({
  ...query,
  group_by: [],
  window: null,
  by_time: true,
});

/** The slots at an instant, and the windows of the cycle until then. */
export function measureQuotas(
  { grants, schedule }: RunningQuotas,
  rows: readonly UsageRow[],
  at: string,
): { readonly states: readonly QuotaState[]; readonly windows: readonly QuotaWindow[] } {
  const moments = rows.map(({ window_start, quantity }) => ({
    at: epochMs(window_start!),
    quantity: decimal(quantity),
  }));
  const usage = quotaUsage(grants, schedule, moments);
  return { states: quotaStates(grants, usage, at), windows: usage.windows };
}
