import { Decimal, decimal, decimalText, sum, ZERO } from '../money.ts';
import { netAmount, type DiscountedAmount } from './net-amount.ts';
import type { LineKind } from './rated-line.ts';

/** A row of an invoice, as far as later credits depend on it. Decimal text, in the currency of the invoice. */
export interface ChargedRow extends DiscountedAmount {
  /** Null for a row without a line item. */
  readonly subscription_line_item_id: string | null;
  readonly kind: LineKind;
  readonly period_start: string | null;
  readonly period_end: string | null;
  /** The factor converts from the currency of the line item; null: the same currency. */
  readonly custom_currency: { readonly conversion_factor: string } | null;
}

export interface ChargedInvoice {
  readonly rows: readonly ChargedRow[];
  /** Exclusive tax of the whole invoice. Decimal text. */
  readonly exclusive_tax: string;
}

/**
 * A charge or credit of a line item by a change, or what an edit adds to one: in the currency of the line item. Decimal
 * text; credits are negative.
 */
export interface ChangeRow {
  readonly line_item_id: string;
  readonly kind: 'base' | 'credit';
  readonly period_start: string;
  readonly period_end: string;
  /** Before discounts. */
  readonly gross: string;
  /** After discounts. */
  readonly net: string;
  /** Exclusive tax of the row. */
  readonly tax: string;
}

/**
 * What the edit of an invoice changes in what its line items are charged and credited (billing 5.3): amounts before and
 * after discounts, and exclusive tax. Rows without a line item have no part in it. Empty if the edit changes nothing.
 */
export function editedCharges(before: ChargedInvoice, after: ChargedInvoice): ChangeRow[] {
  const services = differences(before.rows, after.rows);
  const rate = rateOf(after) ?? rateOf(before) ?? ZERO;
  const change = serviceTax(after).minus(serviceTax(before));
  // Roundings and later exemptions are not explained by the rate: the charges before the edit share them.
  const rest = change.minus(rate.times(sum(services.map(({ net }) => net))));
  const charged = sum(services.map(({ charged: amount }) => amount));
  return services
    .map((service) => {
      const share = charged.isZero() ? ZERO : rest.times(service.charged).div(charged);
      return { ...service, tax: rate.times(service.net).plus(share) };
    })
    .filter(({ gross, net, tax }) => !(gross.isZero() && net.isZero() && tax.isZero()))
    .map(({ line_item_id, kind, period_start, period_end, factor, gross, net, tax }) => ({
      ...{ line_item_id, kind, period_start, period_end },
      gross: decimalText(gross.div(factor)),
      net: decimalText(net.div(factor)),
      tax: decimalText(tax.div(factor)),
    }));
}

interface ServiceRow extends ChargedRow {
  readonly subscription_line_item_id: string;
  readonly period_start: string;
  readonly period_end: string;
}

const isService = (row: ChargedRow): row is ServiceRow =>
  row.subscription_line_item_id !== null && row.period_start !== null && row.period_end !== null;

interface Difference extends Pick<ChangeRow, 'line_item_id' | 'kind'> {
  readonly period_start: string;
  readonly period_end: string;
  readonly factor: Decimal;
  readonly gross: Decimal;
  readonly net: Decimal;
  /** Net charge before the edit; zero for credits. */
  readonly charged: Decimal;
}

/** Rows of the same service, kind and start, after less before. */
function differences(before: readonly ChargedRow[], after: readonly ChargedRow[]): Difference[] {
  const found = new Map<string, Difference>();
  const add = (row: ServiceRow, sign: 1 | -1) => {
    const kind = row.kind === 'credit' ? 'credit' : 'base';
    const { subscription_line_item_id: line_item_id, period_start, period_end } = row;
    const key = JSON.stringify([line_item_id, kind, period_start]);
    const earlier = found.get(key);
    const net = netAmount(row);
    found.set(key, {
      ...{ line_item_id, kind, period_start, period_end },
      factor: decimal(row.custom_currency?.conversion_factor ?? '1'),
      gross: decimal(row.amount)
        .times(sign)
        .plus(earlier?.gross ?? ZERO),
      net: net.times(sign).plus(earlier?.net ?? ZERO),
      charged: (earlier?.charged ?? ZERO).plus(sign < 0 && kind === 'base' ? net : ZERO),
    });
  };
  for (const row of before.filter(isService)) add(row, -1);
  for (const row of after.filter(isService)) add(row, 1);
  return [...found.values()];
}

/** Exclusive tax per unit of net amount; null if nothing is taxed. */
function rateOf({ rows, exclusive_tax }: ChargedInvoice): Decimal | null {
  const taxed = sum(rows.map(netAmount));
  return taxed.gt(0) ? decimal(exclusive_tax).div(taxed) : null;
}

/** The part of the exclusive tax that the rows of line items have. */
const serviceTax = (invoice: ChargedInvoice): Decimal =>
  (rateOf(invoice) ?? ZERO).times(sum(invoice.rows.filter(isService).map(netAmount)));
