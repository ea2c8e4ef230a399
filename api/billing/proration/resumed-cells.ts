import { minorDigits } from '../../../domain/currency.ts';
import { Decimal, sum } from '../../../domain/money.ts';
import { billedWindow } from '../../../domain/pricing/credit.ts';
import { changeRows } from '../../../domain/pricing/line-change.ts';
import type { ChargeCell } from '../../../domain/pricing/proration.ts';
import { epochMs, isoText } from '../../../domain/time/instant.ts';
import { pausedMs, type PausedTime } from '../../../domain/time/paused-cells.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import type { SettledRow } from '../records/subscription-change-repository.ts';
import { lineCells, servedCells, type LineCell } from './line-cells.ts';

/** A subscription before and after a resumption that made its running period longer. */
export interface Resumption {
  readonly before: SubscriptionRow;
  readonly after: SubscriptionRow;
  readonly pause_at: string;
}

/** The parts of the cells before a pause that the line serves less after the resumption. */
export const lostCells = (
  resumption: Resumption,
  line: BilledLine,
  pauses: readonly PausedTime[],
): ChargeCell[] =>
  movedCells(resumption, line, pauses).flatMap(({ before, ms }) => lastOf(before, -ms));

/** The parts of the cells after a resumption that the line serves more than before the pause. */
export const gainedCells = (
  resumption: Resumption,
  line: BilledLine,
  pauses: readonly PausedTime[],
): ChargeCell[] =>
  movedCells(resumption, line, pauses).flatMap(({ after, ms }) => lastOf(after, ms));

/** The pauses that were over before that of the resumption. */
export const earlierPauses = (
  { pause_at }: Resumption,
  pauses: readonly PausedTime[],
): PausedTime[] => pauses.filter(({ start }) => start < pause_at);

/**
 * Whether what is billed of the line is what it was to serve before the pause. It is not if the line changed without
 * prorations: then a resumption leaves it as it is.
 */
export function isBilledAsServed(
  resumption: Resumption,
  line: BilledLine,
  pauses: readonly PausedTime[],
  rows: readonly SettledRow[],
): boolean {
  const { before } = resumption;
  const due = changeRows({
    ...{ before: null, after: { price: line.terms, quantity: line.quantity } },
    ...{ invoice_cadence: line.invoice_cadence, effective_at: before.current_period_start },
    ...{ proration_behavior: before.proration_behavior, currency: line.currency },
    cells: servedCells(before, line, earlierPauses(resumption, pauses)),
  });
  // Nothing was settled of a time that costs less than the minor unit; amounts cannot tell that from prorations.
  if (due.length > 0 && rows.length === 0) return false;
  const { gross, billed, credited } = billedWindow(rows);
  const price = sum(due.map(({ amount }) => amount));
  const net = gross.isZero() ? price : price.times(billed).div(gross);
  // Every row is rounded.
  const tolerance = new Decimal(10)
    .pow(-minorDigits(line.currency))
    .times(due.length + rows.length);
  return net.minus(billed.minus(credited)).abs().lte(tolerance);
}

/** The cells before and after a resumption, with the time that the line serves more of each. */
function movedCells(
  resumption: Resumption,
  line: BilledLine,
  pauses: readonly PausedTime[],
): { readonly before: LineCell; readonly after: LineCell; readonly ms: number }[] {
  const cells = lineCells(resumption.before, line, earlierPauses(resumption, pauses));
  const longer = lineCells(resumption.after, line, pauses);
  return cells.map((before, index) => {
    const after = longer[index]!;
    return { before, after, ms: servedMs(after) - servedMs(before) };
  });
}

const servedMs = ({ service, idle }: LineCell): number =>
  service === null
    ? 0
    : epochMs(service.end) - epochMs(service.start) - pausedMs(service, idle?.times ?? []);

/** The last part of the service of a cell, so long; none if that is not above zero. No pause is in it. */
const lastOf = ({ service, ...cell }: LineCell, ms: number): ChargeCell[] =>
  service === null || ms <= 0
    ? []
    : [
        {
          ...cell,
          service: { start: isoText(epochMs(service.end) - ms), end: service.end },
        },
      ];
