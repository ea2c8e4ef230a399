import { invalidOperation } from '../../../domain/errors.ts';
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
import { inheritedOf } from '../records/child-repository.ts';
import { lockSubscription } from '../records/subscription-repository.ts';
import { archiveWithParts } from './discarded-draft-repository.ts';
import { assertNoCheckout } from './no-checkout.ts';

/**
 * Archives a draft that does not become a contract, with everything that was stored for it (interface, states; money
 * 11.17). Its coupons may be redeemed again.
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

/**
 * Discards a draft that a caller does not want, with the inherited drafts below it (billing 10.5). 400 for any other
 * subscription and for an inherited one, 409 while a checkout session of it is active.
 */
export async function discardUnwanted(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
): Promise<void> {
  const draft = await lockSubscription(tx, caller.scope, id);
  if (draft.subscription_type === 'inherited')
    throw invalidOperation(
      'An inherited subscription cannot be discarded; discard its parent.',
      'subscription_type',
    );
  await assertNoCheckout(tx, draft);
  for (const child of await inheritedOf(tx, caller.scope, id))
    await discardDraft(tx, deps, caller, await lockSubscription(tx, caller.scope, child.id));
  await discardDraft(tx, deps, caller, draft);
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
