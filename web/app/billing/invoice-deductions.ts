import { decimal } from '../../../domain/money.ts';
import type { Invoice as WholeInvoice } from '../../../schemas/invoice.ts';
import { formatDecimal } from '../../ui/text.ts';
import { sumOf } from './amounts.ts';

type Tax = Omit<WholeInvoice['taxes'][number], 'tax_rate'>;
type Invoice = Pick<WholeInvoice, 'coupon_applications' | 'total_discount' | 'total_tax'> & {
  readonly taxes: readonly (Tax & { readonly tax_rate: { readonly name: string } | null })[];
};
type Row = readonly [name: string, amount: string];

/** What each coupon takes off, by its name and percentage; one row if the coupons are not known. */
export function discountsOf({ coupon_applications, total_discount }: Invoice): readonly Row[] {
  const rows = (coupon_applications ?? []).map(
    ({ coupon_id, coupon_snapshot, discount_type, discount_percentage, discounted_amount }) => ({
      id: coupon_id,
      name: withPercent(
        textOf(coupon_snapshot, 'name') || 'Discount',
        discount_type === 'percentage' ? discount_percentage : null,
      ),
      amount: discounted_amount,
    }),
  );
  return completeOr('Discounts', total_discount, rows);
}

/** Each tax by its name and percentage; one row if the taxes are not known. */
export function taxesOf({ taxes, total_tax }: Invoice): readonly Row[] {
  const rows = (taxes ?? []).map(
    ({ tax_rate_id, tax_rate, percentage_value, tax_behavior, tax_amount }) => ({
      id: tax_rate_id,
      name: `${withPercent(tax_rate?.name || 'Tax', percentage_value)}${tax_behavior === 'inclusive' ? ' (included)' : ''}`,
      amount: tax_amount,
    }),
  );
  return completeOr('Tax', total_tax, rows);
}

const withPercent = (name: string, percent: string | null): string =>
  percent === null ? name : `${name}, ${formatDecimal(percent)}%`;

/** A discount of several rows of the invoice is one row here. Parts that do not add up to the sum are not shown. */
function completeOr(
  name: string,
  total: string,
  parts: readonly { readonly id: string; readonly name: string; readonly amount: string }[],
): readonly Row[] {
  const whole = decimal(total);
  if (!decimal(sumOf(parts.map(({ amount }) => amount))).eq(whole))
    return whole.isZero() ? [] : [[name, total]];
  return [...new Set(parts.map((part) => `${part.id} ${part.name}`))]
    .map((key): Row => {
      const same = parts.filter((part) => `${part.id} ${part.name}` === key);
      return [same[0]!.name, sumOf(same.map(({ amount }) => amount))];
    })
    .filter(([, amount]) => !decimal(amount).isZero());
}

const textOf = (record: Readonly<Record<string, unknown>>, field: string): string => {
  const text = record[field];
  return typeof text === 'string' ? text : '';
};
