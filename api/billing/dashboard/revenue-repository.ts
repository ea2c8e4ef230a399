import type { Instant } from '../../../domain/time/instant.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import type { RevenueDashboard, RevenueDashboardBody } from '../../../schemas/dashboard.ts';

/**
 * Rows of invoices issued in the period and still valid. Invoices that sell credits are not revenue: the usage that
 * the credits pay is. Voided and skipped invoices never are (money 19.12). `net` is the row's amount after its
 * discounts. A null end means now: nothing is issued later.
 */
const issuedRows = (db: Db, scope: Scope, start: Instant, end: Instant | null): Fragment => db`
  select i.customer_id, i.currency, i.finalized_at, l.price_type,
         l.amount - l.line_item_discount - l.invoice_level_discount as net
    from invoices i
    join invoice_line_items l on l.invoice_id = i.id and l.status = 'published'
   where ${inScope(db, scope, 'i')} and i.status = 'published'
     and i.invoice_status = 'FINALIZED' and i.invoice_type <> 'CREDIT'
     and not exists (select from wallet_transactions t
                      where ${inScope(db, scope, 't')} and t.source_id = i.id and t.source_type = 'INVOICE'
                        and t.transaction_reason = 'PURCHASED_CREDIT_INVOICED')
     and i.finalized_at >= ${start}
     ${end === null ? db`` : db`and i.finalized_at < ${end}`}`;

/** Revenue of the period by customer and currency, largest first; of all customers unless some are named. */
export async function revenueByCustomer(
  db: Db,
  scope: Scope,
  { period_start, period_end, customer_ids }: RevenueDashboardBody,
): Promise<RevenueDashboard['items']> {
  return await db<RevenueDashboard['items']>`
    select r.customer_id, c.name as customer_name, c.external_id as external_customer_id, r.currency,
           sum(r.net) as total_revenue,
           coalesce(sum(r.net) filter (where r.price_type = 'USAGE'), 0) as total_usage_revenue,
           coalesce(sum(r.net) filter (where r.price_type is distinct from 'USAGE'), 0) as total_fixed_revenue
      from (${issuedRows(db, scope, period_start, period_end)}) r
      join customers c on c.id = r.customer_id and ${inScope(db, scope, 'c')}
     where true ${customer_ids?.length ? db`and r.customer_id = any(${customer_ids})` : db``}
     group by r.customer_id, c.name, c.external_id, r.currency
     order by sum(r.net) desc, r.customer_id, r.currency`;
}

/** Revenue of one currency in one month. */
export interface MonthlyRevenue {
  readonly currency: string;
  /** The first instant of the month, in UTC. */
  readonly month: Instant;
  readonly net: string;
}

/** Revenue since `start` by currency and month, in this order; months without revenue are left out. */
export async function revenueByMonth(
  db: Db,
  scope: Scope,
  start: Instant,
): Promise<MonthlyRevenue[]> {
  return await db<MonthlyRevenue[]>`
    select currency, date_trunc('month', finalized_at at time zone 'UTC') at time zone 'UTC' as month,
           sum(net) as net
      from (${issuedRows(db, scope, start, null)}) r
     group by 1, 2 order by 1, 2`;
}

/** How many subscriptions were made since `start`, by plan, the most first; plans without any are left out. */
export async function subscriptionsByPlanSince(
  db: Db,
  scope: Scope,
  start: Instant,
): Promise<{ plan_id: string; plan_name: string; count: number }[]> {
  return await db<{ plan_id: string; plan_name: string; count: number }[]>`
    select p.id as plan_id, p.name as plan_name, count(*)::int as count
      from subscriptions s join plans p on p.id = s.plan_id and ${inScope(db, scope, 'p')}
     where ${inScope(db, scope, 's')} and s.status = 'published'
       and s.created_at >= ${start}
     group by p.id, p.name order by count(*) desc, p.id`;
}

/** How many invoices finalized since `start` are paid, wait for a payment, and have a failed one. */
export async function paymentStatesSince(
  db: Db,
  scope: Scope,
  start: Instant,
): Promise<{ paid: number; pending: number; failed: number }> {
  const [row] = await db<{ paid: number; pending: number; failed: number }[]>`
    select count(*) filter (where payment_status in ('SUCCEEDED', 'OVERPAID'))::int as paid,
           count(*) filter (where payment_status in ('INITIATED', 'PENDING', 'PROCESSING'))::int as pending,
           count(*) filter (where payment_status = 'FAILED')::int as failed
      from invoices
     where ${inScope(db, scope)} and status = 'published' and invoice_status = 'FINALIZED'
       and finalized_at >= ${start}`;
  return row!;
}
