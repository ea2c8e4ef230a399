import { BillingError } from '../../../../domain/errors.ts';
import { periodsWithin } from '../../../../domain/subscription/schedule.ts';
import { isoTime } from '../../../../platform/clock.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { ownRun } from '../../billing-run.ts';
import { getSubscription } from '../../records/subscription-repository.ts';
import { advanceWithSchedules } from './advance-with-schedules.ts';
import { readingAhead } from './read-ahead.ts';

/** Periods that one request closes, 20 to 40 ms each on 2 cores: twenty years of months. */
const STEPS_MAX = 240;

/**
 * Bills everything that is due by now and returns the subscription. A change applies to the running period.
 * If the billing job is behind, elapsed periods are closed first, so that each is billed by its old terms
 * (billing 13), their usage read ahead. Throws the error of a period that cannot be billed, and 503
 * `billing_behind` after 240 periods, so that a request ends.
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
  for (let steps = 0; isDue(subscription, at); steps += 1) {
    if (steps === STEPS_MAX) throw billingBehind(subscription);
    const { failed } = await advanceWithSchedules({ ...deps, usageReader }, run, [subscription]);
    if (failed.length > 0) throw failed[0]!.error;
    subscription = await getSubscription(deps.pool, scope, id);
  }
  return subscription;
}

const isDue = ({ due_at }: SubscriptionRow, at: string): boolean => due_at !== null && due_at <= at;

/** 503: the periods that this request has closed stay closed. */
const billingBehind = ({ current_period_start }: SubscriptionRow): BillingError =>
  new BillingError(
    'unavailable',
    'billing_behind',
    `Elapsed periods are billed up to ${current_period_start}, ${STEPS_MAX} of them by this request. Repeat it to go on.`,
  );
