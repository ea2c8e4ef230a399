import { periodsWithin } from '../../../../domain/subscription/schedule.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { ownRun } from '../../billing-run.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import { advanceWithSchedules } from './advance-with-schedules.ts';
import { readingAhead } from './read-ahead.ts';

/**
 * Bills everything that is due by now and returns the subscription. A change applies to the running period.
 * If the billing job is behind, elapsed periods are closed first, so that each is billed by its old terms
 * (billing 13), their usage read ahead. Throws the error of a period that cannot be billed.
 */
export async function caughtUp(
  deps: BillingDeps,
  { scope, user_id }: Pick<Caller, 'scope' | 'user_id'>,
  id: string,
): Promise<SubscriptionRow> {
  const at = isoTime(deps.clock.now());
  const run = ownRun({ scope, user_id }, at);
  let subscription = await getSubscription(deps.pool, scope, id);
  const { parent_subscription_id, merges_from } = subscription;
  if (parent_subscription_id !== null && merges_from !== null) {
    // Its parent closes its periods.
    await caughtUp(deps, { scope, user_id }, parent_subscription_id);
    subscription = await getSubscription(deps.pool, scope, id);
  }
  const behind = { start: subscription.current_period_start, end: at };
  const elapsed = behind.start < at ? periodsWithin(subscription, behind) : [];
  const usageReader = readingAhead(
    deps.usageReader,
    elapsed.map(({ period }) => period).filter(({ end }) => end <= at),
  );
  while (subscription.due_at !== null && subscription.due_at <= at) {
    const { failed } = await advanceWithSchedules({ ...deps, usageReader }, run, [subscription]);
    if (failed.length > 0) throw failed[0]!.error;
    subscription = await getSubscription(deps.pool, scope, id);
  }
  return subscription;
}
