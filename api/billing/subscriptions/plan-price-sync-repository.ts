import {
  inScope,
  type Db,
  type Fragment,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import type { Caller } from '../../conventions/record.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';

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
