import { invalidField, notFound } from '../../../domain/errors.ts';
import { decimalText } from '../../../domain/money.ts';
import { refuseUsageRatedTwice } from '../../../domain/pricing/filter-values.ts';
import { lineQuantity } from '../../../domain/pricing/line-quantity.ts';
import { overriddenTerms, type PriceEdit } from '../../../domain/pricing/price-version.ts';
import { priceTerms as ratingTerms } from '../../../domain/pricing/price.ts';
import {
  assertFits,
  selectPlanPrices,
  type PriceSelection,
} from '../../../domain/subscription/select-prices.ts';
import type { PhaseWindow } from '../../../domain/subscription/phases.ts';
import { earlierOf, laterOf } from '../../../domain/time/instant.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type {
  CreateSubscriptionBody,
  LineItemRequest,
  OverrideLineItemRequest,
} from '../../../schemas/subscription-requests.ts';
import type { LineItemRow } from '../../../schemas/subscription.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import { selectorOf } from '../computing/line-questions.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { groupOfCopy } from '../../catalog/groups/repository.ts';
import { findMeters } from '../../catalog/meters/repository.ts';
import { getReferences, keptUnit, priceTerms } from '../../catalog/prices/create-prices.ts';
import {
  findPrices,
  findPricesOfEntities,
  insertPrice,
  type PriceRow,
} from '../../catalog/prices/repository.ts';
import { widenMeters } from '../../catalog/prices/widen-meters.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { currencyByCode } from '../../tenancy/settings/custom-currencies.ts';
import {
  commitmentColumns,
  committedLine,
  NO_COMMITMENT,
  withCommitments,
  type Buckets,
  type SubscriptionCommitting,
} from './line-commitments.ts';
import { lineOfPrice } from './line-of-price.ts';

/** The context of a new subscription's line items. */
export interface LineItemOwner {
  readonly subscription_id: string;
  readonly customer_id: string;
  readonly plan: { readonly id: string; readonly name: string };
  readonly selection: PriceSelection;
  /**
   * When paid service begins: the start, or the end of the trial. One-time fees of the plan are due at this
   * time.
   */
  readonly paid_from: string;
  /** The phase of the lines; absent or null means the whole subscription. */
  readonly subscription_phase_id?: string | null;
}

/** A part of a request that makes line items: the subscription's, or that of one of its phases. */
type LinesRequest = Pick<
  CreateSubscriptionBody,
  'line_items' | 'override_line_items' | 'line_item_commitments'
>;

/**
 * The line items of a new subscription: the selected prices of the plan, with other terms where overridden,
 * then its own prices (billing 10.1). Lists and invoices keep this order. Overridden terms become a
 * price of the subscription and replace the plan's price.
 */
export async function newLineItems(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  selected: readonly PriceRow[],
  body: LinesRequest & SubscriptionCommitting,
): Promise<BilledLine[]> {
  const lines = await requestedLines(tx, deps, caller, owner, selected, { body, within: '' });
  const meters = await bucketsOf(tx, caller, lines);
  const commitments = body.line_item_commitments;
  return await checkedLines(
    tx,
    caller,
    withCommitments(lines, commitments, { meters, subscription: body }),
  );
}

/** A new phase and the prices of the plan that it takes. */
export interface PhaseOfLines extends PhaseWindow {
  readonly id: string;
  readonly request: LinesRequest;
  /** Path of the phase in the request, followed by a dot. */
  readonly within: string;
  readonly selected: readonly PriceRow[];
}

/**
 * The line items of phases, each in the time of its phase (billing 11). Overrides and commitments of the
 * subscription hold in every phase that has none of its own for the price; lines of the subscription are in
 * no phase. A one-time price of the plan is in the first phase, and in another one only if overridden there.
 */
