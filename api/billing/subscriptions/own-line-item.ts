import { invalidField } from '../../../domain/errors.ts';
import { assertFits } from '../../../domain/subscription/select-prices.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { LineItemRequest } from '../../../schemas/subscription-requests.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BilledLine } from '../computing/billing-sources.ts';
import { getReferences, priceTerms } from '../../catalog/prices/create-prices.ts';
import { insertPrice, type PriceRow } from '../../catalog/prices/repository.ts';
import { widenMeters } from '../../catalog/prices/widen-meters.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { currencyByCode } from '../../tenancy/settings/custom-currencies.ts';
import { commitmentColumns, committedLine } from './line-commitments.ts';
import { type LineItemOwner, lineItem, bucketsOf } from './line-item.ts';
import { namedPrice } from './named-price.ts';

/** A price in addition to the plan's prices: an existing price, or a new one of the subscription. */
export async function ownLineItem(
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
      own ? 'and price exclude each other' : 'is required unless price is sent',
    );
  if (own)
    return await ownPrice(tx, deps, caller, owner, own).catch((error: unknown) => {
      throw below(error, `${path}.price`);
    });
  const { scope } = caller;
  return await namedPrice(tx, scope, owner.subscription_id, price_id!, `${path}.price_id`);
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
