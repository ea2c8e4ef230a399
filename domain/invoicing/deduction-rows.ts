import { decimal, decimalText, sum } from '../money.ts';

/** What one coupon takes off an invoice, or one tax adds; several parts may be of the same one. */
export interface Deduction {
  /** Tells coupons and taxes of the same name apart. */
  readonly id: string;
  /** Null if it is not known. */
  readonly name: string | null;
  /** Null for a fixed amount. */
  readonly percentage: string | null;
  /** Whether the prices include it already. */
  readonly is_included: boolean;
  readonly amount: string;
}

export type DeductionRow = Omit<Deduction, 'id'>;

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
