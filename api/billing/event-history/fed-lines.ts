import { matchesFilter, selectUsage } from '../../../domain/pricing/filter-values.ts';
import { isoText, isWithin } from '../../../domain/time/instant.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { LineItemRow } from '../../../schemas/subscription.ts';
import { withPrices, type BilledLine } from '../computing/billing-sources.ts';
import { selectorOf } from '../computing/usage-selectors.ts';
import { usageLinesOfCustomer } from '../../usage/events/repository.ts';

/**
 * Whether the line's invoice counts an event of that time (milliseconds) with these properties: its filters
 * match, and no line of its subscription with more filter keys takes the event (billing 2.5).
 * `siblings` are all usage lines of the subscription.
 */
export function rates(
  line: BilledLine,
  siblings: readonly BilledLine[],
  timestamp: number,
  properties: Readonly<Record<string, string>>,
): boolean {
  const at = isoText(timestamp);
  if (!isWithin(at, line.start_date, line.end_date)) return false;
  const selected = selectUsage(
    selectorOf(line),
    siblings.map(selectorOf),
    at,
    isoText(timestamp + 1),
  );
  return (
    matchesFilter(selected.filter_values, properties) &&
    !selected.excluded_filter_values.some((excluded) => matchesFilter(excluded, properties))
  );
}

/** The customer's lines that an event of these meters counts for, oldest first. */
export async function fedLines(
  db: Db,
  scope: Scope,
  customerId: string,
  meterIds: readonly string[],
  event: {
    readonly timestamp: number;
    readonly properties: Readonly<Record<string, string>>;
  },
): Promise<LineItemRow[]> {
  const items = await usageLinesOfCustomer(db, scope, customerId, meterIds);
  const lines = await withPrices(db, scope, items);
  return items.filter((_, index) => {
    const line = lines[index]!;
    const siblings = lines.filter((other) => other.subscription_id === line.subscription_id);
    return rates(line, siblings, event.timestamp, event.properties);
  });
}
