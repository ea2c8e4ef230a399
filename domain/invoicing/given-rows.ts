import { minorDigits, isRounded, type Currency } from '../currency.ts';
import { invalidField } from '../errors.ts';
import { decimal, decimalText, sum } from '../money.ts';

/** The fields of a written row that decide amounts; decimal text. */
export interface WrittenRow {
  readonly amount: string;
  readonly quantity: string;
  readonly period_start?: string | null;
  readonly period_end?: string | null;
}

/**
 * Refuses a row that a person wrote if its amount has more decimals than the currency, its quantity is
 * negative, or its window is not complete or ends before it starts (billing 17.6). `path` is the row in the
 * request.
 */
export function assertWrittenRow(row: WrittenRow, currency: Currency, path: string): void {
  if (!isRounded(decimal(row.amount), currency))
    throw invalidField(
      `${path}.amount`,
      `has more decimals than the currency, which has ${minorDigits(currency)}`,
    );
  if (decimal(row.quantity).lt(0))
    throw invalidField(`${path}.quantity`, 'must not be negative; a credit has a negative amount');
  const { period_start: start = null, period_end: end = null } = row;
  if ((start === null) !== (end === null))
    throw invalidField(`${path}.period_end`, 'must be sent together with period_start');
  if (start !== null && end !== null && start > end)
    throw invalidField(`${path}.period_end`, 'must not be before period_start');
}

/** Refuses rows that sum below zero: an invoice does not pay out. */
export function assertNotBelowZero(rows: readonly Pick<WrittenRow, 'amount'>[]): void {
  const total = sum(rows.map(({ amount }) => decimal(amount)));
  if (total.lt(0))
    throw invalidField(
      'line_items',
      `the amounts sum to ${decimalText(total)}; they must not sum below 0`,
    );
}

/** Refuses a `subtotal` that is not the sum of the rows. */
export function assertSubtotal(rows: readonly Pick<WrittenRow, 'amount'>[], sent: string): void {
  const total = sum(rows.map(({ amount }) => decimal(amount)));
  if (!total.eq(decimal(sent)))
    throw invalidField('subtotal', `must be ${decimalText(total)}, the sum of the rows`);
}

/** Refuses a `total` or `amount_due` that is neither the sum of the rows nor the computed total. */
export function assertTotal(
  field: 'total' | 'amount_due',
  sent: string,
  computed: { readonly subtotal: string; readonly total: string },
): void {
  const fits = [computed.subtotal, computed.total].some((text) => decimal(text).eq(decimal(sent)));
  if (!fits)
    throw invalidField(
      field,
      `must be ${computed.total}, the computed total, or ${computed.subtotal}, the sum of the rows`,
    );
}
