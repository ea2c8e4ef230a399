import type { BillingPeriod } from '../pricing/cadence.ts';
import type { InvoiceCadence, PriceType } from '../pricing/price.ts';
import type { ChargeCell } from '../pricing/proration.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import { chargeCells, serviceWindow, type Cell } from '../time/charge-cells.ts';
import { oneTimeTiming } from '../time/charge-timing.ts';
import type { Instant, Period } from '../time/instant.ts';

/**
 * The fields that decide when a line item is charged. The window is half-open; null `end_date` means no end.
 */
export interface ChargedLine {
  readonly id: string;
  readonly price_type: PriceType;
  readonly invoice_cadence: InvoiceCadence;
  readonly billing_period: BillingPeriod;
  readonly billing_period_count: number;
  readonly start_date: string;
  readonly end_date: string | null;
}

/** One charge to rate: a cell of the grid of the line, or the instant of a one-time charge. */
export interface Charge<Line extends ChargedLine> {
  readonly line: Line;
  readonly cell: ChargeCell | { readonly at: string };
}

/** Periods that an invoice covers (billing 3.1). */
export interface InvoiceScope {
  /** The ended period: its usage and arrear charges. Null on an opening invoice. */
  readonly closing: Period | null;
  /** The next period: its advance charges. Null when no period follows. */
  readonly opening: Period | null;
}

/** How a billing period is cut into the charge periods of a price. */
export type CellsOf = (
  cadence: Parameters<typeof chargeCells>[1],
  period: Period,
) => readonly Cell[];

/**
 * Charges of an invoice: usage and arrears of the closing period, advances of the opening period, one-time
 * charges by their date (billing 3.1, 3.3). Fixed charges come before usage. Within each, the order
 * is that of the lines, then the time of the cells.
 */
export function chargesOnInvoice<Line extends ChargedLine>(
  schedule: BillingSchedule,
  lines: readonly Line[],
  scope: InvoiceScope,
  cells: CellsOf = (cadence, period) => chargeCells(schedule, cadence, period),
): Charge<Line>[] {
  const fixed = lines.filter((line) => line.price_type === 'FIXED');
  const usage = lines.filter((line) => line.price_type === 'USAGE');
  return [...fixed, ...usage].flatMap((line) => {
    const { billing_period, billing_period_count } = line;
    return billing_period === 'ONETIME'
      ? oneTimeCharge(line, schedule, scope)
      : recurringCharges(line, { billing_period, billing_period_count }, cells, scope);
  });
}

/**
 * The lines as they are due after a trial: a one-time charge that is dated within the trial is due at its end (billing
 * 10.4). A line that ends with the trial or earlier is then not charged.
 */
export const dueAfterTrial = <Line extends ChargedLine>(
  lines: readonly Line[],
  trialEnd: Instant | null,
): readonly Line[] =>
  trialEnd === null
    ? lines
    : lines.map((line) =>
        line.billing_period === 'ONETIME' && line.start_date < trialEnd
          ? { ...line, start_date: trialEnd }
          : line,
      );

/** A line that ended on or before its date is not charged: it was removed. */
function oneTimeCharge<Line extends ChargedLine>(
  line: Line,
  schedule: BillingSchedule,
  { closing, opening }: InvoiceScope,
): Charge<Line>[] {
  if (line.end_date !== null && line.end_date <= line.start_date) return [];
  const current = closing ?? opening;
  if (current === null) return [];
  const timing = oneTimeTiming(
    line,
    { ...current, is_first: current.start === schedule.start_date },
    opening?.end ?? current.end,
  );
  // An advance of the closing period is due when its line was added after the period had been opened.
  const due =
    closing === null
      ? timing === 'current_advance'
      : timing === 'current_arrear' ||
        timing === 'current_advance' ||
        (timing === 'next_advance' && opening !== null);
  return due ? [{ line, cell: { at: line.start_date } }] : [];
}

function recurringCharges<Line extends ChargedLine>(
  line: Line,
  cadence: Parameters<typeof chargeCells>[1],
  cells: CellsOf,
  { closing, opening }: InvoiceScope,
): Charge<Line>[] {
  const period = line.invoice_cadence === 'ADVANCE' ? opening : closing;
  if (period === null) return [];
  return cells(cadence, period).flatMap(({ reference, cell }) => {
    const service = serviceWindow(cell, line);
    return service === null ? [] : [{ line, cell: { reference, cell, service } }];
  });
}
