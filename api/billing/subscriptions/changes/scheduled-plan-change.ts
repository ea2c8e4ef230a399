import { BillingError } from '../../../../domain/errors.ts';
import {
  assertPlanChangeable,
  assertRestartable,
} from '../../../../domain/subscription/plan-change.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import { EntityPolicies } from '../../../../schemas/subscription-plan-change.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import {
  endSchedules,
  pendingSchedules,
  type ScheduleRow,
} from '../../records/schedule-repository.ts';
import { lockSubscription } from '../../records/subscription-repository.ts';
import { changeGrantsOfPlan } from '../attached-grants.ts';
import { applyPlan } from './apply-plan.ts';
import { changeable, planChange, withPlan } from './plan-swap.ts';

/** Whether a schedule changes the plan before a period that ends at an instant is closed. */
export const isDueAt = ({ schedule_type, scheduled_at }: ScheduleRow, end: string): boolean =>
  schedule_type === 'plan_change' && scheduled_at <= end;

/**
 * Executes the plan change that is scheduled for the end of the running period, before that period is closed
 * (billing 3.4): the closing invoice bills the old plan, and the advances of the next period bill the new
 * plan. A change that is no longer possible fails with the reason, and the old plan renews. False if none is
 * scheduled.
 */
export async function executeScheduledChange(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  known: Pick<SubscriptionRow, 'id' | 'version'>,
  at: string,
): Promise<boolean> {
  const { scope, user_id } = caller;
  const subscription = await lockSubscription(tx, scope, known.id);
  const pending = await pendingSchedules(tx, scope, [known.id]);
  const due = pending.find((schedule) => isDueAt(schedule, subscription.current_period_end));
  if (due === undefined || subscription.version !== known.version) return false;
  const fail = async (error_message: string) =>
    await endSchedules(tx, scope, [due.id], {
      schedule_status: 'failed',
      at,
      user_id,
      error_message,
    });
  if (due.scheduled_at < subscription.current_period_end) {
    await fail(`The period that ended at ${due.scheduled_at} was closed before the change.`);
    return true;
  }
  const target = String(due.configuration['target_plan_id']);
  try {
    const others = pending.filter(({ id }) => id !== due.id);
    assertPlanChangeable(await changeable(tx, subscription, others), target);
    const asked = {
      target_plan_id: target,
      entity_policies: EntityPolicies.nullish().parse(due.configuration['entity_policies']),
      restarts: due.configuration['billing_period_behaviour'] === 'anchor_at_effect',
    };
    if (asked.restarts) assertRestartable(subscription, due.scheduled_at);
    const change = await planChange(tx, deps, caller, subscription, asked, due.scheduled_at);
    const next = withPlan(subscription, change);
    const stored = await applyPlan(tx, deps, caller, next, change, at);
    const grants = { at, proration_behavior: 'none' } as const;
    await changeGrantsOfPlan(tx, deps, caller, stored, change, grants);
    await endSchedules(tx, scope, [due.id], {
      schedule_status: 'executed',
      at,
      user_id,
      execution_result: { from_plan_id: change.from.id, to_plan_id: change.to.id },
    });
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    await fail(error.message);
  }
  return true;
}
