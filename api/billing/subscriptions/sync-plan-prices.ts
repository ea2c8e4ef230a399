import { refuseUsageRatedTwice } from '../../../domain/pricing/filter-values.ts';
import { haveSameTerms } from '../../../domain/pricing/price-version.ts';
import { planPriceSync, type SyncedLine } from '../../../domain/subscription/price-sync.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { laterOf } from '../../../domain/time/instant.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { settlementOf } from '../computing/settlement-currency.ts';
import { withPrices, type BilledLine } from '../computing/billing-sources.ts';
import { selectorOf } from '../computing/usage-selectors.ts';
import type { PlanRow } from '../../catalog/offers/plan-repository.ts';
import {
  continuationOf,
  findCouponAssociationsOf,
  insertCouponAssociations,
  moveCouponAssociations,
  type CouponAssociationRow,
} from '../../catalog/coupons/repository.ts';
import { findPricesOfEntities, type PriceRow } from '../../catalog/prices/repository.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { inheritedCommitment } from './line-commitments.ts';
import { lineItem, withMeterNames } from './line-item.ts';
import { assertNoCheckout } from './no-checkout.ts';
import { endLineItems } from '../records/line-item-repository.ts';
import { versionOf } from '../records/line-versions.ts';
import { couponUses } from '../records/subscription-invoice-repository.ts';
import { subscriptionSnapshot } from '../records/subscription-notification.ts';
import {
  insertLineItems,
  lineItemsOf,
  lockSubscription,
} from '../records/subscription-repository.ts';
import {
  LIVE,
  noteChangedPrices,
  noteUnchangedPrices,
  openFrom,
} from './plan-price-sync-repository.ts';

/**
 * Applies the plan's current prices to a subscription (billing 2.8). A line that moves to another version of
 * its price keeps quantity, name, metadata, commitment and coupons. A repetition changes nothing. Returns
 * whether anything changed. 409 while a checkout session of the subscription waits and there is something to change.
 */
export async function syncSubscription(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  plan: PlanRow,
  id: string,
): Promise<boolean> {
  const { scope } = caller;
  const at = isoTime(deps.clock.now());
  const subscription = await lockSubscription(tx, scope, id);
  if (subscription.plan_id !== plan.id || !LIVE.includes(subscription.subscription_status))
    return false;
  const prices = await findPricesOfEntities(tx, scope, 'PLAN', [plan.id], null);
  const lines = await withPrices(tx, scope, await lineItemsOf(tx, scope, [id]));
  const settlement = await settlementOf(tx, scope, subscription.currency);
  const default_currency = settlement?.currency ?? null;
  const sync = planPriceSync(
    prices.toReversed(),
    lines.map((line) => syncedLine(line, prices)),
    {
      ...subscription,
      default_currency,
      cadence: subscription,
      open_from: await openFrom(tx, caller, subscription),
      advance_until:
        subscription.start_date > at ? subscription.start_date : subscription.current_period_end,
    },
    at,
  );
  const isChanged = sync.ends.length > 0 || sync.creates.length > 0;
  if (isChanged) await assertNoCheckout(tx, subscription);
  const owner = {
    subscription_id: id,
    customer_id: subscription.customer_id,
    plan,
    selection: {
      currency: subscription.currency,
      default_currency,
      cadence: subscription,
      start: subscription.start_date,
      end: subscription.end_date,
      include_price_ids: subscription.include_price_ids,
    },
  };
  const priceOf = new Map(prices.map((price) => [price.id, price]));
  const lineOf = new Map(lines.map((line) => [line.id, line]));
  const successions: Succession[] = [];
  const created = sync.creates.map(({ price_id, start_date, end_date, follows }) => {
    const price = priceOf.get(price_id)!;
    const before = lineOf.get(follows ?? '') ?? null;
    const line = lineItem(deps, caller, owner, price, {
      ...keptOf(before, price),
      entity: { type: 'plan', id: plan.id },
      path: 'quantity',
      start_date,
      end_date,
      commitment: inheritedCommitment(lines, price),
    });
    if (before === null) return line;
    successions.push({ before, line });
    return versionOf(before, line);
  });
  refuseOverlaps(lines, sync.ends, created);
  const ends = sync.ends.map(({ line_item_id, end_date }) => ({ id: line_item_id, end_date }));
  await endLineItems(tx, scope, ends, changed(deps, caller));
  const rows = await withMeterNames(tx, caller, created);
  await insertLineItems(
    tx,
    rows.map(({ price: _, terms: __, ...row }) => row),
  );
  await passCouponsOn(tx, deps, caller, id, successions);
  return await noteSynced(tx, deps, caller, subscription, {
    sequence: Math.max(0, ...prices.map(({ sequence }) => sequence)),
    isChanged,
  });
}

