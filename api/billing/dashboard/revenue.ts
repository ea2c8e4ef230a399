import { decimal, decimalText, sum } from '../../../domain/money.ts';
import { lastMonths } from '../../../domain/time/last-months.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type {
  RevenueDashboard,
  RevenueDashboardBody,
  Revenues,
} from '../../../schemas/dashboard.ts';
import { groupBy } from '../../../domain/group-by.ts';
import {
  issuedByMonth,
  revenueByCustomer,
  subscriptionsByPlanSince,
  type IssuedInvoices,
} from './revenue-repository.ts';

/** Revenue of a period by customer and currency, largest first, and its total by currency. */
export async function revenueDashboard(
  db: Db,
  scope: Scope,
  body: RevenueDashboardBody,
): Promise<RevenueDashboard> {
  const items = await revenueByCustomer(db, scope, body);
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
  const [issued, plans] = await Promise.all([
    issuedByMonth(db, scope, start),
    subscriptionsByPlanSince(db, scope, start),
  ]);
  const revenue = issued.filter(({ is_revenue }) => is_revenue);
  const windowsOf = (ofCurrency: readonly IssuedInvoices[]) =>
    months.map((window) => {
      const own = ofCurrency.filter(({ month }) => month === window.start);
      return {
        window_start: window.start,
        window_end: window.end,
        window_label: window.start.slice(0, 7),
        total_revenue: decimalText(sum(own.map(({ net }) => decimal(net)))),
      };
    });
  return {
    revenue_trend: {
      currency_revenue_windows: Object.fromEntries(
        [...groupBy(revenue, ({ currency }) => currency)].map(([currency, ofCurrency]) => [
          currency,
          { windows: windowsOf(ofCurrency) },
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
    invoice_payment_status: {
      paid: counted(issued, ['SUCCEEDED', 'OVERPAID']),
      pending: counted(issued, ['INITIATED', 'PENDING', 'PROCESSING']),
      failed: counted(issued, ['FAILED']),
      ...between,
    },
  };
}

/** How many invoices have one of these payment states. */
const counted = (issued: readonly IssuedInvoices[], states: readonly string[]): number =>
  issued
    .filter(({ payment_status }) => states.includes(payment_status))
    .reduce((total, { count }) => total + count, 0);
