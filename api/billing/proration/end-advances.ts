import type { ProrationBehavior } from '../../../domain/pricing/proration.ts';
import { earlierOf } from '../../../domain/time/instant.ts';
import type { Db } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { readBillingSources } from '../computing/billing-sources.ts';
import { settleChange, type SettledChange } from './settle-change.ts';

/**
 * The advances of the running period that a cancellation at `end` credits (billing 13, 5.2), from the start of a pause
 * on if it lasts (12.8). `subscription` is the state before the cancellation. Nothing is credited in a trial or with
 * behavior `none`.
 */
export async function endAdvances(
  deps: Pick<BillingDeps, 'ids'>,
  db: Db,
  caller: Caller,
  subscription: SubscriptionRow,
  end: string,
  proration_behavior: ProrationBehavior,
  at: string,
): Promise<SettledChange> {
  const { subscription_status, current_period_start, current_period_end, pause_at } = subscription;
  const isPaused = subscription_status === 'paused';
  const from = isPaused ? earlierOf(end, pause_at) : end;
  const isReturned =
    proration_behavior === 'create_prorations' &&
    subscription_status !== 'trialing' &&
    current_period_start <= from &&
    from < current_period_end;
  const unserved = isReturned ? { from } : null;
  return await creditedAdvances(deps, db, caller, subscription, unserved, proration_behavior, at);
}

/**
 * The advances of the running period for the time of a pause that ends at `end`: on a calendar with prorations they
 * are credited, because the period does not become longer (billing 12.4). `subscription` is the state in the pause.
 */
export async function pausedAdvances(
  deps: Pick<BillingDeps, 'ids'>,
  db: Db,
  caller: Caller,
  subscription: SubscriptionRow,
  end: string,
  at: string,
): Promise<SettledChange> {
  const { billing_cycle, proration_behavior, current_period_end, pause_at } = subscription;
  const isReturned =
    billing_cycle === 'calendar' &&
    proration_behavior === 'create_prorations' &&
    pause_at !== null &&
    pause_at < current_period_end;
  const unserved = isReturned
    ? { from: pause_at, until: earlierOf(end, current_period_end) }
    : null;
  return await creditedAdvances(deps, db, caller, subscription, unserved, proration_behavior, at);
}

async function creditedAdvances(
  deps: Pick<BillingDeps, 'ids'>,
  db: Db,
  caller: Caller,
  subscription: SubscriptionRow,
  /** Null: nothing is credited. */
  unserved: { readonly from: string; readonly until?: string } | null,
  proration_behavior: ProrationBehavior,
  at: string,
): Promise<SettledChange> {
  if (unserved === null) {
    const nothing = { subscription, swaps: [], proration_behavior };
    return await settleChange(deps, db, caller, nothing, at);
  }
  const { from: effective_at, until } = unserved;
  const { current_period_start } = subscription;
  const { lines } = await readBillingSources(
    db,
    caller.scope,
    [subscription],
    current_period_start,
  );
  const swaps = (lines.get(subscription.id) ?? [])
    .filter(
      ({ price_type, invoice_cadence, end_date }) =>
        price_type === 'FIXED' &&
        invoice_cadence === 'ADVANCE' &&
        (end_date === null || end_date > effective_at),
    )
    .map((before) => ({
      before,
      after: null,
      effective_at,
      ...(until === undefined ? {} : { until }),
    }));
  return await settleChange(deps, db, caller, { subscription, swaps, proration_behavior }, at);
}
