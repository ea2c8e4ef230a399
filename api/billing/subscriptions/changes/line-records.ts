import { priceTerms as ratingTerms } from '../../../../domain/pricing/price.ts';
import type { Db, Scope, Transaction } from '../../../../postgres/client.ts';
import type { LineItemRow, SubscriptionRow } from '../../../../schemas/subscription.ts';
import { findPrices } from '../../../catalog/prices/repository.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import { changeLineItem, getLineItem } from '../../records/line-item-repository.ts';
import { insertLineItems, lineItemsOf } from '../../records/subscription-repository.ts';
import { moveLineCoupons } from './move-line-coupons.ts';

/** All line items of a subscription with their prices. */
export async function billedLines(
  db: Db,
  scope: Scope,
  subscriptionId: string,
): Promise<BilledLine[]> {
  return await withPrices(db, scope, await lineItemsOf(db, scope, [subscriptionId]));
}

export async function billedLine(db: Db, scope: Scope, id: string): Promise<BilledLine> {
  const [line] = await withPrices(db, scope, [await getLineItem(db, scope, id)]);
  return line!;
}

async function withPrices(
  db: Db,
  scope: Scope,
  lines: readonly LineItemRow[],
): Promise<BilledLine[]> {
  const prices = await findPrices(db, scope, [...new Set(lines.map(({ price_id }) => price_id))]);
  const byId = new Map(prices.map((price) => [price.id, price]));
  return lines.map((line) => {
    const price = byId.get(line.price_id)!;
    return { ...line, price, terms: ratingTerms(price) };
  });
}

/** Ends `before` where `after` begins, and writes `after` with the coupons of the line. */
export async function replaceLine(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  before: BilledLine,
  after: BilledLine,
): Promise<void> {
  const end = { end_date: after.start_date, ...changed(deps, caller) };
  await changeLineItem(tx, caller.scope, before.id, end);
  await insertLineItems(tx, [rowOf(after)]);
  await moveLineCoupons(tx, deps, caller, before, after);
}

export const rowOf = ({ price: _, terms: __, ...row }: BilledLine): LineItemRow => row;

/** Whether advances of the running period are already billed. False in a trial and before the start. */
export const isBilledNow = (subscription: SubscriptionRow, effective_at: string): boolean =>
  (subscription.subscription_status === 'active' ||
    subscription.subscription_status === 'incomplete' ||
    subscription.subscription_status === 'paused') &&
  effective_at < subscription.current_period_end &&
  !(subscription.due_at !== null && subscription.due_at <= subscription.current_period_start);
