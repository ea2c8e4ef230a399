import { invalidField } from '../../../../domain/errors.ts';
import type { UpdateSubscriptionBody } from '../../../../schemas/subscription-requests.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { pendingSchedules } from '../../records/schedule-repository.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import { cancelSubscription } from './cancel-subscription.ts';
import { executeModification } from './modify.ts';
import { cancelSchedule } from './schedules.ts';

/**
 * Sets or removes the end of a subscription. The fields are another way to cancel it (billing 13). Values
 * that the subscription already has change nothing.
 */
export async function updateSubscription(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: UpdateSubscriptionBody,
): Promise<void> {
  const subscription = await getSubscription(deps.pool, caller.scope, id);
  const { status, cancel_at, cancel_at_period_end, parent_subscription_id } = body;
  if (parent_subscription_id !== undefined)
    await changeParent(deps, caller, subscription, parent_subscription_id || null);
  if (cancel_at && cancel_at_period_end === true)
    throw invalidField('cancel_at', 'is not sent together with cancel_at_period_end');
  if (status && status !== subscription.subscription_status) {
    if (status !== 'cancelled')
      throw invalidField(
        'status',
        `a subscription that is ${subscription.subscription_status} does not become ${status} by an update`,
      );
    await cancelSubscription(deps, caller, id, { cancellation_type: 'immediate' });
    return;
  }
  const wanted = wantedEnd(subscription, body);
  if (wanted === 'unchanged') return;
  if (subscription.cancel_at !== null) await withdraw(deps, caller, id);
  if (wanted === 'none') return;
  if (wanted === 'period_end')
    await cancelSubscription(deps, caller, id, { cancellation_type: 'end_of_period' });
  else
    await cancelSubscription(deps, caller, id, {
      cancellation_type: 'scheduled_date',
      cancel_at: wanted.at,
    });
}

/** The parent on whose invoice the subscription is billed; null leaves it. */
async function changeParent(
  deps: BillingDeps,
  caller: Caller,
  { id, parent_subscription_id: known }: SubscriptionRow,
  wanted: string | null,
): Promise<void> {
  if (wanted === known) return;
  const change = async (action: 'add' | 'remove', parent: string) => {
    await executeModification(deps, caller, id, {
      type: 'grouped_invoicing',
      grouped_invoicing_params: { action, parent_subscription_id: parent },
    });
  };
  if (known !== null) await change('remove', known);
  if (wanted !== null) await change('add', wanted);
}

function wantedEnd(
  subscription: SubscriptionRow,
  { cancel_at, cancel_at_period_end }: UpdateSubscriptionBody,
): 'unchanged' | 'none' | 'period_end' | { readonly at: string } {
  if (cancel_at_period_end === true)
    return subscription.cancel_at_period_end ? 'unchanged' : 'period_end';
  if (cancel_at) return cancel_at === subscription.cancel_at ? 'unchanged' : { at: cancel_at };
  const isWithdrawn =
    cancel_at === null || (cancel_at_period_end === false && subscription.cancel_at_period_end);
  const isPending =
    subscription.cancel_at !== null && subscription.subscription_status !== 'cancelled';
  return isWithdrawn && isPending ? 'none' : 'unchanged';
}

async function withdraw(deps: BillingDeps, caller: Caller, id: string): Promise<void> {
  await deps.pool.begin(async (tx) => {
    const pending = await pendingSchedules(tx, caller.scope, [id]);
    const found = pending.find(({ schedule_type }) => schedule_type === 'cancellation');
    if (found !== undefined) await cancelSchedule(tx, deps, caller, found.id);
  });
}
