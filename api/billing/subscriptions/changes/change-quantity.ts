import { invalidField, invalidOperation, notFound } from '../../../../domain/errors.ts';
import { decimalText } from '../../../../domain/money.ts';
import { lineQuantity } from '../../../../domain/pricing/line-quantity.ts';
import type { Db } from '../../../../postgres/client.ts';
import type { QuantityChangeParams } from '../../../../schemas/subscription-modify.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import { newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import { billedLines } from './line-records.ts';

/**
 * The swaps of a quantity change (billing 14.1): each line ends at the requested date, and a new line with
 * the new quantity begins there and keeps the end date. Leaves out lines that already have the quantity.
 * Writes nothing.
 */
export async function quantitySwaps(
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  db: Db,
  caller: Caller,
  subscription: SubscriptionRow,
  { line_items }: QuantityChangeParams,
  at: string,
): Promise<LineSwap[]> {
  const lines = await billedLines(db, caller.scope, subscription.id);
  const taken = new Set<string>();
  return line_items.flatMap(({ id, quantity, effective_date }, index) => {
    const path = `quantity_change_params.line_items[${index}]`;
    const before = getLine(lines, id);
    if (taken.has(id)) throw invalidField(`${path}.id`, `${id} is named twice`);
    taken.add(id);
    assertChangeable(subscription, before, `${path}.id`);
    const effective_at = effectiveAt(subscription, before, effective_date ?? at, path);
    const next = decimalText(lineQuantity(before.terms, quantity, `${path}.quantity`));
    if (next === before.quantity) return [];
    const after: BilledLine = {
      ...before,
      ...newRecord(deps, caller, 'subs_line'),
      quantity: next,
      start_date: effective_at,
    };
    return [{ before, after, effective_at }];
  });
}

function getLine(lines: readonly BilledLine[], id: string): BilledLine {
  const line = lines.find((candidate) => candidate.id === id);
  if (line === undefined) throw notFound('Subscription line item', id);
  return line;
}

function assertChangeable(subscription: SubscriptionRow, line: BilledLine, path: string): void {
  const status = subscription.subscription_status;
  if (status !== 'active' && status !== 'trialing')
    throw invalidOperation(
      `Quantities of a subscription that is ${status} cannot be changed.`,
      'subscription_status',
    );
  if (line.price_type !== 'FIXED')
    throw invalidField(path, 'is a usage line; its quantity is measured');
  if (line.billing_period === 'ONETIME')
    throw invalidField(path, 'is a one-time fee: end it and add another');
}

function effectiveAt(
  { current_period_start, current_period_end }: SubscriptionRow,
  { start_date, end_date }: BilledLine,
  at: string,
  path: string,
): string {
  if (at < current_period_start || at >= current_period_end)
    throw invalidField(
      `${path}.effective_date`,
      `must lie in the running period, ${current_period_start} to ${current_period_end}`,
    );
  if (at < start_date || (end_date !== null && at >= end_date))
    throw invalidField(
      `${path}.effective_date`,
      `must lie within the line item, ${start_date} to ${end_date ?? 'open'}`,
    );
  return at;
}
