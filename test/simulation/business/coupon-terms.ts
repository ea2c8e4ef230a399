import { money } from './cents.ts';
import type { Desk } from './desk.ts';

/** A coupon of the company. Its terms are written twice: as the API takes them, and as a person would compute them. */
export interface CouponTerms {
  readonly id: string;
  readonly code: string;
  readonly type: 'percentage' | 'fixed';
  /** Hundredths of a percent, or cents. */
  readonly off: number;
  readonly cadence: 'once' | 'repeated' | 'forever';
  /** Billing periods of a repeated coupon. */
  readonly periods: number;
  readonly limit: number | null;
  redeemed: number;
}

const KINDS = [
  { type: 'percentage', off: 1_000 },
  { type: 'percentage', off: 3_333 },
  { type: 'percentage', off: 10_000 },
  { type: 'fixed', off: 700 },
  { type: 'fixed', off: 4_321 },
  { type: 'fixed', off: 50_000 },
] as const;
const CADENCES = ['once', 'repeated', 'forever', 'forever'] as const;

/**
 * A coupon of the customer's own, so that its limit is met in the same order whatever others do: a new one, or one that
 * the customer has had.
 */
export async function randomizedCoupon(desk: Desk): Promise<CouponTerms> {
  const { business, ledger, name, random } = desk;
  const known = desk.coupons;
  if (known.length > 0 && random.chance(0.4)) return random.pick(known)!;
  const kind = random.pick(KINDS);
  const cadence = random.pick(CADENCES);
  const periods = 1 + random.below(3);
  const limit = random.chance(0.5) ? 1 + random.below(2) : null;
  const code = `coupon-${name}-${known.length}`;
  const isFixed = kind.type === 'fixed';
  const body = await business.world.api.postOk('/v1/coupons', {
    name: code,
    coupon_code: code,
    type: kind.type,
    ...(isFixed
      ? { amount_off: money(kind.off), currency: 'usd' }
      : { percentage_off: money(kind.off) }),
    cadence,
    ...(cadence === 'repeated' ? { duration_in_periods: periods } : {}),
    ...(limit === null ? {} : { max_redemptions: limit }),
  });
  const coupon: CouponTerms = { id: body.id, code, ...kind, cadence, periods, limit, redeemed: 0 };
  known.push(coupon);
  ledger.coupons.push(coupon);
  return coupon;
}
