import { invalidField, invalidOperation, notFound } from '../../../../domain/errors.ts';
import { refuseUsageRatedTwice } from '../../../../domain/pricing/filter-values.ts';
import { planPriceEdit } from '../../../../domain/pricing/price-version.ts';
import { priceTerms as ratingTerms } from '../../../../domain/pricing/price.ts';
import type { ProrationBehavior } from '../../../../domain/pricing/proration.ts';
import { assertFits } from '../../../../domain/subscription/select-prices.ts';
import { laterOf } from '../../../../domain/time/instant.ts';
import { isoTime } from '../../../../platform/clock.ts';
import { failpoint } from '../../../../platform/failpoint.ts';
import type { Db, Scope, Transaction } from '../../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../../postgres/tables/outbox.ts';
import type {
  AddLineItemBody,
  ChangeLineItemBody,
  EndLineItemBody,
} from '../../../../schemas/subscription-line-items.ts';
import type { LineItemRow, SubscriptionRow } from '../../../../schemas/subscription.ts';
import { findPlanRows } from '../../../catalog/offers/plan-rows.ts';
import { groupOfCopy } from '../../../catalog/groups/repository.ts';
import {
  createPrices,
  getReferences,
  keptUnit,
  priceTerms,
} from '../../../catalog/prices/create-prices.ts';
import { findPrices, insertPrice, type PriceRow } from '../../../catalog/prices/repository.ts';
import { runCommand } from '../../../conventions/command.ts';
import { changed, newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { currencyByCode } from '../../../tenancy/settings/custom-currencies.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import { selectorOf } from '../../computing/line-questions.ts';
import { changeLineItem, getLineItem } from '../../records/line-item-repository.ts';
import { subscriptionSnapshot } from '../../records/subscription-notification.ts';
import {
  changeSubscription,
  getSubscription,
  insertLineItems,
  lockSubscription,
} from '../../records/subscription-repository.ts';
import { commitmentColumns, committedLine, type CommittedLine } from '../line-commitments.ts';
import { bucketsOf, lineItem, withMeterNames } from '../line-items.ts';
import { caughtUp } from './catch-up.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import { billedLine, billedLines, isBilledNow, replaceLine, rowOf } from './line-records.ts';
import { settleChange, writeChange } from '../../proration/settle-change.ts';

/**
 * Adds a line item to a subscription (billing 3.1, 5.2): an existing price, or a new price of the
 * subscription. By default it begins with the running period. Returns the line as stored.
 */
export async function addLineItem(
  deps: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  body: AddLineItemBody,
): Promise<LineItemRow> {
  return await inSubscription(deps, caller, subscriptionId, async (tx, subscription, at) => {
    const start = startOf(subscription, body);
    const price = await priceOf(tx, deps, caller, subscription, body, start);
    assertFits(price, { currency: subscription.currency, cadence: subscription }, 'price_id');
    if (price.end_date !== null && price.end_date <= start)
      throw invalidField('price_id', `${price.id} has ended by then`);
    if (body.end_date && body.end_date <= laterOf(start, price.start_date))
      throw invalidField('end_date', 'must be after the start of the line item');
    const after = await newLine(tx, deps, caller, subscription, price, body, start);
    await refuseRatedTwice(tx, caller.scope, after);
    await insertLineItems(tx, [rowOf(after)]);
    const swap = { before: null, after, effective_at: start };
    await settle(tx, deps, caller, subscription, swap, body.proration_behavior, at);
    return rowOf(after);
  });
}

/**
 * Changes the terms of a line item: the line ends at `effective_from`, and a new line begins there with a
 * price of the subscription (billing 2.7, 5.2). Earlier usage is rated by the old terms, and tiers restart. A
 * change of metadata only changes the line in place.
 */
export async function changeLineItemTerms(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: ChangeLineItemBody,
): Promise<LineItemRow> {
  const { subscription_id } = await getLineItem(deps.pool, caller.scope, id);
  return await inSubscription(deps, caller, subscription_id, async (tx, subscription, at) => {
    const line = await billedLine(tx, caller.scope, id);
    const { effective_from, metadata, proration_behavior, ...terms } = body;
    const isInPlace = Object.values(terms).every((value) => value === undefined || value === null);
    if (isInPlace && !effective_from) {
      if (!metadata) return rowOf(line);
      return await changeLineItem(tx, caller.scope, id, { metadata, ...changed(deps, caller) });
    }
    const from = effectiveFrom(subscription, line, effective_from, at);
    const price = await changedPrice(tx, deps, caller, subscription, line, terms, from);
    const after: BilledLine = {
      ...line,
      ...newRecord(deps, caller, 'subs_line'),
      price,
      terms: ratingTerms(price),
      price_id: price.id,
      display_name: price.display_name ?? line.display_name,
      metadata: metadata ?? line.metadata,
      ...changedCommitment(
        line,
        terms,
        committedLine(price, await bucketsOf(tx, caller, [price]), subscription),
      ),
      start_date: from,
    };
    await replaceLine(tx, deps, caller, line, after);
    const swap = { before: line, after, effective_at: from };
    await settle(tx, deps, caller, subscription, swap, proration_behavior, at);
    return rowOf(after);
  });
}

/** Ends a line item at `effective_from` (billing 5.2). Usage before it is billed. */
export async function endLineItem(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: EndLineItemBody,
): Promise<LineItemRow> {
  const { subscription_id } = await getLineItem(deps.pool, caller.scope, id);
  return await inSubscription(deps, caller, subscription_id, async (tx, subscription, at) => {
    const line = await billedLine(tx, caller.scope, id);
    const end_date = effectiveFrom(subscription, line, body.effective_from, at);
    const ended = await changeLineItem(tx, caller.scope, id, {
      end_date,
      ...changed(deps, caller),
    });
    const swap = { before: line, after: null, effective_at: end_date };
    await settle(tx, deps, caller, subscription, swap, body.proration_behavior, at);
    return ended;
  });
}

/** Runs a change of a subscription's lines under its lock, after everything due is billed. */
export async function inSubscription<Changed extends object>(
  deps: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  change: (tx: Transaction, subscription: SubscriptionRow, at: string) => Promise<Changed>,
): Promise<Changed> {
  return await runCommand<Changed>(deps, 'subscription', async () => {
    refuseUnchangeable(await getSubscription(deps.pool, caller.scope, subscriptionId));
    const known = await caughtUp(deps, caller, subscriptionId);
    return async (tx) => {
      const subscription = await lockSubscription(tx, caller.scope, subscriptionId);
      if (subscription.version !== known.version) return null;
      refuseUnchangeable(subscription);
      const line = await change(tx, subscription, isoTime(deps.clock.now()));
      const next = await changeSubscription(
        tx,
        caller.scope,
        subscriptionId,
        changed(deps, caller),
      );
      await writeOutboxEvents(tx, [
        {
          scope: caller.scope,
          event_type: 'subscription.updated',
          payload: { subscription: subscriptionSnapshot(next, null) },
        },
      ]);
      failpoint('api.change_line_items.before_commit');
      return line;
    };
  });
}

/** Refuses changes of lines of a cancelled or inherited subscription. */
export function refuseUnchangeable(subscription: SubscriptionRow): void {
  if (subscription.subscription_status === 'cancelled')
    throw invalidOperation('A cancelled subscription cannot be changed.', 'subscription_status');
  if (subscription.subscription_type === 'inherited')
    throw invalidOperation(
      'An inherited subscription cannot be changed; change its parent.',
      'subscription_type',
    );
}

function startOf(subscription: SubscriptionRow, body: AddLineItemBody): string {
  const { current_period_start, end_date } = subscription;
  const start = body.start_date ?? current_period_start;
  if (start < current_period_start)
    throw invalidField(
      'start_date',
      `must not be before the running period, which began at ${current_period_start}`,
    );
  if (end_date !== null && start >= end_date)
    throw invalidField('start_date', 'must be before the end of the subscription');
  return start;
}

async function priceOf(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  body: AddLineItemBody,
  start: string,
): Promise<PriceRow> {
  if (body.price) {
    const currency = body.price.currency ?? subscription.currency;
    const own = { entity_type: 'SUBSCRIPTION', entity_id: subscription.id } as const;
    const start_date = body.price.start_date ?? start;
    const definition = { ...body.price, ...own, currency, start_date };
    const [price] = await createPrices(tx, deps, caller, [definition], { bulk: false });
    return price!;
  }
  const [price] = await findPrices(tx, caller.scope, [body.price_id!]);
  if (price === undefined || price.status !== 'published') throw notFound('Price', body.price_id!);
  return price;
}

async function newLine(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  price: PriceRow,
  body: AddLineItemBody,
  start: string,
): Promise<BilledLine> {
  const own = await ownPlanName(tx, caller.scope, subscription, price);
  const owner = {
    subscription_id: subscription.id,
    customer_id: subscription.customer_id,
    plan: { id: subscription.plan_id, name: own || (price.display_name ?? '') },
    selection: {
      currency: subscription.currency,
      cadence: subscription,
      start,
      end: subscription.end_date,
      include_price_ids: null,
    },
    paid_from: start,
  };
  const line = lineItem(deps, caller, owner, price, {
    entity: entityOf(price, subscription),
    quantity: body.quantity,
    path: 'quantity',
    display_name: body.display_name,
    metadata: body.metadata,
    start_date: start,
    end_date: body.end_date,
    commitment: commitmentColumns(
      body,
      committedLine(price, await bucketsOf(tx, caller, [price]), subscription),
      'line_item',
    ),
  });
  const plan_display_name = price.entity_type === 'SUBSCRIPTION' ? line.display_name : own;
  const [named] = await withMeterNames(tx, caller, [{ ...line, plan_display_name }]);
  return named!;
}

/**
 * The plan's name on its own prices. A price of another plan is on the line without its plan, as recorded.
 */
async function ownPlanName(
  db: Db,
  scope: Scope,
  { plan_id }: SubscriptionRow,
  price: PriceRow,
): Promise<string> {
  if (price.entity_type !== 'PLAN' || price.entity_id !== plan_id) return '';
  const [plan] = await findPlanRows(db, scope, [plan_id]);
  return plan?.name ?? '';
}

function entityOf(price: PriceRow, subscription: SubscriptionRow) {
  if (price.entity_type === 'PLAN') {
    const isOwn = price.entity_id === subscription.plan_id;
    return { type: 'plan', id: isOwn ? price.entity_id : '' } as const;
  }
  if (price.entity_type === 'ADDON') return { type: 'addon', id: price.entity_id } as const;
  return { type: 'subscription', id: subscription.id } as const;
}

/** Refuses a usage line that would rate events of another line (billing 2.5). */
async function refuseRatedTwice(tx: Transaction, scope: Scope, line: BilledLine): Promise<void> {
  if (line.meter_id === null) return;
  const others = (await billedLines(tx, scope, line.subscription_id)).filter(
    ({ meter_id, start_date, end_date }) => meter_id === line.meter_id && start_date !== end_date,
  );
  refuseUsageRatedTwice([...others, line].map(selectorOf), 'price_id');
}

/** The instant of the change. Refuses an instant outside of the line or in a closed period. */
function effectiveFrom(
  subscription: SubscriptionRow,
  line: LineItemRow & { readonly price: PriceRow },
  requested: string | null | undefined,
  at: string,
): string {
  const ends = [null, subscription.end_date, line.price.end_date];
  if (!ends.includes(line.end_date))
    throw invalidOperation(`Line item ${line.id} already ends at ${line.end_date}.`, 'end_date');
  const earliest = laterOf(line.start_date, subscription.current_period_start);
  const from = requested ?? laterOf(at, earliest);
  if (from < earliest)
    throw invalidField('effective_from', `must not be before ${earliest}: earlier time is billed`);
  if (line.end_date !== null && from >= line.end_date)
    throw invalidField(
      'effective_from',
      `must be before the end of the line item, ${line.end_date}`,
    );
  return from;
}

type Terms = Omit<ChangeLineItemBody, 'effective_from' | 'metadata' | 'proration_behavior'>;

/**
 * The price with the terms of the request, as a price of the subscription; the line's own price if no term
 * changes.
 */
async function changedPrice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  { price }: BilledLine,
  { amount, billing_model, tier_mode, tiers, transform_quantity }: Terms,
  from: string,
): Promise<PriceRow> {
  const sent = { amount, billing_model, tier_mode, tiers, transform_quantity };
  const edit = Object.fromEntries(Object.entries(sent).filter(([, value]) => value != null));
  const plan = planPriceEdit({ ...price, end_date: null }, edit, from);
  if (plan.kind === 'in_place') return price;
  const definition = { ...plan.definition, end_date: price.end_date };
  const { unit } = await getReferences(
    tx,
    caller.scope,
    definition,
    null,
    await keptUnit(tx, caller.scope, price),
  );
  const { display_name, description, group_id, metadata } = price;
  return await insertPrice(tx, {
    ...newRecord(deps, caller, 'price'),
    ...priceTerms(definition, unit, await currencyByCode(tx, caller.scope, price.currency)),
    entity_type: 'SUBSCRIPTION',
    entity_id: subscription.id,
    parent_price_id: plan.parent_price_id,
    display_name,
    description,
    group_id: await groupOfCopy(tx, caller.scope, group_id),
    metadata,
    lookup_key: null,
  });
}

