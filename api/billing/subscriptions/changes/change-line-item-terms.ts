import { planPriceEdit } from '../../../../domain/pricing/price-version.ts';
import { priceTerms as ratingTerms } from '../../../../domain/pricing/price.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type { ChangeLineItemBody } from '../../../../schemas/subscription-line-items.ts';
import type { LineItemRow, SubscriptionRow } from '../../../../schemas/subscription.ts';
import { groupOfCopy } from '../../../catalog/groups/repository.ts';
import { getReferences, keptUnit, priceTerms } from '../../../catalog/prices/create-prices.ts';
import { insertPrice, type PriceRow } from '../../../catalog/prices/repository.ts';
import { changed, newRecord, type Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import { currencyByCode } from '../../../tenancy/settings/custom-currencies.ts';
import type { BilledLine } from '../../computing/billing-sources.ts';
import { changeLineItem, getLineItem } from '../../records/line-item-repository.ts';
import { commitmentColumns, committedLine, type CommittedLine } from '../line-commitments.ts';
import { bucketsOf } from '../line-item.ts';
import { billedLine, replaceLines, rowOf } from './line-records.ts';
import { inSubscription, effectiveFrom, settle } from './line-item-change.ts';

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
    await replaceLines(tx, deps, caller, [{ before: line, after }]);
    const swap = { before: line, after, effective_at: from };
    await settle(tx, deps, caller, subscription, swap, proration_behavior, at);
    return rowOf(after);
  });
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
  return commitmentColumns({ ...line, ...given }, committed, '');
}
