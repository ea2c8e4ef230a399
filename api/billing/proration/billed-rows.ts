import type { ChargeCell } from '../../../domain/pricing/proration.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { cellAsBilled, pausesWithin, type PausedTime } from '../../../domain/time/paused-cells.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import type { SettledRow } from '../records/subscription-change-repository.ts';
import { servedCells } from './line-cells.ts';

/** The billed rows of each cell. A row that merges all cells of the period stands for each of them. */
export function billedRowsOf(
  subscription: SubscriptionRow,
  line: BilledLine,
  pauses: readonly PausedTime[],
  rows: readonly SettledRow[],
): (cell: ChargeCell) => readonly SettledRow[] {
  const cells = servedCells(subscription, line, pauses).map(({ reference }) => reference);
  if (cells.length > 1 && subscription.line_item_grouping === 'per_billing_period')
    return () => rows;
  const cellOf = cellAsBilled(cells, lengtheningPauses(subscription, pauses));
  return ({ reference }) => rows.filter((row) => cellOf(row)?.start === reference.start);
}

/** The pauses that made the running period longer. */
function lengtheningPauses(
  { billing_cycle, current_period_start: start, current_period_end: end }: SubscriptionRow,
  pauses: readonly PausedTime[],
): Period[] {
  return billing_cycle === 'calendar' ? [] : pausesWithin({ start, end }, pauses);
}
