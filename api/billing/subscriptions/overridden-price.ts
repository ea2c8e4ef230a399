import { overriddenTerms, type PriceEdit } from '../../../domain/pricing/price-version.ts';
import { laterOf } from '../../../domain/time/instant.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { OverrideLineItemRequest } from '../../../schemas/subscription-requests.ts';
import type { BillingDeps } from '../../deps.ts';
import { groupOfCopy } from '../../catalog/groups/repository.ts';
import { getReferences, keptUnit, priceTerms } from '../../catalog/prices/create-prices.ts';
import { insertPrice, type PriceRow } from '../../catalog/prices/repository.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { currencyByCode } from '../../tenancy/settings/custom-currencies.ts';
import type { LineItemOwner } from './line-item.ts';

/** The price with the override's terms, as a price of the subscription. */
export async function overriddenPrice(
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
