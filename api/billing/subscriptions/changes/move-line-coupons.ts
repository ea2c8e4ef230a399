import type { Transaction } from '../../../../postgres/client.ts';
import {
  findCouponAssociationsOf,
  insertCouponAssociation,
  moveCouponAssociation,
  updateCouponAssociationRow,
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
 * the old line ends where the new one begins. It is one redemption. A coupon that counts once moves as a whole.
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
  const afterOf = new Map(replacements.map(({ before, after }) => [before.id, after]));
  for (const { coupon, ...association } of all) {
    const after = afterOf.get(association.subscription_line_item_id ?? '');
    if (after === undefined) continue;
    const from = after.start_date;
    if (association.end_date !== null && association.end_date <= from) continue;
    if (coupon?.cadence === 'once' || association.start_date >= from) {
      await moveCouponAssociation(tx, scope, association.id, after.id);
      continue;
    }
    const ended = { end_date: from, ...changed(deps, caller) };
    await updateCouponAssociationRow(tx, scope, association.id, ended);
    await insertCouponAssociation(tx, {
      ...association,
      ...newRecord(deps, caller, 'coupon_assoc'),
      subscription_line_item_id: after.id,
      start_date: from,
    });
  }
}
