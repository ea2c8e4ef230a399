import { randomizedCoupon, type CouponTerms } from './coupon-terms.ts';
import type { Desk } from './desk.ts';
import { attachedTo, discountOf, type Attached, type Target } from './discounts.ts';
import type { Currency } from './records.ts';
import { segmentAt, termsAt, type Subscription } from './expected-charge.ts';

/** Coupons for a new subscription: as the request names them, and as the ledger keeps them. */
export interface NewCoupons {
  readonly body: object;
  /** Returns the coupons that were redeemed. */
  attach(subscription: Subscription): readonly CouponTerms[];
}

export const NO_COUPONS: NewCoupons = { body: {}, attach: () => [] };

/** Some subscriptions begin with a coupon of their own or of one of their lines. */
export async function couponsOfNew(desk: Desk, planId: string): Promise<NewCoupons> {
  const { business, ledger, random } = desk;
  if (!random.chance(0.35)) return NO_COUPONS;
  const coupon = await randomizedCoupon(desk);
  const plan = business.plans.find(({ id }) => id === planId)!;
  const target = targetOf(desk, coupon, plan.fee_price_id !== null);
  const price = target === 'fee' ? plan.fee_price_id! : plan.usage_price_id;
  const body =
    target === null ? { coupons: [coupon.id] } : { line_item_coupons: { [price]: [coupon.id] } };
  if (isUsedUp(coupon)) return NO_COUPONS;
  return {
    body,
    attach(subscription) {
      coupon.redeemed += 1;
      ledger.attach(subscription, attachedTo(subscription, coupon, target, subscription.start));
      return [coupon];
    },
  };
}

/** A coupon that counts once is the subscription's: on a line it would follow the changes of the line. */
function targetOf({ random }: Desk, coupon: CouponTerms, hasFee: boolean): Target {
  if (coupon.cadence === 'once' || random.chance(0.4)) return null;
  return hasFee && random.chance(0.5) ? 'fee' : 'usage';
}

const isUsedUp = ({ limit, redeemed }: CouponTerms): boolean => limit !== null && redeemed >= limit;

/** A coupon of a one-off invoice discounts all its rows; what it takes off, and its redemption. */
export async function couponOfOneOff(desk: Desk, currency: Currency, amounts: readonly number[]) {
  const net = amounts.reduce((sum, amount) => sum + amount, 0);
  const none = { body: {}, net, off: 0, isAllowed: true, redeem: () => {}, giveBack: () => {} };
  if (!desk.random.chance(0.3)) return none;
  const coupon = await randomizedCoupon(desk);
  const off = discountOf(coupon, net);
  // Without anything due there is no session.
  if (off === net) return none;
  return {
    body: { coupons: [coupon.id] },
    net: net - off,
    off,
    isAllowed: !isUsedUp(coupon) && (coupon.type === 'percentage' || currency === 'usd'),
    redeem() {
      coupon.redeemed += 1;
    },
    giveBack() {
      coupon.redeemed -= 1;
    },
  };
}

/** Adds a coupon to the running subscription or removes one, as a person would. */
export async function changeCoupons(desk: Desk): Promise<void> {
  const { customer, now, random } = desk;
  const running = customer.subscriptions.find(({ end }) => end === null);
  if (running === undefined) return;
  const attached = running.coupons.filter(({ end }) => end === null || end > now);
  const chosen = random.chance(0.35) ? random.pick(attached) : undefined;
  if (chosen === undefined) await addCoupon(desk, running);
  else await removeCoupon(desk, running, chosen);
}

async function addCoupon(desk: Desk, running: Subscription): Promise<void> {
  const { business, ledger, now } = desk;
  const coupon = await randomizedCoupon(desk);
  const target = targetOf(desk, coupon, termsAt(running, now).plan.fee > 0);
  const line = target === null ? null : await lineOf(desk, running, target);
  const added = attachedTo(running, coupon, target, now);
  const isThere = running.coupons.some(
    (each) => isOfSameTarget(each, added) && (each.end === null || each.end > now),
  );
  const isAllowed = !isThere && !isUsedUp(coupon);
  const body = await desk.command(
    `add ${coupon.type} coupon ${coupon.cadence}${target === null ? '' : ` to ${target}`}`,
    `/subscriptions/${running.id}/modify/execute`,
    {
      type: 'coupon',
      coupon_params: {
        action: 'add',
        coupon_code: coupon.code,
        ...(line === null ? {} : { subscription_line_item_id: line }),
      },
    },
  );
  if (waitsForSession(desk)) return;
  if ((body !== null) !== isAllowed)
    throw new Error(`the coupon ${coupon.code} of ${running.id}: ${desk.refusal || 'accepted'}`);
  if (body === null) return;
  coupon.redeemed += 1;
  ledger.attach(running, added);
  business.count('coupons attached');
}

/** The amount of a session is computed from the subscription as it is. */
const waitsForSession = ({ refusal }: Desk): boolean => refusal.startsWith('409 checkout_active');

const isOfSameTarget = (one: Attached, other: Attached): boolean =>
  one.coupon === other.coupon &&
  one.target === other.target &&
  (one.target !== 'fee' || one.segment === other.segment);

async function removeCoupon(desk: Desk, running: Subscription, chosen: Attached): Promise<void> {
  const { business, now } = desk;
  const { body: shown } = await business.world.api.get(`/v1/subscriptions/${running.id}`);
  const lines = new Map(shown.line_items.map((line: any) => [line.id, line]));
  const association = shown.coupon_associations.find((each: any) => {
    const line: any = lines.get(each.subscription_line_item_id);
    const target = line === undefined ? null : line.price_type === 'FIXED' ? 'fee' : 'usage';
    return (
      each.coupon_id === chosen.coupon.id &&
      (each.end_date === null || each.end_date > now) &&
      (each.subscription_line_item_id === null ? null : target) === chosen.target &&
      (target !== 'fee' || segmentAt(running, line.start_date) === chosen.segment)
    );
  });
  if (association === undefined)
    throw new Error(`the coupon ${chosen.coupon.code} of ${running.id} is not shown as attached`);
  const body = await desk.command('remove coupon', `/subscriptions/${running.id}/modify/execute`, {
    type: 'coupon',
    coupon_params: { action: 'remove', coupon_association_id: association.id },
  });
  if (waitsForSession(desk)) return;
  if (body === null) throw new Error(`the coupon ${association.id} stays: ${desk.refusal}`);
  chosen.end = now;
}

async function lineOf(desk: Desk, running: Subscription, target: Target): Promise<string> {
  const { body: shown } = await desk.business.world.api.get(`/v1/subscriptions/${running.id}`);
  const line = shown.line_items.find(
    (each: any) =>
      each.price_type === (target === 'fee' ? 'FIXED' : 'USAGE') &&
      each.display_name !== 'Setup' &&
      each.start_date <= desk.now &&
      (each.end_date === null || each.end_date > desk.now),
  );
  return line.id;
}
