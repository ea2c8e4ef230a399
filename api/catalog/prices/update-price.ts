import { BillingError } from '../../../domain/errors.ts';
import { planPriceEdit, type PriceEdit } from '../../../domain/pricing/price-version.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { UpdatePriceBody } from '../../../schemas/price.ts';
import type { BillingDeps } from '../../deps.ts';
import { assertPriceGroup } from '../groups/repository.ts';
import { getMeter } from '../meters/repository.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import { currencyByCode } from '../../tenancy/settings/custom-currencies.ts';
import { getReferences, keptUnit, priceTerms } from './create-prices.ts';
import { findEntityName } from '../offers/entity-repository.ts';
import { insertPrice, lockPrice, updatePriceRow, type PriceRow } from './repository.ts';

/**
 * Changes a price: text in place, terms by ending the price and starting its next version at the same instant
 * (billing 2.7). Returns the price in force from then on.
 */
export async function updatePrice(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: UpdatePriceBody,
): Promise<PriceRow> {
  const { scope } = caller;
  // Locks the group before its member, as archiving a group does, to avoid a deadlock.
  if (body.group_id) await assertPriceGroup(tx, scope, body.group_id);
  const price = await lockPrice(tx, scope, id);
  const plan = await planVersion(tx, scope, price, body, isoTime(deps.clock.now()));
  const text = { ...textChanges(price, body), display_name: await nameOf(tx, scope, price, body) };
  if (plan.kind === 'in_place')
    return await updatePriceRow(tx, scope, id, { ...text, ...changed(deps, caller) });

  await updatePriceRow(tx, scope, id, { end_date: plan.effective_from, ...changed(deps, caller) });
  return await insertPrice(tx, {
    ...newRecord(deps, caller, 'price'),
    ...plan.terms,
    entity_type: price.entity_type,
    entity_id: price.entity_id,
    parent_price_id: plan.parent_price_id,
    ...text,
  });
}

/** What an update makes of the price: the checked terms of its next version, or a change in place (billing 2.7). */
export async function planVersion(
  tx: Transaction,
  scope: Scope,
  price: PriceRow,
  body: UpdatePriceBody,
  at: string,
) {
  const plan = planPriceEdit(price, pricingEdit(body), at);
  if (plan.kind === 'in_place') return plan;
  const unit = await keptUnit(tx, scope, price);
  const terms = await inFieldsOfUpdate(async () => {
    await getReferences(tx, scope, plan.definition, null, unit);
    return priceTerms(plan.definition, unit, await currencyByCode(tx, scope, price.currency));
  });
  return { ...plan, terms };
}

/** The terms in the request. The bucket is the only term that can be cleared. */
function pricingEdit(body: UpdatePriceBody): PriceEdit {
  const { display_name, description, lookup_key, metadata, group_id, bucket_size, ...terms } = body;
  const given = Object.entries(terms).filter(([, value]) => value != null);
  return { ...Object.fromEntries(given), ...(bucket_size === undefined ? {} : { bucket_size }) };
}

/** Absent means unchanged, null clears. */
function textChanges(price: PriceRow, body: UpdatePriceBody) {
  return {
    description: body.description === undefined ? price.description : body.description,
    lookup_key: body.lookup_key === undefined ? price.lookup_key : body.lookup_key,
    metadata: body.metadata ?? price.metadata,
    group_id: body.group_id === undefined ? price.group_id : body.group_id,
  };
}

/** A cleared name falls back to the default at creation: the name of the meter or of the owner. */
async function nameOf(
  tx: Transaction,
  scope: Scope,
  price: PriceRow,
  { display_name }: UpdatePriceBody,
): Promise<string | null> {
  if (display_name !== null) return display_name ?? price.display_name;
  if (price.meter_id !== null) return (await getMeter(tx, scope, price.meter_id)).name;
  return await findEntityName(tx, scope, price.entity_type, price.entity_id);
}

/** Maps error paths: the rules use the unit fields of a create, an update has its own. */
async function inFieldsOfUpdate<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    const renamed = (text: string) =>
      text
        .replace(/^price_unit_config\.amount/, 'price_unit_amount')
        .replace(/^price_unit_config\.price_unit_tiers/, 'price_unit_tiers');
    const details = error.details.map((detail) => ({ ...detail, path: renamed(detail.path) }));
    const { kind, code, message, error_count } = error;
    throw new BillingError(kind, code, renamed(message), details, error_count);
  }
}
