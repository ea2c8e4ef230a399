import type { COUPON_CADENCES } from '../../schemas/words.ts';
import { BillingError, invalidField } from '../errors.ts';
import { decimal } from '../money.ts';
import { epochMs } from '../time/instant.ts';

export type CouponCadence = (typeof COUPON_CADENCES)[number];

/** Largest `max_redemptions` (billing 7.1). */
export const MAX_REDEMPTIONS_CAP = 1_000_000;

/** A stored coupon; amounts as decimal text. */
export interface Coupon {
  readonly id: string;
  readonly status: 'published' | 'archived' | 'deleted';
  readonly type: 'fixed' | 'percentage';
  readonly amount_off: string | null;
  readonly percentage_off: string | null;
  /** Fixed coupons only. */
  readonly currency: string | null;
  readonly cadence: CouponCadence;
  readonly duration_in_periods: number | null;
  readonly max_redemptions: number | null;
  readonly total_redemptions: number;
  readonly redeem_after: string | null;
  readonly redeem_before: string | null;
}

/** Refuses inconsistent terms; the error names the field (billing 7.1). */
export function validateCoupon(coupon: Omit<Coupon, 'id' | 'status' | 'total_redemptions'>): void {
  if (coupon.type === 'percentage') {
    const percentage = required(coupon.percentage_off, 'percentage_off');
    if (percentage.lte(0) || percentage.gt(100)) {
      throw invalidField('percentage_off', 'must be above 0 and at most 100');
    }
    if (coupon.amount_off !== null) throw invalidField('amount_off', 'is for fixed coupons');
  } else {
    if (required(coupon.amount_off, 'amount_off').lte(0)) {
      throw invalidField('amount_off', 'must be above 0');
    }
    if (coupon.percentage_off !== null) {
      throw invalidField('percentage_off', 'is for percentage coupons');
    }
    if (coupon.currency === null) {
      throw invalidField('currency', 'is required on a fixed coupon');
    }
  }
  validateDuration(coupon);
  validateRedemption(coupon);
}

function validateDuration(coupon: Pick<Coupon, 'cadence' | 'duration_in_periods'>): void {
  const periods = coupon.duration_in_periods;
  if (coupon.cadence === 'repeated') {
    if (periods === null || !Number.isInteger(periods) || periods < 1) {
      throw invalidField('duration_in_periods', 'must be at least 1 on a repeated coupon');
    }
  } else if (periods !== null) {
    throw invalidField('duration_in_periods', 'is for repeated coupons');
  }
}

function validateRedemption(
  coupon: Pick<Coupon, 'max_redemptions' | 'redeem_after' | 'redeem_before'>,
): void {
  const most = coupon.max_redemptions;
  if (most !== null && !(Number.isInteger(most) && most >= 1 && most <= MAX_REDEMPTIONS_CAP)) {
    throw invalidField('max_redemptions', `must be from 1 to ${MAX_REDEMPTIONS_CAP}`);
  }
  const { redeem_after: after, redeem_before: before } = coupon;
  if (after !== null && before !== null && epochMs(after) >= epochMs(before)) {
    throw invalidField('redeem_before', 'must be after redeem_after');
  }
}

/**
 * Checks whether a coupon can be redeemed, when it is attached to a subscription or named by a one-off
 * invoice (billing 7.1). `at` is now, `currency` that of the target. Returns the number of
 * redemptions after this one; the caller writes it with `where total_redemptions < max_redemptions`. The
 * checks are not repeated later: an attached coupon stays valid. `path` is the request field that names the
 * coupon.
 */
export function redeem(coupon: Coupon, at: string, currency: string, path = 'coupons'): number {
  const refused = (code: string, why: string) => refusal(coupon, path, code, why);
  const now = epochMs(at);
  if (coupon.status !== 'published') {
    throw refused('coupon_not_published', 'is not published');
  }
  if (coupon.redeem_after !== null && now < epochMs(coupon.redeem_after)) {
    throw refused('coupon_not_active', `can be redeemed from ${coupon.redeem_after}`);
  }
  if (coupon.redeem_before !== null && now >= epochMs(coupon.redeem_before)) {
    throw refused('coupon_expired', `could be redeemed before ${coupon.redeem_before}`);
  }
  if (coupon.max_redemptions !== null && coupon.total_redemptions >= coupon.max_redemptions) {
    throw refused('coupon_redemption_limit_reached', 'has no redemption left');
  }
  if (coupon.type === 'fixed' && coupon.currency !== currency) {
    throw refused('coupon_currency_mismatch', `is in ${coupon.currency}, not ${currency}`);
  }
  return coupon.total_redemptions + 1;
}

/** Number of redemptions after one is returned because a checkout expired (billing 7.1). */
export const unredeem = (coupon: Pick<Coupon, 'total_redemptions'>): number =>
  Math.max(coupon.total_redemptions - 1, 0);

function required(text: string | null, path: string) {
  if (text === null) throw invalidField(path, 'is required');
  return decimal(text);
}

function refusal({ id }: Pick<Coupon, 'id'>, path: string, code: string, why: string) {
  const message = `Coupon ${id} ${why}.`;
  return new BillingError('invalid', 'validation_error', message, [{ path, code, message }]);
}
