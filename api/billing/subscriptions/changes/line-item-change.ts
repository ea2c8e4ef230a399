import { invalidField, invalidOperation } from '../../../../domain/errors.ts';
import type { ProrationBehavior } from '../../../../domain/pricing/proration.ts';
import { laterOf } from '../../../../domain/time/instant.ts';
import { isoTime } from '../../../../platform/clock.ts';
import { failpoint } from '../../../../platform/failpoint.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type { LineItemRow, SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { PriceRow } from '../../../catalog/prices/repository.ts';
import { runCommand } from '../../../conventions/command.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import {
  changeSubscription,
  getSubscription,
  lockSubscription,
} from '../../records/subscription-repository.ts';
import { caughtUp } from './catch-up.ts';
import { assertNoCheckout } from '../no-checkout.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import { endsInPause, refuseChargeInPause } from './change-in-pause.ts';
import { isBilledNow } from './line-records.ts';
import { settleChange } from '../../proration/settle-change.ts';
import { writeChange } from '../../proration/write-change.ts';

/** Changes a locked subscription at a time, in the transaction. */
type ChangeOfLines<Changed> = (
  tx: Transaction,
  subscription: SubscriptionRow,
  at: string,
) => Promise<Changed>;

/** Runs a change of a subscription's lines under its lock, after everything due is billed. */
export async function inSubscription<Changed extends object>(
  deps: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  change: ChangeOfLines<Changed>,
): Promise<Changed> {
  return await inPreparedSubscription(deps, caller, subscriptionId, async () => change);
}

/** The same, for a change that is prepared outside of the transaction, where usage may be queried. */
export async function inPreparedSubscription<Changed extends object>(
  deps: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  prepare: (known: SubscriptionRow) => Promise<ChangeOfLines<Changed>>,
): Promise<Changed> {
  return await runCommand<Changed>(deps, 'subscription', async () => {
    refuseUnchangeable(await getSubscription(deps.pool, caller.scope, subscriptionId));
    const known = await caughtUp(deps, caller, subscriptionId);
    const change = await prepare(known);
    return async (tx) => {
      const subscription = await lockSubscription(tx, caller.scope, subscriptionId);
      if (subscription.version !== known.version) return null;
      refuseUnchangeable(subscription);
      await assertNoCheckout(tx, subscription);
      const line = await change(tx, subscription, isoTime(deps.clock.now()));
      const next = await changeSubscription(
        tx,
        caller.scope,
        subscriptionId,
        changed(deps, caller),
      );
      await writeOutboxEvents(tx, [
        {
          scope: caller.scope,
          event_type: 'subscription.updated',
          payload: { subscription: subscriptionSnapshot(next, null) },
        },
      ]);
      failpoint('api.change_line_items.before_commit');
      return line;
    };
  });
}

/** Refuses changes of lines of a cancelled or inherited subscription. */
export function refuseUnchangeable(subscription: SubscriptionRow): void {
  if (subscription.subscription_status === 'cancelled')
    throw invalidOperation('A cancelled subscription cannot be changed.', 'subscription_status');
  if (subscription.subscription_type === 'inherited')
    throw invalidOperation(
      'An inherited subscription cannot be changed; change its parent.',
      'subscription_type',
    );
}

/** The earliest instant that is not billed: the start of the running period, or that of a pause after the period. */
export const openFrom = ({
  subscription_status,
  pause_at,
  current_period_start,
  current_period_end,
}: SubscriptionRow): string =>
  subscription_status === 'paused' && pause_at !== null && pause_at >= current_period_end
    ? pause_at
    : current_period_start;

/** The instant of the change. Refuses an instant outside of the line or in a closed period. */
export function effectiveFrom(
  subscription: SubscriptionRow,
  line: LineItemRow & { readonly price: PriceRow },
  requested: string | null | undefined,
  at: string,
): string {
  const ends = [null, subscription.end_date, line.price.end_date];
  if (!ends.includes(line.end_date))
    throw invalidOperation(`Line item ${line.id} already ends at ${line.end_date}.`, 'end_date');
  const earliest = laterOf(line.start_date, openFrom(subscription));
  const from = requested ?? laterOf(at, earliest);
  if (from < earliest)
    throw invalidField('effective_from', `must not be before ${earliest}: earlier time is billed`);
  if (line.end_date !== null && from >= line.end_date)
    throw invalidField(
      'effective_from',
      `must be before the end of the line item, ${line.end_date}`,
    );
  return from;
}

/** Charges and credits the change now if behavior and cadence require it (billing 5.2). */
export async function settle(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  swap: LineSwap | readonly LineSwap[],
  requested: ProrationBehavior | null | undefined,
  at: string,
): Promise<void> {
  const all = 'effective_at' in swap ? [swap] : swap;
  const billed = all.filter(({ effective_at }) => isBilledNow(subscription, effective_at));
  if (billed.length === 0) return;
  const proration_behavior = requested ?? subscription.proration_behavior;
  const change = { subscription, swaps: billed, proration_behavior };
  const operation = { ...change, swaps: endsInPause(change, at) };
  const settled = await settleChange(deps, tx, caller, operation, at);
  refuseChargeInPause(subscription, settled);
  const of = { kind: 'line_item', subscription, at };
  const { events } = await writeChange(tx, deps, caller, settled, of);
  await writeOutboxEvents(tx, [...events]);
}