export async function newPhaseLines(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  phases: readonly PhaseOfLines[],
  body: LinesRequest & SubscriptionCommitting,
): Promise<BilledLine[]> {
  const all: BilledLine[] = [];
  assertSelected(
    body.override_line_items ?? [],
    phases.flatMap(({ selected }) => selected),
    '',
  );
  for (const [index, phase] of phases.entries()) {
    const { request, within, start_date: start, end_date: end } = phase;
    const own = request.override_line_items ?? [];
    assertSelected(own, phase.selected, within);
    const inPhase: LineItemOwner = {
      ...owner,
      subscription_phase_id: phase.id,
      selection: { ...owner.selection, start, end },
      paid_from: laterOf(start, owner.paid_from),
    };
    const selected = phase.selected.filter(
      (price) =>
        index === 0 ||
        price.billing_period !== 'ONETIME' ||
        own.some(({ price_id }) => price_id === price.id),
    );
    const inherited = (body.override_line_items ?? []).filter(
      ({ price_id }) => !own.some((override) => override.price_id === price_id),
    );
    const lines = await requestedLines(tx, deps, caller, inPhase, selected, {
      body: request,
      within,
      inherited,
    });
    const isHere = (priceId: string) =>
      lines.some(({ price }) => price.id === priceId || price.parent_price_id === priceId);
    const common = Object.entries(body.line_item_commitments ?? {}).filter(
      ([priceId]) => isHere(priceId) && request.line_item_commitments?.[priceId] === undefined,
    );
    const context = { meters: await bucketsOf(tx, caller, lines), subscription: body };
    const committed = withCommitments(lines, request.line_item_commitments, { ...context, within });
    all.push(...withCommitments(committed, Object.fromEntries(common), context));
  }
  for (const [index, request] of (body.line_items ?? []).entries())
    all.push(await ownLineItem(tx, deps, caller, owner, request, `line_items[${index}]`));
  for (const priceId of Object.keys(body.line_item_commitments ?? {}))
    if (!all.some(({ price }) => price.id === priceId || price.parent_price_id === priceId))
      lineOfPrice(all, priceId, `line_item_commitments.${priceId}`);
  return await checkedLines(tx, caller, all);
}

async function checkedLines(
  tx: Transaction,
  caller: Caller,
  lines: readonly BilledLine[],
): Promise<BilledLine[]> {
  const usage = lines.filter(({ meter_id }) => meter_id !== null);
  refuseUsageRatedTwice(usage.map(selectorOf));
  return await withMeterNames(tx, caller, lines);
}

/** The plan's prices with their overrides, then the own ones of the request. */
async function requestedLines(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  selected: readonly PriceRow[],
  {
    body,
    within,
    inherited = [],
  }: {
    readonly body: LinesRequest;
    readonly within: string;
    /** Overrides of the subscription that hold in its phase. */
    readonly inherited?: readonly OverrideLineItemRequest[];
  },
): Promise<BilledLine[]> {
  const overrides = body.override_line_items ?? [];
  assertSelected(overrides, selected, within);

  const lines: BilledLine[] = [];
  for (const planPrice of selected) {
    const isOf = ({ price_id }: OverrideLineItemRequest) => price_id === planPrice.id;
    const index = overrides.findIndex(isOf);
    const override = overrides[index] ?? inherited.find(isOf);
    const place = `${within}override_line_items[${index}]`;
    const price =
      override === undefined
        ? planPrice
        : await overriddenPrice(tx, deps, caller, owner, planPrice, override).catch(
            (error: unknown) => {
              throw below(error, place);
            },
          );
    const path = override === undefined ? 'quantity' : `${place}.quantity`;
    const draft = {
      quantity: override?.quantity,
      entity: { type: 'plan', id: owner.plan.id },
    } as const;
    lines.push(lineItem(deps, caller, owner, price, { ...draft, path }));
  }
  for (const [index, request] of (body.line_items ?? []).entries())
    lines.push(
      await ownLineItem(tx, deps, caller, owner, request, `${within}line_items[${index}]`),
    );
  return lines;
}

/** The plan's prices that a new subscription takes: fixed prices before usage prices, each oldest first. */
export async function selectedPrices(
  tx: Transaction,
  caller: Caller,
  planId: string,
  selection: PriceSelection,
  askedAt: string,
): Promise<{ readonly selected: PriceRow[]; readonly sequence: number }> {
  const newestFirst = await findPricesOfEntities(tx, caller.scope, 'PLAN', [planId], null);
  const prices = newestFirst.toReversed();
  const fixedFirst = prices.toSorted(
    (left, right) => Number(left.type === 'USAGE') - Number(right.type === 'USAGE'),
  );
  return {
    selected: selectPlanPrices(fixedFirst, selection, askedAt),
    sequence: Math.max(0, ...prices.map((price) => price.sequence)),
  };
}

