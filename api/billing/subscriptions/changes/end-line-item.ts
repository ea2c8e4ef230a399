import type { EndLineItemBody } from '../../../../schemas/subscription-line-items.ts';
import type { LineItemRow } from '../../../../schemas/subscription.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { changeLineItem, getLineItem } from '../../records/line-item-repository.ts';
import { billedLine } from './line-records.ts';
import { inSubscription, effectiveFrom, settle } from './line-item-change.ts';

/** Ends a line item at `effective_from` (billing 5.2). Usage before it is billed. */
export async function endLineItem(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: EndLineItemBody,
): Promise<LineItemRow> {
  const { subscription_id } = await getLineItem(deps.pool, caller.scope, id);
  return await inSubscription(deps, caller, subscription_id, async (tx, subscription, at) => {
    const line = await billedLine(tx, caller.scope, id);
    const end_date = effectiveFrom(subscription, line, body.effective_from, at);
    const ended = await changeLineItem(tx, caller.scope, id, {
      end_date,
      ...changed(deps, caller),
    });
    const swap = { before: line, after: null, effective_at: end_date };
    await settle(tx, deps, caller, subscription, swap, body.proration_behavior, at);
    return ended;
  });
}
