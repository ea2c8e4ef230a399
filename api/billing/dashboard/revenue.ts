import { decimal, decimalText, sum } from '../../../domain/money.ts';
import { lastMonths } from '../../../domain/time/last-months.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type {
  RevenueDashboard,
  RevenueDashboardBody,
  Revenues,
} from '../../../schemas/dashboard.ts';
import { groupBy } from '../../conventions/group-by.ts';
import { issuedRows } from './revenue-repository.ts';

/** Revenue of a period by customer and currency, largest first, and its total by currency. */
export async function revenueDashboard(
  db: Db,
  scope: Scope,
  { period_start, period_end, customer_ids }: RevenueDashboardBody,
): Promise<RevenueDashboard> {
  const items = await db<RevenueDashboard['items']>`
    select r.customer_id, c.name as customer_name, c.external_id as external_customer_id, r.currency,
           sum(r.net) as total_revenue,
           coalesce(sum(r.net) filter (where r.price_type = 'USAGE'), 0) as total_usage_revenue,
           coalesce(sum(r.net) filter (where r.price_type is distinct from 'USAGE'), 0) as total_fixed_revenue
      from (${issuedRows(db, scope, period_start, period_end)}) r
      join customers c on c.id = r.customer_id and ${inScope(db, scope, 'c')}
     where true ${customer_ids?.length ? db`and r.customer_id = any(${customer_ids})` : db``}
     group by r.customer_id, c.name, c.external_id, r.currency
     order by sum(r.net) desc, r.customer_id, r.currency`;
  const byCurrency = groupBy(items, (item) => item.currency);
  const total = (
    rows: RevenueDashboard['items'],
    key: 'total_revenue' | 'total_usage_revenue' | 'total_fixed_revenue',
  ) => decimalText(sum(rows.map((row) => decimal(row[key]))));
  return {
    summaries: Object.fromEntries(
      [...byCurrency].map(([currency, rows]) => [
        currency,
        {
          total_revenue: total(rows, 'total_revenue'),
          total_usage_revenue: total(rows, 'total_usage_revenue'),
          total_fixed_revenue: total(rows, 'total_fixed_revenue'),
        },
      ]),
    ),
    items: [...items],
  };
}

/** Monthly revenue, new subscriptions and payment states of invoices, for the last `count` months. */
export async function revenues(db: Db, scope: Scope, at: string, count: number): Promise<Revenues> {
  const months = lastMonths(at, count);
  const { start } = months[0]!;
  const between = { period_start: start, period_end: at };
  const [rows, plans, [paying]] = await Promise.all([
    db<{ currency: string; month: string; net: string }[]>`
      select currency, date_trunc('month', finalized_at at time zone 'UTC') at time zone 'UTC' as month,
             sum(net) as net
        from (${issuedRows(db, scope, start, null)}) r
       group by 1, 2 order by 1, 2`,
    db<{ plan_id: string; plan_name: string; count: number }[]>`
      select p.id as plan_id, p.name as plan_name, count(*)::int as count
        from subscriptions s join plans p on p.id = s.plan_id and ${inScope(db, scope, 'p')}
       where ${inScope(db, scope, 's')} and s.status = 'published'
         and s.created_at >= ${start}
       group by p.id, p.name order by count(*) desc, p.id`,
    db<{ paid: number; pending: number; failed: number }[]>`
      select count(*) filter (where payment_status in ('SUCCEEDED', 'OVERPAID'))::int as paid,
             count(*) filter (where payment_status in ('INITIATED', 'PENDING', 'PROCESSING'))::int as pending,
             count(*) filter (where payment_status = 'FAILED')::int as failed
        from invoices
       where ${inScope(db, scope)} and status = 'published' and invoice_status = 'FINALIZED'
         and finalized_at >= ${start}`,
  ]);
  const byCurrency = groupBy(rows, ({ currency }) => currency);
  const windowsOf = (ofCurrency: typeof rows) =>
    months.map((window) => ({
      window_start: window.start,
      window_end: window.end,
      window_label: window.start.slice(0, 7),
      total_revenue: ofCurrency.find(({ month }) => month === window.start)?.net ?? '0',
    }));
  return {
    revenue_trend: {
      currency_revenue_windows: Object.fromEntries(
        [...byCurrency].map(([currency, ofCurrency]) => [
          currency,
          { windows: windowsOf(ofCurrency as typeof rows) },
        ]),
      ),
      window_size: 'MONTH',
      window_count: count,
    },
    recent_subscriptions: {
      total_count: plans.reduce((total, plan) => total + plan.count, 0),
      plans: [...plans],
      ...between,
    },
    invoice_payment_status: { ...paying!, ...between },
  };
}
