import type { Transaction } from '../../../../postgres/client.ts';
import {
  continuationOf,
  findCouponAssociationsOf,
  insertCouponAssociations,
  moveCouponAssociations,
  moveCouponWindows,
  type CouponAssociationRow,
} from '../../../catalog/coupons/repository.ts';
import { changed, newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';

/** A line of a subscription and its next version. */
export interface Replacement {
  readonly before: BilledLine;
  readonly after: BilledLine;
}

/**
 * Continues the coupons of replaced lines of a subscription on their next versions (billing 14.1): the association of
 * the old line ends where the new one begins. It is one redemption, and one discount of an invoice (7.3). A coupon that
 * counts once moves as a whole.
 */
export async function moveLineCoupons(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  replacements: readonly Replacement[],
): Promise<void> {
  const { scope } = caller;
  const subscriptions = [...new Set(replacements.map(({ before }) => before.subscription_id))];
  const all = await findCouponAssociationsOf(tx, scope, subscriptions);
  const moved: { id: string; line_item_id: string }[] = [];
  const ended: { id: string; start_date: string; end_date: string }[] = [];
  const begun: CouponAssociationRow[] = [];
  const afterOf = new Map(replacements.map(({ before, after }) => [before.id, after]));
  for (const { coupon, ...association } of all) {
    const after = afterOf.get(association.subscription_line_item_id ?? '');
    if (after === undefined) continue;
    const from = after.start_date;
    if (association.end_date !== null && association.end_date <= from) continue;
    if (coupon?.cadence === 'once' || association.start_date >= from) {
      moved.push({ id: association.id, line_item_id: after.id });
      continue;
    }
    ended.push({ id: association.id, start_date: association.start_date, end_date: from });
    begun.push({
      ...continuationOf(association),
      ...newRecord(deps, caller, 'coupon_assoc'),
      subscription_line_item_id: after.id,
      start_date: from,
    });
  }
  await moveCouponAssociations(tx, scope, moved);
  await moveCouponWindows(tx, scope, ended, changed(deps, caller));
  await insertCouponAssociations(tx, begun);
}
