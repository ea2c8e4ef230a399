import type { ApiRecord } from '../../client/api.ts';
import { formatDecimal, formatMoney } from '../../ui/text.ts';

/** What a coupon takes off and for how long, in words: `20% off for 3 periods`. */
export function couponTerms(coupon: ApiRecord<'Coupon'>): string {
  const off =
    coupon.type === 'percentage'
      ? `${formatDecimal(coupon.percentage_off)}%`
      : formatMoney(coupon.amount_off, coupon.currency);
  return `${off} off ${howLong(coupon)}`;
}

function howLong({ cadence, duration_in_periods: periods }: ApiRecord<'Coupon'>): string {
  if (cadence === 'once') return 'once';
  if (cadence === 'forever') return 'each period';
  return periods === 1 ? 'for 1 period' : `for ${periods} periods`;
}

/** What of its subscription a coupon discounts. */
export const couponPart = (association: ApiRecord<'CouponAssociation'>): string =>
  association.subscription_line_item_id !== null
    ? 'One line item'
    : association.subscription_phase_id !== null
      ? 'One phase'
      : 'The subscription';
