import {
  couponDeduction,
  deductionRows,
  taxDeduction,
  type DeductionRow,
} from '../../../domain/invoicing/deduction-rows.ts';
import type { Invoice as WholeInvoice } from '../../../schemas/invoice.ts';
import { formatDecimal } from '../../ui/text.ts';

type Tax = Omit<WholeInvoice['taxes'][number], 'tax_rate'>;
type Invoice = Pick<WholeInvoice, 'coupon_applications' | 'total_discount' | 'total_tax'> & {
  readonly taxes: readonly (Tax & { readonly tax_rate: { readonly name: string } | null })[];
};
type Row = readonly [name: string, amount: string];

/** What each coupon takes off, by its name and percentage; one row if the coupons are not known. */
export function discountsOf({ coupon_applications, total_discount }: Invoice): readonly Row[] {
  const parts = (coupon_applications ?? []).map(couponDeduction);
  return discountRows(deductionRows(total_discount, parts));
}

/** Each tax by its name and percentage; one row if the taxes are not known. */
export function taxesOf({ taxes, total_tax }: Invoice): readonly Row[] {
  const parts = (taxes ?? []).map((tax) => taxDeduction(tax, tax.tax_rate?.name ?? ''));
  return taxRows(deductionRows(total_tax, parts));
}

/** `Spring launch, 20%`; `Discounts` for a sum whose coupons are not known. */
export const discountRows = (rows: readonly DeductionRow[]): readonly Row[] =>
  rows.map((row) => [row.name === null ? 'Discounts' : worded(row, 'Discount'), row.amount]);

/** `VAT Belgium, 21%`, `City, 1% (included)`. */
export const taxRows = (rows: readonly DeductionRow[]): readonly Row[] =>
  rows.map((row) => [worded(row, 'Tax'), row.amount]);

function worded({ name, percentage, is_included }: DeductionRow, unnamed: string): string {
  const percent = percentage === null ? '' : `, ${formatDecimal(percentage)}%`;
  return `${name || unnamed}${percent}${is_included ? ' (included)' : ''}`;
}
