import type { ProrationBehavior } from '../../../domain/pricing/proration.ts';
import type { Db } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { readBillingSources } from '../computing/billing-sources.ts';
import { settleChange, type SettledChange } from './settle-change.ts';

/**
 * The advances of the running period that a cancellation at `end` credits (billing 13, 5.2). `subscription`
 * is the state before the cancellation. Nothing is credited in a trial or with behavior `none`.
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
  const from = subscription.current_period_start;
  const isReturned =
    proration_behavior === 'create_prorations' &&
    subscription.subscription_status !== 'trialing' &&
    from < end &&
    end < subscription.current_period_end;
  const { lines } = isReturned
    ? await readBillingSources(db, caller.scope, [subscription], from)
    : { lines: new Map<string, []>() };
  const swaps = (lines.get(subscription.id) ?? [])
    .filter(
      ({ price_type, invoice_cadence, end_date }) =>
        price_type === 'FIXED' &&
        invoice_cadence === 'ADVANCE' &&
        (end_date === null || end_date > end),
    )
    .map((before) => ({ before, after: null, effective_at: end }));
  return await settleChange(deps, db, caller, { subscription, swaps, proration_behavior }, at);
}
