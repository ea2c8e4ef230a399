import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BillingRun } from '../../billing-run.ts';
import { pendingSchedules } from '../../records/schedule-repository.ts';
import { findSubscriptions } from '../../records/subscription-repository.ts';
import { advanceSubscriptions, type AdvanceReport } from '../advance-subscriptions.ts';
import { executeScheduledChange, isDueAt } from './scheduled-plan-change.ts';

/**
 * One step for each due subscription, with the plan changes that are scheduled for the end of the period first
 * (billing 3.4): the closing invoice then has the advances of the new plan.
 */
export async function advanceWithSchedules(
  deps: BillingDeps,
  run: BillingRun,
  subscriptions: readonly SubscriptionRow[],
): Promise<AdvanceReport> {
  const { scope, at, user_id, hold } = run;
  const closing = subscriptions.filter(({ current_period_end }) => current_period_end <= at);
  const pending = await pendingSchedules(
    deps.pool,
    scope,
    closing.map(({ id }) => id),
  );
  const due = closing.filter(({ id, current_period_end }) =>
    pending.some(
      (schedule) => schedule.subscription_id === id && isDueAt(schedule, current_period_end),
    ),
  );
  if (due.length === 0) return await advanceSubscriptions(deps, run, subscriptions);
  for (const subscription of due)
    await deps.pool.begin(async (tx) => {
      await hold(tx);
      await executeScheduledChange(tx, deps, { scope, user_id }, subscription, at);
    });
  const changed = await findSubscriptions(
    deps.pool,
    scope,
    due.map(({ id }) => id),
  );
  const byId = new Map(changed.map((row) => [row.id, row]));
  return await advanceSubscriptions(
    deps,
    run,
    subscriptions.map((row) => byId.get(row.id) ?? row),
  );
}
