import type { BillingPeriod, Cadence } from '../pricing/cadence.ts';
import type { InvoiceCadence, PriceType } from '../pricing/price.ts';
import type { ChargeCell, Period } from '../pricing/proration.ts';

/** What decides when a line item is charged. Its window is half-open; null = no end. */
export interface ChargedLine {
  readonly id: string;
  readonly price_type: PriceType;
  readonly invoice_cadence: InvoiceCadence;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
  readonly start_date: string;
  readonly end_date: string | null;
}

/** One thing to rate: a cell of the line's own grid, or the instant of a one-time charge. */
export interface Charge<Line extends ChargedLine> {
  readonly line: Line;
  readonly cell: ChargeCell | { readonly at: string };
}

/** What an invoice covers (billing-semantics 3.1). */
export interface InvoiceScope {
  /** The period that is over: its usage and what is paid afterwards. Null on an opening invoice. */
  readonly closing: Period | null;
  /** The period that begins: what is paid before it. Null when nothing follows. */
  readonly opening: Period | null;
  /** Whether `closing` is the subscription's first period. */
  readonly is_first: boolean;
}

/** Cells of a price's own grid in a billing period of the subscription (domain/time). */
export type CellsInPeriod = (
  cadence: Cadence,
  period: Period,
) => readonly Pick<ChargeCell, 'reference' | 'cell'>[];

/**
 * Which charges stand on an invoice: usage and arrears of the closing period, advances of the opening
 * one, one-time charges by their date (billing-semantics 3.1, 3.3). Fixed charges come before usage,
 * each in the order of the lines, the cells of a line in the order of time.
 */
export function chargesOnInvoice<Line extends ChargedLine>(
  lines: readonly Line[],
  scope: InvoiceScope,
  cellsIn: CellsInPeriod,
): Charge<Line>[] {
  const fixed = lines.filter((line) => line.price_type === 'FIXED');
  const usage = lines.filter((line) => line.price_type === 'USAGE');
  return [...fixed, ...usage].flatMap((line) =>
    line.billing_period === 'ONETIME'
      ? oneTimeCharge(line, scope)
      : recurringCharges(line, scope, cellsIn),
  );
}

/**
 * ADVANCE dates belong to `[start, end)` of the opening period, ARREAR dates to `(start, end]` of the
 * closing one: a charge dated at the boundary is on the invoice cut there. The first period holds its
 * own start too (billing-semantics 3.1).
 */
function oneTimeCharge<Line extends ChargedLine>(line: Line, scope: InvoiceScope): Charge<Line>[] {
  const at = line.start_date;
  if (line.end_date !== null && line.end_date <= at) return [];
  const { opening, closing, is_first } = scope;
  const due =
    line.invoice_cadence === 'ADVANCE'
      ? opening !== null && at >= opening.start && at < opening.end
      : closing !== null &&
        at <= closing.end &&
        (at > closing.start || (is_first && at === closing.start));
  return due ? [{ line, cell: { at } }] : [];
}

function recurringCharges<Line extends ChargedLine>(
  line: Line,
  { closing, opening }: InvoiceScope,
  cellsIn: CellsInPeriod,
): Charge<Line>[] {
  const period = line.invoice_cadence === 'ADVANCE' ? opening : closing;
  if (period === null) return [];
  return cellsIn(line, period).flatMap(({ reference, cell }) => {
    const service = {
      start: line.start_date > cell.start ? line.start_date : cell.start,
      end: line.end_date !== null && line.end_date < cell.end ? line.end_date : cell.end,
    };
    return service.start < service.end ? [{ line, cell: { reference, cell, service } }] : [];
  });
}
