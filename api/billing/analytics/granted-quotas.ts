import type { EffectiveEntitlement } from '../../../domain/entitlement/effective-limits.ts';
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
import { groupBy } from '../../conventions/group-by.ts';

/** The quotas of one subscription for a feature, and the cycle whose usage opens their windows. */
export interface RunningQuotas {
  readonly subscription_id: string;
  readonly grants: readonly QuotaGrant[];
  readonly schedule: ReturnType<typeof quotaScheduleAt>;
  readonly cycle: Period;
}

/** The quotas of a feature, by subscription: each opens windows of its own. Empty without quotas. */
export function runningQuotas(
  { quotas }: Pick<EffectiveEntitlement, 'quotas'>,
  subscriptions: ReadonlyMap<string, SubscriptionRow>,
  at: string,
): RunningQuotas[] {
  return [...groupBy(quotas, ({ subscription_id }) => subscription_id)].map(([id, sources]) => {
    const subscription = subscriptions.get(id)!;
    const schedule = quotaScheduleAt(subscription, at);
    const { start, end } = quotaCycle(schedule, at);
    const from = schedule.start_date <= at ? schedule.start_date : subscription.start_date;
    return {
      subscription_id: id,
      grants: sources.map(quotaGrant),
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
