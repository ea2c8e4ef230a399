import { priceTerms as ratingTerms } from '../../../../domain/pricing/price.ts';
import type { Db, Scope, Transaction } from '../../../../postgres/client.ts';
import type { LineItemRow, SubscriptionRow } from '../../../../schemas/subscription.ts';
import { findPrices } from '../../../catalog/prices/repository.ts';
import { changed, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import { endLineItems, getLineItem } from '../../records/line-item-repository.ts';
import { versionOf } from '../../records/line-versions.ts';
import { insertLineItems, lineItemsOf } from '../../records/subscription-repository.ts';
import { moveLineCoupons, type Replacement } from './move-line-coupons.ts';

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

/** Ends each `before` where its `after` begins, and writes `after` as its next version with the coupons of the line. */
export async function replaceLines(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  replacements: readonly Replacement[],
): Promise<void> {
  const ends = replacements.map(({ before, after }) => ({
    id: before.id,
    end_date: after.start_date,
  }));
  await endLineItems(tx, caller.scope, ends, changed(deps, caller));
  await insertLineItems(
    tx,
    replacements.map(({ before, after }) => versionOf(before, rowOf(after))),
  );
  await moveLineCoupons(tx, deps, caller, replacements);
}

export const rowOf = ({ price: _, terms: __, ...row }: BilledLine): LineItemRow => row;

/** Whether advances of the running period are already billed. False in a trial and before the start. */
export const isBilledNow = (subscription: SubscriptionRow, effective_at: string): boolean =>
  (subscription.subscription_status === 'active' ||
    subscription.subscription_status === 'incomplete' ||
    subscription.subscription_status === 'paused') &&
  effective_at < subscription.current_period_end &&
  !(subscription.due_at !== null && subscription.due_at <= subscription.current_period_start);
