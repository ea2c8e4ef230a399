import { unredeem } from '../../../domain/invoicing/coupon-gate.ts';
import { moveSubscription } from '../../../domain/states/subscription.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import {
  findCouponAssociationsOf,
  lockCoupons,
  updateCouponRow,
} from '../../catalog/coupons/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { archiveWithParts } from './discarded-draft-repository.ts';

/**
 * Archives a draft whose checkout session ended without a payment, with everything that was stored for it
 * (interface, states; money 11.17). Its coupons may be redeemed again.
 */
export async function discardDraft(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  draft: SubscriptionRow,
): Promise<void> {
  const { scope } = caller;
  moveSubscription(draft.subscription_status, 'discard');
  const associations = await findCouponAssociationsOf(tx, scope, [draft.id]);
  await giveBackRedemptions(
    tx,
    deps,
    caller,
    associations.map(({ coupon_id }) => coupon_id),
  );
  await archiveWithParts(tx, scope, draft.id, changed(deps, caller));
}

/** Counts one redemption less for each id (billing 7.1). */
export async function giveBackRedemptions(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  couponIds: readonly string[],
): Promise<void> {
  const ids = [...new Set(couponIds)];
  for (const coupon of await lockCoupons(tx, caller.scope, ids)) {
    const times = couponIds.filter((id) => id === coupon.id).length;
    let { total_redemptions } = coupon;
    for (let done = 0; done < times; done += 1) total_redemptions = unredeem({ total_redemptions });
    await updateCouponRow(tx, caller.scope, coupon.id, {
      total_redemptions,
      ...changed(deps, caller),
    });
  }
}