function assertSelected(
  overrides: readonly OverrideLineItemRequest[],
  selected: readonly PriceRow[],
  within: string,
): void {
  overrides.forEach(({ price_id }, index) => {
    if (!selected.some(({ id }) => id === price_id))
      throw invalidField(
        `${within}override_line_items[${index}].price_id`,
        `${price_id} is not a price that the subscription takes from the plan`,
      );
  });
}

/** The price with the override's terms, as a price of the subscription. */
async function overriddenPrice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  planPrice: PriceRow,
  override: OverrideLineItemRequest,
): Promise<PriceRow> {
  const { parent_price_id, definition } = overriddenTerms(
    planPrice,
    pricingEdit(override),
    laterOf(owner.selection.start, planPrice.start_date),
  );
  const kept = await keptUnit(tx, caller.scope, planPrice);
  const { unit } = await getReferences(tx, caller.scope, definition, null, kept);
  const { display_name, description, group_id, metadata } = planPrice;
  return await insertPrice(tx, {
    ...newRecord(deps, caller, 'price'),
    ...priceTerms(definition, unit, await currencyByCode(tx, caller.scope, planPrice.currency)),
    entity_type: 'SUBSCRIPTION',
    entity_id: owner.subscription_id,
    parent_price_id,
    display_name,
    description,
    group_id: await groupOfCopy(tx, caller.scope, group_id),
    metadata,
    lookup_key: null,
  });
}

/** The terms in the request; null means unset. */
function pricingEdit({ price_id: _, quantity: __, ...terms }: OverrideLineItemRequest): PriceEdit {
  return Object.fromEntries(Object.entries(terms).filter(([, value]) => value != null));
}

/** A price in addition to the plan's prices: an existing price, or a new one of the subscription. */
async function ownLineItem(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  request: LineItemRequest,
  path: string,
): Promise<BilledLine> {
  const named = request.price ? `${path}.price` : `${path}.price_id`;
  const price = await requestedPrice(tx, deps, caller, owner, request, path);
  assertFits(price, owner.selection, named);
  const { start, end } = owner.selection;
  if (price.end_date !== null && price.end_date <= (request.start_date ?? start))
    throw invalidField(named, 'has ended by then');
  if (
    request.start_date &&
    (request.start_date < start || (end !== null && request.start_date >= end))
  )
    throw invalidField(`${path}.start_date`, 'must lie within the subscription');
  if (request.end_date && request.end_date <= (request.start_date ?? start))
    throw invalidField(`${path}.end_date`, 'must be after the start');
  return lineItem(deps, caller, owner, price, {
    entity: entityOf(price, owner),
    quantity: request.quantity,
    path: `${path}.quantity`,
    display_name: request.display_name,
    metadata: request.metadata,
    start_date: request.start_date,
    end_date: request.end_date,
    commitment: commitmentColumns(
      request,
      committedLine(price, await bucketsOf(tx, caller, [price]), {}),
      path,
    ),
  });
}

async function requestedPrice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  { price: own, price_id }: LineItemRequest,
  path: string,
): Promise<PriceRow> {
  if (Boolean(own) === Boolean(price_id))
    throw invalidField(
      `${path}.price_id`,
      own ? 'and price exclude each other' : 'is required, or price is',
    );
  if (own)
    return await ownPrice(tx, deps, caller, owner, own).catch((error: unknown) => {
      throw below(error, `${path}.price`);
    });
  const [price] = await findPrices(tx, caller.scope, [price_id!]);
  if (price === undefined || price.status !== 'published') throw notFound('Price', price_id!);
  return price;
}

