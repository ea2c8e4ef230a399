import { periodContaining, type BillingSchedule } from '../time/billing-periods.ts';
import { chargeCells, type Cell } from '../time/charge-cells.ts';
import { epochMs, isoText, laterOf, type Instant, type Period } from '../time/instant.ts';
import { chargesOnInvoice, type Charge, type ChargedLine, type InvoiceScope } from './charges.ts';

/** A pause that has begun; the end is null while it lasts. */
export interface PausedTime {
  readonly start: Instant;
  readonly end: Instant | null;
}

/**
 * The charges of an invoice, without what falls into pauses (billing 12.3, 12.4). `pauses` are in order of
 * time. Usage of a pause is not charged. A period of the anniversary cycle is longer by its pauses, and its
 * fees stay whole; on a calendar, fees in arrears pay active time only. An advance that would begin in a pause
 * begins with the resumption.
 */
export function chargesAroundPauses<Line extends ChargedLine>(
  schedule: BillingSchedule,
  lines: readonly Line[],
  scope: InvoiceScope,
  pauses: readonly PausedTime[],
): Charge<Line>[] {
  if (pauses.length === 0) return chargesOnInvoice(schedule, lines, scope);
  const cells = (cadence: Parameters<typeof chargeCells>[1], period: Period) =>
    longerCells(schedule, cadence, period, pauses);
  return chargesOnInvoice(schedule, lines, scope, cells).flatMap((charge) => {
    const { line, cell } = charge;
    if ('at' in cell) return [charge];
    const isFee = line.price_type === 'FIXED';
    if (isFee && line.invoice_cadence === 'ARREAR' && schedule.billing_cycle === 'anniversary')
      return [charge];
    const pieces = outsidePauses(cell.service, pauses);
    const [first] = pieces;
    if (first === undefined) return [];
    if (isFee && line.invoice_cadence === 'ADVANCE') {
      const service = { start: first.start, end: cell.service.end };
      return [{ line, cell: { ...cell, service } }];
    }
    return pieces.map((service) => ({ line, cell: { ...cell, service } }));
  });
}

/** The parts of a period in which the subscription was not paused. */
export function outsidePauses(period: Period, pauses: readonly PausedTime[]): Period[] {
  const pieces: Period[] = [];
  let from = period.start;
  for (const { start, end } of pauses) {
    if (start >= period.end || (end !== null && end <= from)) continue;
    if (start > from) pieces.push({ start: from, end: start });
    if (end === null || end >= period.end) return pieces;
    from = laterOf(from, end);
  }
  return [...pieces, { start: from, end: period.end }];
}

/**
 * The cells of a period that pauses have made longer. They are computed for the period without its pauses; then
 * every time after a pause is moved later by the length of that pause. The anchor has moved with the end of the
 * period, so it is moved back first.
 */
function longerCells(
  schedule: BillingSchedule,
  cadence: Parameters<typeof chargeCells>[1],
  period: Period,
  pauses: readonly PausedTime[],
): Cell[] {
  const inside = pauses.flatMap(({ start, end }) =>
    end !== null && start >= period.start && start < period.end && end <= period.end
      ? [{ start, end }]
      : [],
  );
  if (inside.length === 0 || schedule.billing_cycle === 'calendar')
    return chargeCells(schedule, cadence, period);
  const lost = inside.reduce((sum, pause) => sum + lengthOf(pause), 0);
  const before = (at: Instant) => isoText(epochMs(at) - lost);
  const shorter = { start: period.start, end: before(period.end) };
  const original = {
    ...schedule,
    billing_anchor: anchorOf(schedule, shorter, before(schedule.billing_anchor)),
    end_date: schedule.end_date === null ? null : before(schedule.end_date),
  };
  return chargeCells(original, cadence, shorter).map(({ reference, cell }) => ({
    reference: later(reference, inside),
    cell: later(cell, inside),
  }));
}

/**
 * The anchor of the grid of a period without its pauses: its end, or its start where the end has lost the day
 * of the month. For example, a period from 31 August ends on 30 September; counted back from there it would
 * begin on 30 August. The start has the day, so it is the anchor.
 */
function anchorOf(schedule: BillingSchedule, period: Period, end: Instant): Instant {
  const fromStart = { ...schedule, billing_anchor: period.start, start_date: period.start };
  const isWhole =
    periodContaining({ ...fromStart, end_date: null }, period.start)?.end === period.end;
  return isWhole ? period.start : end;
}

/** The period with the pauses inserted. */
function later({ start, end }: Period, pauses: readonly Period[]): Period {
  let [from, to] = [start, end];
  for (const pause of pauses) {
    if (from >= pause.start) from = isoText(epochMs(from) + lengthOf(pause));
    if (to > pause.start) to = isoText(epochMs(to) + lengthOf(pause));
  }
  return { start: from, end: to };
}

const lengthOf = ({ start, end }: Period): number => epochMs(end) - epochMs(start);