interface Succession {
  readonly before: BilledLine;
  readonly line: BilledLine;
}

/** Fields that belong to the line, not to the version of its price. */
function keptOf(before: BilledLine | null, price: PriceRow) {
  if (before === null) return { quantity: null };
  const isOwnName = before.display_name !== (before.price.display_name ?? before.plan_display_name);
  return {
    quantity: price.type === 'FIXED' ? before.quantity : null,
    display_name: isOwnName ? before.display_name : null,
    metadata: before.metadata,
  };
}

/**
 * Coupons of a line continue on the line that replaces it. An unused coupon that counts once moves to the new
 * line; any other has an association for each line, and one discount of an invoice with rows of both (billing 7.3).
 */
async function passCouponsOn(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  successions: readonly Succession[],
): Promise<void> {
  if (successions.length === 0) return;
  const { scope } = caller;
  const associations = await findCouponAssociationsOf(tx, scope, [subscriptionId]);
  const uses = await couponUses(tx, scope, [subscriptionId]);
  const used = new Set(uses.map(({ coupon_association_id: id }) => id));
  const ofLine = groupBy(associations, ({ subscription_line_item_id: id }) => id);
  // Of several versions that follow one line, the last one keeps the coupon.
  const moved = new Map<string, string>();
  const begun: CouponAssociationRow[] = [];
  for (const { before, line } of successions) {
    for (const { coupon, ...association } of ofLine.get(before.id) ?? []) {
      if (association.end_date !== null && association.end_date <= line.start_date) continue;
      if (coupon?.cadence === 'once') {
        if (!used.has(association.id)) moved.set(association.id, line.id);
        continue;
      }
      begun.push({
        ...continuationOf(association),
        ...newRecord(deps, caller, 'coupon_assoc'),
        subscription_line_item_id: line.id,
        start_date: laterOf(association.start_date, line.start_date),
      });
    }
  }
  await moveCouponAssociations(
    tx,
    scope,
    [...moved].map(([id, line_item_id]) => ({ id, line_item_id })),
  );
  await insertCouponAssociations(tx, begun);
}

/**
 * A price of the subscription that overrides only the quantity follows the plan's price. A price with other
 * overridden terms does not change (billing 2.8, 10.1).
 */
function syncedLine(line: BilledLine, planPrices: readonly PriceRow[]): SyncedLine {
  const { price, id, entity_type, end_date } = line;
  const { parent_price_id } = price;
  if (price.entity_type !== 'SUBSCRIPTION')
    return { id, price_id: price.id, parent_price_id, entity_type, end_date };
  const same = planPrices.find(
    (version) => version.parent_price_id === parent_price_id && haveSameTerms(version, price),
  );
  return same === undefined
    ? { id, price_id: price.id, parent_price_id, entity_type: 'subscription', end_date }
    : { id, price_id: same.id, parent_price_id, entity_type, end_date };
}

/** Whether a sync moves the line to the newest version of its price. */
export const followsPlan = (line: BilledLine, planPrices: readonly PriceRow[]): boolean =>
  syncedLine(line, planPrices).entity_type === 'plan';

/** No two lines may rate the same usage at the same time (billing 3.2). */
function refuseOverlaps(
  lines: readonly BilledLine[],
  ends: readonly { readonly line_item_id: string; readonly end_date: string }[],
  created: readonly BilledLine[],
): void {
  const endedAt = new Map(ends.map(({ line_item_id, end_date }) => [line_item_id, end_date]));
  const byMeter = groupBy([...lines, ...created], ({ meter_id }) => meter_id);
  for (const line of created.filter(({ meter_id }) => meter_id !== null)) {
    const beside = byMeter.get(line.meter_id)!.filter((other) => {
      const [end, otherEnd] = [line.end_date, endedAt.get(other.id) ?? other.end_date];
      return (
        (otherEnd === null || otherEnd > line.start_date) &&
        (end === null || other.start_date < end)
      );
    });
    refuseUsageRatedTwice(beside.map(selectorOf));
  }
}

async function noteSynced(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { id, customer_id }: SubscriptionRow,
  { sequence, isChanged }: { readonly sequence: number; readonly isChanged: boolean },
): Promise<boolean> {
  const { scope } = caller;
  if (!isChanged) {
    await noteUnchangedPrices(tx, scope, id, sequence);
    return false;
  }
  const row = await noteChangedPrices(tx, scope, id, sequence, changed(deps, caller));
  const customer = await getCustomer(tx, scope, customer_id);
  await writeOutbox(tx, scope, 'subscription.updated', {
    subscription: subscriptionSnapshot(row, customer),
  });
  return true;
}
