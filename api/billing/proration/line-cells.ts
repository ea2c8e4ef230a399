import type { ChargeCell } from '../../../domain/pricing/proration.ts';
import { paidSchedule } from '../../../domain/subscription/schedule.ts';
import { serviceWindow } from '../../../domain/time/charge-cells.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { idleIn, pausedCells, type PausedTime } from '../../../domain/time/paused-cells.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BilledLine } from '../computing/billing-sources.ts';

/** A charge cell; `service` is null if the line serves nothing of it. */
export type LineCell = Omit<ChargeCell, 'service'> & { readonly service: Period | null };

/** The charge cells of the running period that the line serves, with the part that it serves. */
export const servedCells = (
  subscription: SubscriptionRow,
  line: BilledLine,
  pauses: readonly PausedTime[],
): ChargeCell[] =>
  lineCells(subscription, line, pauses).flatMap(({ service, ...cell }) =>
    service === null ? [] : [{ ...cell, service }],
  );

/** All charge cells of the running period, in order. */
export function lineCells(
  subscription: SubscriptionRow,
  line: BilledLine,
  pauses: readonly PausedTime[],
): LineCell[] {
  const { billing_period, billing_period_count } = line;
  if (billing_period === 'ONETIME') return [];
  const period = {
    start: subscription.current_period_start,
    end: subscription.current_period_end,
  };
  const schedule = paidSchedule(subscription);
  const cadence = { billing_period, billing_period_count };
  return pausedCells(schedule, cadence, period, pauses).map(({ reference, cell }) => {
    const idle = idleIn(schedule, reference, pauses);
    return {
      ...{ reference, cell, service: serviceWindow(cell, line) },
      ...(idle?.lengthens ? { idle } : {}),
    };
  });
}
