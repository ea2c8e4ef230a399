import type { z } from 'zod';
import { inScope, oneOf, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { findPage } from '../../../postgres/search.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { Page } from '../../../schemas/search.ts';
import type { LineItemSearch } from '../../../schemas/subscription-line-items.ts';
import { LINE_ITEM_COLUMNS, type LineItemRow } from '../../../schemas/subscription.ts';

const lines = tableOf<LineItemRow>({
  name: 'subscription_line_items',
  noun: 'Subscription line item',
  columns: (db) => columnList(db, LINE_ITEM_COLUMNS),
  json: ['metadata'],
  only: 'published',
});

/** The line item, including ended ones. 404 if the id is unknown or belongs to another scope. */
export const getLineItem = lines.get;

/** Changes a line item. The caller holds the lock of its subscription. */
export async function changeLineItem(
  tx: Transaction,
  scope: Scope,
  id: string,
  change: Parameters<typeof lines.change>[3] & { readonly updated_at: string },
): Promise<LineItemRow> {
  const ended = 'end_date' in change ? { end_set_at: change.updated_at } : {};
  return await lines.change(tx, scope, id, { ...change, ...ended });
}

/** Marks line items that began or ended in a running period without prorations (billing 12.4). */
export async function markUnsettled(
  tx: Transaction,
  scope: Scope,
  ids: readonly string[],
  periodStart: string,
): Promise<void> {
  await tx`
    update subscription_line_items set unsettled_in = ${periodStart}
     where ${inScope(tx, scope)} and id ${oneOf(tx, ids)}`;
}

interface LineItemChange {
  readonly updated_at: string;
  readonly updated_by: string;
}

/**
 * Ends line items, each at its own date, or at its start if that is later. The caller holds the lock of their
 * subscription.
 */
export async function endLineItems(
  tx: Transaction,
  scope: Scope,
  ends: readonly { readonly id: string; readonly end_date: string }[],
  change: LineItemChange,
): Promise<void> {
  if (ends.length === 0) return;
  await tx`
    update subscription_line_items i
       set ${tx(change)}, end_date = greatest(i.start_date, ended.end_date), end_set_at = ${change.updated_at}
      from unnest(${ends.map(({ id }) => id)}::text[], ${ends.map(({ end_date }) => end_date)}::timestamptz[])
           as ended (id, end_date)
     where ${inScope(tx, scope, 'i')} and i.id = ended.id and i.status = 'published'`;
}

/** Moves line items to prices of another plan. The caller holds the lock of their subscription. */
export async function moveLineItems(
  tx: Transaction,
  scope: Scope,
  moves: readonly { readonly id: string; readonly price_id: string }[],
  plan: { readonly id: string; readonly name: string },
  change: LineItemChange,
): Promise<void> {
  if (moves.length === 0) return;
  await tx`
    update subscription_line_items i
       set ${tx(change)}, price_id = moved.price_id, entity_id = ${plan.id}, plan_display_name = ${plan.name}
      from unnest(${moves.map(({ id }) => id)}::text[], ${moves.map(({ price_id }) => price_id)}::text[])
           as moved (id, price_id)
     where ${inScope(tx, scope, 'i')} and i.id = moved.id and i.status = 'published'`;
}

/** A page of line items, including ended ones. `at` decides which are active, if the filter asks for that. */
export function searchLineItems(
  db: Db,
  scope: Scope,
  filter: z.output<typeof LineItemSearch.body>,
  at: string,
): Promise<Page<LineItemRow>> {
  const { search } = filter;
  const where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
    ${filter.subscription_line_item_ids?.length ? db`and id = any(${filter.subscription_line_item_ids})` : db``}
    ${filter.subscription_ids?.length ? db`and subscription_id = any(${filter.subscription_ids})` : db``}
    ${filter.customer_ids?.length ? db`and customer_id = any(${filter.customer_ids})` : db``}
    ${filter.price_ids?.length ? db`and price_id = any(${filter.price_ids})` : db``}
    ${filter.meter_ids?.length ? db`and meter_id = any(${filter.meter_ids})` : db``}
    ${filter.entity_ids?.length ? db`and entity_id = any(${filter.entity_ids})` : db``}
    ${filter.entity_type ? db`and entity_type = ${filter.entity_type}` : db``}
    ${filter.addon_association_ids?.length ? db`and addon_association_id = any(${filter.addon_association_ids})` : db``}
    ${filter.billing_periods?.length ? db`and billing_period = any(${filter.billing_periods as string[]})` : db``}
    ${filter.currencies?.length ? db`and currency = any(${filter.currencies})` : db``}
    ${
      filter.active_filter || filter.current_period_start
        ? db`and start_date <= ${at} and (end_date is null or end_date > ${at})`
        : db``
    }`;
  return findPage<LineItemRow>(db, {
    columns: columnList(db, LINE_ITEM_COLUMNS),
    from: db`subscription_line_items`,
    where,
    search,
  });
}