/**
 * The commitment with the fields of the request; unchanged without any. A cleared amount clears the
 * commitment.
 */
function changedCommitment(
  line: BilledLine,
  terms: Terms,
  committed: CommittedLine,
): Partial<LineItemRow> {
  const sent = {
    commitment_amount: terms.commitment_amount,
    commitment_quantity: terms.commitment_quantity,
    commitment_type: terms.commitment_type,
    commitment_duration: terms.commitment_duration,
    commitment_overage_factor: terms.commitment_overage_factor,
    commitment_true_up_enabled: terms.commitment_true_up_enabled,
    commitment_windowed: terms.commitment_windowed,
  };
  const given = Object.fromEntries(
    Object.entries(sent).filter(([, value]) => value !== undefined),
  ) as Partial<LineItemRow>;
  if (Object.keys(given).length === 0) return {};
  return commitmentColumns({ ...line, ...given }, committed, 'line_item');
}

/** Charges and credits the change now if behavior and cadence require it (billing 5.2). */
export async function settle(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  swap: LineSwap | readonly LineSwap[],
  requested: ProrationBehavior | null | undefined,
  at: string,
): Promise<void> {
  const all = 'effective_at' in swap ? [swap] : swap;
  const swaps = all.filter(({ effective_at }) => isBilledNow(subscription, effective_at));
  if (swaps.length === 0) return;
  const proration_behavior = requested ?? subscription.proration_behavior;
  const operation = { subscription, swaps, proration_behavior };
  const settled = await settleChange(deps, tx, caller, operation, at);
  const of = { kind: 'line_item', subscription, at };
  const { events } = await writeChange(tx, deps, caller, settled, of);
  await writeOutboxEvents(tx, [...events]);
}
