import { decimal, type Decimal } from '../money.ts';

/** The amount of a row and its discounts, as decimal text. */
export interface DiscountedAmount {
  readonly amount: string;
  readonly line_item_discount: string;
  readonly invoice_level_discount: string;
}

/** The amount of a row after its discounts. */
export const netAmount = (row: DiscountedAmount): Decimal =>
  decimal(row.amount)
    .minus(decimal(row.line_item_discount))
    .minus(decimal(row.invoice_level_discount));
