import type { Instant } from '../../../domain/time/instant.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import type { RevenueDashboard, RevenueDashboardBody } from '../../../schemas/dashboard.ts';

/** Which invoices `i` are issued since `start` and still valid: voided and skipped ones are not (money 19.12). */
const isIssued = (db: Db, scope: Scope, start: Instant): Fragment => db`
    ${inScope(db, scope, 'i')} and i.status = 'published' and i.invoice_status = 'FINALIZED'
    and i.finalized_at >= ${start}`;

/** Which invoices `i` are revenue. Those that sell credits are not: the usage that the credits pay is. */
const isRevenue = (db: Db): Fragment => db`
    (i.invoice_type <> 'CREDIT' and i.purchased_transaction_id is null)`;

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
      from (select i.customer_id, i.currency, l.price_type,
                   l.amount - l.line_item_discount - l.invoice_level_discount as net
              from invoices i
              join invoice_line_items l on l.invoice_id = i.id and l.status = 'published'
             where ${isIssued(db, scope, period_start)} and ${isRevenue(db)}
               and i.finalized_at < ${period_end}) r
      join customers c on c.id = r.customer_id and ${inScope(db, scope, 'c')}
     where true ${customer_ids?.length ? db`and r.customer_id = any(${customer_ids})` : db``}
     group by r.customer_id, c.name, c.external_id, r.currency
     order by sum(r.net) desc, r.customer_id, r.currency`;
}

/** Finalized invoices of one currency and one month that have one payment status and are revenue, or are not. */
export interface IssuedInvoices {
  readonly currency: string;
  /** The first instant of the month, in UTC. */
  readonly month: Instant;
  readonly payment_status: string;
  readonly is_revenue: boolean;
  readonly net: string;
  readonly count: number;
}

/**
 * Invoices issued since `start`, added up, by currency and month. An invoice stores the sums of its rows and of their
 * discounts, computed with the rows and written with them (`domain/invoicing/build-invoice.ts`): the rows are not
 * read, and one statement over an index of the invoices answers revenue and payment states. CPU with 200,000
 * invoices: 240 ms; the rows and the states, each in a statement over the tables, took 1,290 ms.
 * `test/simulation/business-year.test.ts` compares with the rows.
 */
export async function issuedByMonth(
  db: Db,
  scope: Scope,
  start: Instant,
): Promise<IssuedInvoices[]> {
  return await db<IssuedInvoices[]>`
    select i.currency, date_trunc('month', i.finalized_at at time zone 'UTC') at time zone 'UTC' as month,
           i.payment_status, ${isRevenue(db)} as is_revenue,
           sum(i.subtotal) - sum(i.total_discount) as net, count(*)::int as count
      from invoices i
     where ${isIssued(db, scope, start)}
     group by 1, 2, 3, 4 order by 1, 2, 3, 4`;
}

/** How many subscriptions were made since `start`, by plan, the most first; plans without any are left out. */
export async function subscriptionsByPlanSince(
  db: Db,
  scope: Scope,
  start: Instant,
): Promise<{ plan_id: string; plan_name: string; count: number }[]> {
  return await db<{ plan_id: string; plan_name: string; count: number }[]>`
    select p.id as plan_id, p.name as plan_name, s.count
      from (select plan_id, count(*)::int as count from subscriptions
             where ${inScope(db, scope)} and status = 'published' and created_at >= ${start}
             group by plan_id) s
      join plans p on p.id = s.plan_id and ${inScope(db, scope, 'p')}
     order by s.count desc, p.id`;
}
