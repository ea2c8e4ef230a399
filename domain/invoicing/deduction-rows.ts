import { decimal, decimalText, sum } from '../money.ts';

/** What one coupon takes off an invoice, or one tax adds; several parts may be of the same one. */
export interface Deduction {
  /** Tells coupons and taxes of the same name apart. */
  readonly id: string;
  /** Empty if it is not known. */
  readonly name: string;
  /** Null for a fixed amount. */
  readonly percentage: string | null;
  /** Whether the prices include it already. */
  readonly is_included: boolean;
  readonly amount: string;
}

/** The deduction of one application of a coupon. The snapshot of the coupon has its name. */
export const couponDeduction = ({
  coupon_id,
  coupon_snapshot,
  discount_type,
  discount_percentage,
  discounted_amount,
}: {
  readonly coupon_id: string;
  readonly coupon_snapshot: Readonly<Record<string, unknown>>;
  readonly discount_type: string;
  readonly discount_percentage: string | null;
  readonly discounted_amount: string;
}): Deduction => ({
  id: coupon_id,
  name: typeof coupon_snapshot['name'] === 'string' ? coupon_snapshot['name'] : '',
  percentage: discount_type === 'percentage' ? discount_percentage : null,
  is_included: false,
  amount: discounted_amount,
});

/** The part of one tax, with the name of its rate. */
export const taxDeduction = (
  {
    tax_rate_id,
    percentage_value,
    tax_behavior,
    tax_amount,
  }: {
    readonly tax_rate_id: string;
    readonly percentage_value: string | null;
    readonly tax_behavior: string;
    readonly tax_amount: string;
  },
  name: string,
): Deduction => ({
  id: tax_rate_id,
  name,
  percentage: percentage_value,
  is_included: tax_behavior === 'inclusive',
  amount: tax_amount,
});

export interface DeductionRow extends Omit<Deduction, 'id' | 'name'> {
  /** Null in the one row of a sum whose parts are not known. */
  readonly name: string | null;
}

/**
 * A row for each coupon or tax, without those of zero. Parts that do not add up to `total` are not shown: then one
 * row without a name has the total, and none if it is zero.
 */
export function deductionRows(total: string, parts: readonly Deduction[]): DeductionRow[] {
  const whole = decimal(total);
  if (!sum(parts.map(({ amount }) => decimal(amount))).eq(whole))
    return whole.isZero()
      ? []
      : [{ name: null, percentage: null, is_included: false, amount: total }];
  const rows = new Map<string, DeductionRow>();
  for (const { id, ...part } of parts) {
    const key = JSON.stringify([id, part.name, part.percentage, part.is_included]);
    const before = decimal(rows.get(key)?.amount ?? '0');
    rows.set(key, { ...part, amount: decimalText(before.plus(decimal(part.amount))) });
  }
  return [...rows.values()].filter(({ amount }) => !decimal(amount).isZero());
}
