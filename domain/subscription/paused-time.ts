import {
  idleIn,
  isPausedThroughout,
  outsidePauses,
  pauseAtEnd,
  pausedCells,
  type PausedTime,
} from '../time/paused-cells.ts';
import type { ChargeCell } from '../pricing/proration.ts';
import type { BillingSchedule } from '../time/billing-periods.ts';
import type { chargeCells } from '../time/charge-cells.ts';
import { earlierOf, type Instant, type Period } from '../time/instant.ts';
import { chargesOnInvoice, type Charge, type ChargedLine, type InvoiceScope } from './charges.ts';

/**
 * The charges of an invoice, without what falls into pauses (billing 12.3, 12.4). `pauses` are in order of
 * time. Usage before and after a pause is one charge; what is used in the pause is not. A period of the anniversary
 * cycle is longer by its pauses, and its fees stay whole, except that a pause in which the subscription ends adds
 * nothing (12.8); on a calendar, fees in arrears pay active time only. An advance that would begin in a pause begins
 * with the resumption.
 */
export function chargesAroundPauses<Line extends ChargedLine>(
  schedule: BillingSchedule,
  lines: readonly Line[],
  scope: InvoiceScope,
  pauses: readonly PausedTime[],
): Charge<Line>[] {
  if (pauses.length === 0) return chargesOnInvoice(schedule, lines, scope);
  const lasting = scope.closing === null ? null : pauseAtEnd(scope.closing, pauses);
  const endsInPause =
    lasting !== null &&
    schedule.billing_cycle === 'anniversary' &&
    scope.closing!.end === schedule.end_date;
  const cells = (cadence: Parameters<typeof chargeCells>[1], period: Period) =>
    pausedCells(schedule, cadence, period, pauses);
  return chargesOnInvoice(schedule, lines, scope, cells).flatMap((charge): Charge<Line>[] => {
    const { line, cell } = charge;
    if ('at' in cell) return [charge];
    const idle = idleIn(schedule, cell.reference, pauses);
    const withIdle = (part: ChargeCell) => ({
      line,
      cell: { ...part, ...(idle === undefined ? {} : { idle }) },
    });
    const isFee = line.price_type === 'FIXED';
    if (isFee && line.invoice_cadence === 'ARREAR' && schedule.billing_cycle === 'anniversary') {
      const served = lasting === null ? cell : before(cell, lasting.start);
      return served === null ? [] : [withIdle(served)];
    }
    const pieces = outsidePauses(cell.service, pauses);
    const [first, last] = [pieces[0], pieces.at(-1)];
    if (first === undefined || last === undefined) return [];
    if (isFee && line.invoice_cadence === 'ADVANCE') {
      const service = { start: first.start, end: cell.service.end };
      // What a calendar does not serve is credited at the resumption.
      const part = { ...cell, service };
      return [idle?.lengthens === true ? withIdle(part) : { line, cell: part }];
    }
    if (isFee) return pieces.map((service) => ({ line, cell: { ...cell, service } }));
    const served = withIdle({ ...cell, service: { start: first.start, end: last.end } });
    // Free usage of a subscription that ends in a pause is for the time before it (billing 12.8).
    const { cell: whole, service: unpaused_service } =
      (endsInPause ? before(cell, lasting.start) : null) ?? cell;
    return [{ line, cell: { ...served.cell, cell: whole, unpaused_service } }];
  });
}

/**
 * Whether a subscription ends without service in its last period: in the instant in which the period begins, or in a
 * pause that began with the period or earlier. The end was not known when the period before was closed (billing 12.8).
 */
export const endsUnserved = (
  { end_date }: Pick<BillingSchedule, 'end_date'>,
  closing: Period,
  pauses: readonly PausedTime[],
): boolean =>
  end_date === closing.end &&
  (closing.start === closing.end || isPausedThroughout(closing, pauses));

/** The part of a cell before an instant; null if it begins later. */
function before(cell: ChargeCell, until: Instant): ChargeCell | null {
  if (cell.service.start >= until) return null;
  const cut = ({ start, end }: Period) => ({ start, end: earlierOf(end, until) });
  return { ...cell, cell: cut(cell.cell), service: cut(cell.service) };
}