/** A new price that only this subscription has, in its currency. */
async function ownPrice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  body: NonNullable<LineItemRequest['price']>,
): Promise<PriceRow> {
  const { scope } = caller;
  const definition = { ...body, currency: owner.selection.currency };
  const { meter, unit } = await getReferences(tx, scope, definition, body.group_id ?? null);
  if (meter !== null && meter.status !== 'published')
    throw invalidField('meter_id', `Meter ${meter.id} is ${meter.status}`);
  const record = newRecord(deps, caller, 'price');
  const price = await insertPrice(tx, {
    ...record,
    ...priceTerms(definition, unit, await currencyByCode(tx, scope, definition.currency)),
    entity_type: 'SUBSCRIPTION',
    entity_id: owner.subscription_id,
    parent_price_id: record.id,
    display_name: body.display_name ?? meter?.name ?? null,
    description: body.description ?? null,
    lookup_key: body.lookup_key ?? null,
    metadata: body.metadata ?? {},
    group_id: body.group_id ?? null,
  });
  await widenMeters(tx, deps, caller, [price]);
  return price;
}

function entityOf(price: PriceRow, owner: LineItemOwner) {
  switch (price.entity_type) {
    case 'PLAN':
      return { type: 'plan', id: price.entity_id } as const;
    case 'ADDON':
      return { type: 'addon', id: price.entity_id } as const;
    default:
      return { type: 'subscription', id: owner.subscription_id } as const;
  }
}

interface LineItemDraft {
  readonly entity: { readonly type: LineItemRow['entity_type']; readonly id: string };
  readonly quantity: string | null | undefined;
  /** Path of the quantity in the request. */
  readonly path: string;
  readonly display_name?: string | null;
  readonly metadata?: Record<string, string> | null;
  readonly start_date?: string | null;
  readonly end_date?: string | null;
  readonly commitment?: typeof NO_COMMITMENT;
  readonly addon_association_id?: string;
}

/** Builds a line item of the price; writes nothing. */
export function lineItem(
  deps: BillingDeps,
  caller: Caller,
  owner: LineItemOwner,
  price: PriceRow,
  draft: LineItemDraft,
): BilledLine {
  const terms = ratingTerms(price);
  const isOneTime = price.billing_period === 'ONETIME';
  const from = isOneTime ? owner.paid_from : owner.selection.start;
  const end = draft.end_date ?? owner.selection.end;
  return {
    ...newRecord(deps, caller, 'subs_line'),
    subscription_id: owner.subscription_id,
    customer_id: owner.customer_id,
    subscription_phase_id: owner.subscription_phase_id ?? null,
    addon_association_id: draft.addon_association_id ?? null,
    entity_type: draft.entity.type,
    entity_id: draft.entity.id,
    price_id: price.id,
    price_type: price.type,
    price_unit: price.price_unit,
    price_unit_id: price.price_unit_id,
    meter_id: price.meter_id,
    meter_display_name: null,
    plan_display_name: draft.entity.type === 'plan' ? owner.plan.name : null,
    display_name: draft.display_name ?? price.display_name ?? owner.plan.name,
    currency: price.currency,
    quantity: decimalText(lineQuantity(terms, draft.quantity, draft.path)),
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
    invoice_cadence: price.invoice_cadence,
    trial_period: price.trial_period,
    start_date: laterOf(
      laterOf(draft.start_date ?? from, isOneTime ? from : null),
      price.start_date,
    ),
    end_date: end === null ? price.end_date : earlierOf(end, price.end_date),
    ...(draft.commitment ?? NO_COMMITMENT),
    metadata: draft.metadata ?? {},
    price,
    terms,
  };
}

/** The buckets of the meters. */
export async function bucketsOf(
  tx: Transaction,
  caller: Caller,
  owners: readonly { readonly meter_id: string | null }[],
): Promise<Buckets> {
  const ids = [...new Set(owners.flatMap(({ meter_id }) => meter_id ?? []))];
  const meters = await findMeters(tx, caller.scope, ids);
  return new Map(meters.map(({ id, aggregation }) => [id, aggregation.bucket_size]));
}

/** The lines with the names of their meters. */
export async function withMeterNames(
  tx: Transaction,
  caller: Caller,
  lines: readonly BilledLine[],
): Promise<BilledLine[]> {
  const meterIds = [...new Set(lines.flatMap(({ meter_id }) => meter_id ?? []))];
  const meters = await findMeters(tx, caller.scope, meterIds);
  const names = new Map(meters.map(({ id, name }) => [id, name]));
  return lines.map((line) => ({
    ...line,
    meter_display_name: names.get(line.meter_id ?? '') ?? null,
  }));
}
