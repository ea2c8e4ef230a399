import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import type { Caller } from '../../conventions/record.ts';
import {
  LINE_ITEM_COLUMNS,
  SUBSCRIPTION_COLUMNS,
  type LineItemRow,
  type SubscriptionRow,
} from '../../../schemas/subscription.ts';

/** States of subscriptions whose prices follow their plan. */
export const LIVE = ['active', 'trialing', 'draft', 'incomplete', 'paused'];

const syncable = (db: Db, scope: Scope, planId: string): Fragment => db`
  ${inScope(db, scope)} and plan_id = ${planId} and status = 'published'
  and subscription_status = any(${LIVE}) and subscription_type <> 'inherited'`;

/** Number of running subscriptions of the plan. */
export async function countSyncable(db: Db, scope: Scope, planId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::integer as count from subscriptions where ${syncable(db, scope, planId)}`;
  return row!.count;
}

/** Ids of the plan's running subscriptions in id order, after one id. */
export async function syncableSubscriptions(
  db: Db,
  scope: Scope,
  page: {
    readonly plan_id: string;
    readonly created_until: string;
    readonly after: string;
    readonly limit: number;
  },
): Promise<string[]> {
  const rows = await db<{ id: string }[]>`
    select id from subscriptions
     where ${syncable(db, scope, page.plan_id)}
       and id > ${page.after} and created_at <= ${page.created_until}
     order by id
     limit ${page.limit}`;
  return rows.map(({ id }) => id);
}

/** Lines of the plan's running subscriptions on any version of a price that last beyond the instant, by id. */
export function linesOfPrice(
  db: Db,
  scope: Scope,
  price: { readonly plan_id: string; readonly parent_price_id: string },
  after: string,
  limit: number,
): Promise<LineItemRow[]> {
  return db<LineItemRow[]>`
    select ${columnList(db, LINE_ITEM_COLUMNS)} from subscription_line_items
     where ${inScope(db, scope)} and status = 'published'
       and price_id in (select id from prices
                         where ${inScope(db, scope)} and parent_price_id = ${price.parent_price_id})
       and subscription_id in (select id from subscriptions
                                where ${syncable(db, scope, price.plan_id)})
       and (end_date is null or end_date > ${after})
     order by id limit ${limit}`;
}

/**
 * The quantity that the last final invoice of each line was rated with. Missing for a line without one, and for one
 * whose windows or groups were rated separately.
 */
export async function lastRatedQuantities(
  db: Db,
  scope: Scope,
  lineIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db<{ id: string; quantity: string | null }[]>`
    select id, case when jsonb_array_length(step -> 'ratings') = 1 and step ->> 'omitted' is null
                    then step #>> '{ratings,0,quantity}' end as quantity
      from unnest(${lineIds as string[]}::text[]) as line(id)
     cross join lateral (
           select jsonb_path_query_first(l.explanation, '$.steps[*] ? (@.step == "rate")') as step
             from invoice_line_items l
             join invoices i on i.id = l.invoice_id and ${inScope(db, scope, 'i')}
            where ${inScope(db, scope, 'l')} and l.holds_slot and l.kind = 'base'
              and l.subscription_line_item_id = line.id and i.invoice_status = 'FINALIZED'
            order by l.period_start desc limit 1) last`;
  return new Map(rows.flatMap(({ id, quantity }) => (quantity === null ? [] : [[id, quantity]])));
}

/** Start of the oldest period that is not finalized: nothing before it changes. */
export async function openFrom(
  tx: Transaction,
  { scope }: Caller,
  { id, current_period_start }: SubscriptionRow,
): Promise<string> {
  const [row] = await tx<{ start: string | null }[]>`
    select min(period_start) as start from invoices
     where ${inScope(tx, scope)} and subscription_id = ${id} and status = 'published'
       and (invoice_status = 'DRAFT' or finalize_after is not null)`;
  const start = row?.start ?? current_period_start;
  return start < current_period_start ? start : current_period_start;
}

/** Whether the plan has prices newer than the subscription's last price sync (billing 2.8). */
export async function isBehindPlan(db: Db, scope: Scope, row: SubscriptionRow): Promise<boolean> {
  const [found] = await db`
    select 1 from prices
     where ${inScope(db, scope)} and entity_type = 'PLAN' and entity_id = ${row.plan_id}
       and sequence > ${row.synced_price_sequence}
     limit 1`;
  return found !== undefined;
}

/** Notes up to which price of its plan the subscription was compared. Writes nothing if that is noted already. */
export async function noteUnchangedPrices(
  tx: Transaction,
  scope: Scope,
  id: string,
  sequence: number,
): Promise<void> {
  await tx`
    update subscriptions set synced_price_sequence = ${sequence}
     where ${inScope(tx, scope)} and id = ${id} and synced_price_sequence <> ${sequence}`;
}

/** The same for a subscription whose line items have changed: its version increases. Returns it as stored. */
export async function noteChangedPrices(
  tx: Transaction,
  scope: Scope,
  id: string,
  sequence: number,
  change: { readonly updated_at: string; readonly updated_by: string },
): Promise<SubscriptionRow> {
  const [row] = await tx<SubscriptionRow[]>`
    update subscriptions
       set ${tx(change)}, synced_price_sequence = ${sequence}, version = version + 1
     where ${inScope(tx, scope)} and id = ${id}
    returning ${columnList(tx, SUBSCRIPTION_COLUMNS)}`;
  return row!;
}
