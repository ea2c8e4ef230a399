import { decimal, Decimal, decimalText, sum, ZERO } from '../money.ts';
import { netAmount } from '../pricing/net-amount.ts';
import type { BilledRow } from '../pricing/credit.ts';
import { byText } from '../text-order.ts';
import type { Period } from '../time/instant.ts';

/** A charge or a credit of a line item for a time, with the exclusive tax on it. Decimal text. */
export interface ServiceRow extends BilledRow {
  readonly source: 'invoice' | 'change' | 'note';
  readonly subscription_line_item_id: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly tax: string;
}

/** What is left of a service of which a change has credited a part (money 10.6). */
export interface CreditedService {
  /** Rows with the same key charge the same service. */
  readonly key: string;
  /** The charges less what changes and credit notes have credited. */
  readonly left: Decimal;
  /** The exclusive tax on the charges less what changes have returned. */
  readonly tax_left: Decimal;
}

/**
 * What is left to credit of the service of an invoice row whose period begins at `start`; null if no change has
 * credited a part of it (money 10.6). `rows` are those of its line item.
 */
export function creditedService(
  start: string,
  rows: readonly ServiceRow[],
): CreditedService | null {
  const service = servicesOf(rows.filter(({ invoice_status }) => invoice_status !== 'VOIDED')).find(
    (each) => each.start <= start && start < each.end,
  );
  const charges = service?.rows.filter(({ kind }) => kind !== 'credit') ?? [];
  const credits = service?.rows.filter(({ kind }) => kind === 'credit') ?? [];
  const returned = credits.filter(({ source }) => source === 'change');
  if (service === undefined || returned.length === 0) return null;
  const left = sum([...charges.map(netAmount), ...credits.map(({ amount }) => decimal(amount))]);
  const tax = sum([...charges, ...returned].map((row) => decimal(row.tax)));
  return {
    key: `${service.rows[0]!.subscription_line_item_id} ${service.start}`,
    left: Decimal.max(left, ZERO),
    tax_left: Decimal.max(tax, ZERO),
  };
}

interface Service extends Period {
  readonly rows: readonly ServiceRow[];
}

/**
 * Groups the rows by what they charge or credit: rows of one service overlap. A credit that overlaps none is of the
 * time by which a pause has made the period longer.
 */
function servicesOf(rows: readonly ServiceRow[]): Service[] {
  const services: Service[] = [];
  for (const row of rows.toSorted((a, b) => byText(a.period_start, b.period_start))) {
    const { period_start: start, period_end: end, kind } = row;
    const last = services.at(-1);
    if (last === undefined || (start >= last.end && kind !== 'credit'))
      services.push({ start, end, rows: [row] });
    else
      services[services.length - 1] = {
        start: last.start,
        end: end > last.end ? end : last.end,
        rows: [...last.rows, row],
      };
  }
  return services;
}
