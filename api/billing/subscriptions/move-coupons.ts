import { associationWindow } from '../../../domain/invoicing/coupon-association.ts';
import { paidSchedule } from '../../../domain/subscription/schedule.ts';
import { earlierOf } from '../../../domain/time/instant.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { findCouponAssociationsOf, moveCouponWindows } from '../../catalog/coupons/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { findPhasesOf } from '../records/phase-repository.ts';

/**
 * Moves the coupons of a subscription whose first period is moved: a draft that is activated, or a trial whose end is
 * changed. One that begins with the draft begins with the subscription; one that ends with its n-th period ends with
 * that period as it is now (billing 7.2, 10.5). An end that the request named stays.
 */
export async function moveCoupons(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  before: SubscriptionRow,
  after: SubscriptionRow,
): Promise<void> {
  const { scope } = caller;
  const associations = await findCouponAssociationsOf(tx, scope, [before.id]);
  if (associations.length === 0) return;
  const phases = await findPhasesOf(tx, scope, [before.id]);
  const moved: { id: string; start_date: string; end_date: string | null }[] = [];
  for (const { id, coupon, start_date, end_date, subscription_phase_id } of associations) {
    const last = phases.find((phase) => phase.id === subscription_phase_id)?.end_date ?? null;
    const endOn = (subscription: SubscriptionRow, from: string) => {
      const { end_date: end } = associationWindow(coupon!, paidSchedule(subscription), from, null);
      return end === null ? last : earlierOf(end, last);
    };
    const from = start_date === before.start_date ? after.start_date : start_date;
    const follows = end_date === endOn(before, start_date);
    const end = follows ? endOn(after, from) : end_date;
    if (from === start_date && end === end_date) continue;
    moved.push({ id, start_date: from, end_date: end });
  }
  await moveCouponWindows(tx, scope, moved, changed(deps, caller));
}
