import { invalidField } from '../../../../domain/errors.ts';
import { refuseUsageRatedTwice } from '../../../../domain/pricing/filter-values.ts';
import { assertFits } from '../../../../domain/subscription/select-prices.ts';
import { laterOf } from '../../../../domain/time/instant.ts';
import type { Db, Scope, Transaction } from '../../../../postgres/client.ts';
import type { AddLineItemBody } from '../../../../schemas/subscription-line-items.ts';
import type { SubscriptionPhase } from '../../../../schemas/subscription-phase.ts';
import type { LineItemRow, SubscriptionRow } from '../../../../schemas/subscription.ts';
import { findPlanRows } from '../../../catalog/offers/plan-repository.ts';
import { createPrices } from '../../../catalog/prices/create-prices.ts';
import type { PriceRow } from '../../../catalog/prices/repository.ts';
import { below } from '../../../conventions/bulk-error.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import { selectorOf } from '../../computing/usage-selectors.ts';
import { insertLineItems } from '../../records/subscription-repository.ts';
import { commitmentColumns, committedLine } from '../line-commitments.ts';
import { bucketsOf, lineItem, withMeterNames } from '../line-item.ts';
import { namedPrice } from '../named-price.ts';
import { getPhase } from '../edit-phases.ts';
import { billedLines, rowOf } from './line-records.ts';
import { settlementOf } from '../../computing/settlement-currency.ts';
import { inSubscription, openFrom, settle } from './line-item-change.ts';

/**
 * Adds a line item to a subscription (billing 3.1, 5.2): an existing price, or a new price of the
 * subscription. By default it begins with the running period, or with a pause after it. Returns the line as stored.
 */
export async function addLineItem(
  deps: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  body: AddLineItemBody,
): Promise<LineItemRow> {
  return await inSubscription(deps, caller, subscriptionId, async (tx, subscription, at) => {
    const phase = body.subscription_phase_id
      ? await getPhase(tx, caller.scope, subscriptionId, body.subscription_phase_id)
      : null;
    const start = startOf(subscription, phase, body);
    const price = await priceOf(tx, deps, caller, subscription, body, start);
    const settlement = await settlementOf(tx, caller.scope, subscription.currency);
    const { currency } = subscription;
    const default_currency = settlement?.currency ?? null;
    assertFits(price, { currency, default_currency, cadence: subscription }, 'price_id');
    if (price.end_date !== null && price.end_date <= start)
      throw invalidField('price_id', `${price.id} has ended by then`);
    if (body.end_date && body.end_date <= laterOf(start, price.start_date))
      throw invalidField('end_date', 'must be after the start of the line item');
    const after = await newLine(tx, deps, caller, subscription, phase, price, body, start);
    await refuseRatedTwice(tx, caller.scope, after);
    await insertLineItems(tx, [rowOf(after)]);
    const swap = { before: null, after, effective_at: start };
    await settle(tx, deps, caller, subscription, swap, body.proration_behavior, at);
    return rowOf(after);
  });
}

/** By default the line begins with its phase, or with the time that is not billed yet. */
function startOf(
  subscription: SubscriptionRow,
  phase: SubscriptionPhase | null,
  body: AddLineItemBody,
): string {
  const { current_period_start, end_date } = subscription;
  const open = openFrom(subscription);
  const earliest = phase === null ? open : laterOf(open, phase.start_date);
  const start = body.start_date ?? earliest;
  if (phase !== null && start < phase.start_date)
    throw invalidField(
      'start_date',
      `must not be before the phase, which begins at ${phase.start_date}`,
    );
  if (start < earliest) {
    const began = earliest === current_period_start ? 'running period' : 'pause';
    throw invalidField('start_date', `must not be before the ${began}, which began at ${earliest}`);
  }
  if (phase?.end_date && start >= phase.end_date)
    throw invalidField('subscription_phase_id', `the phase ends at ${phase.end_date}`);
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
    const [price] = await createPrices(tx, deps, caller, [definition], { bulk: false }).catch(
      (error: unknown) => {
        throw below(error, 'price');
      },
    );
    return price!;
  }
  return await namedPrice(tx, caller.scope, subscription.id, body.price_id!, 'price_id');
}

async function newLine(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  phase: SubscriptionPhase | null,
  price: PriceRow,
  body: AddLineItemBody,
  start: string,
): Promise<BilledLine> {
  const own = await ownPlanName(tx, caller.scope, subscription, price);
  const owner = {
    subscription_id: subscription.id,
    customer_id: subscription.customer_id,
    subscription_phase_id: phase?.id ?? null,
    plan: { id: subscription.plan_id, name: own || (price.display_name ?? '') },
    selection: {
      currency: subscription.currency,
      cadence: subscription,
      start,
      end: phase === null ? subscription.end_date : phase.end_date,
      include_price_ids: null,
    },
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
      '',
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
