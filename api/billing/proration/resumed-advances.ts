import { uncutPeriodEnd } from '../../../domain/subscription/schedule.ts';
import type { Db } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { readBillingSources, type BilledLine } from '../computing/billing-sources.ts';
import { settleChange, type SettledChange } from './settle-change.ts';

/**
 * What a resumption charges and credits of lines in advance that begin or end after the start of the pause: of a period
 * that has become longer they serve another part than of the period before the pause (billing 12.4). `before` is the
 * subscription in the pause, `after` the resumed one. Null: nothing.
 */
export async function resumedAdvances(
  deps: Pick<BillingDeps, 'ids'>,
  db: Db,
  caller: Caller,
  before: SubscriptionRow,
  after: SubscriptionRow,
  at: string,
): Promise<SettledChange | null> {
  const { billing_cycle, proration_behavior, current_period_start, pause_at } = before;
  const uncut = (row: SubscriptionRow) => ({
    ...{ ...row, current_period_end: uncutPeriodEnd(row), end_date: null },
  });
  const [subscription, resumed] = [uncut(before), uncut(after)];
  const isLonger =
    billing_cycle === 'anniversary' &&
    pause_at !== null &&
    pause_at < subscription.current_period_end;
  if (!isLonger || proration_behavior === 'none') return null;
  const { scope } = caller;
  const sources = await readBillingSources(db, scope, [before], current_period_start);
  const moved = (sources.lines.get(before.id) ?? []).filter(
    (line) =>
      line.price_type === 'FIXED' &&
      line.invoice_cadence === 'ADVANCE' &&
      line.billing_period !== 'ONETIME' &&
      line.unsettled_in !== current_period_start &&
      boundsOf(line, before).some(
        (bound) => pause_at < bound && bound < resumed.current_period_end,
      ),
  );
  if (moved.length === 0) return null;
  const swaps = moved.map((line) => ({
    ...{ before: line, after: line, effective_at: current_period_start },
  }));
  const operation = {
    ...{ subscription, swaps, proration_behavior },
    resumed: { before: subscription, after: resumed, pause_at },
  };
  return await settleChange(deps, db, caller, operation, at);
}

/** When the line begins and ends, unless it ends with the subscription, whose end no pause moves. */
const boundsOf = (
  { start_date, end_date }: BilledLine,
  subscription: SubscriptionRow,
): readonly string[] =>
  end_date === null || end_date === subscription.end_date ? [start_date] : [start_date, end_date];
