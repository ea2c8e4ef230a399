import { decimal, decimalText, sum } from '../../../domain/money.ts';
import { isUnpaid, unpaidSummary } from '../../../domain/invoicing/unpaid.ts';
import { isoTime } from '../../../platform/clock.ts';
import { type Scope } from '../../../postgres/client.ts';
import type { CustomerInvoiceSummary, InvoiceSummary } from '../../../schemas/customer-view.ts';
import type { BillingDeps } from '../../deps.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import {
  type Billed,
  type Open,
  billedByCurrency,
  openInvoices,
  subscribedCurrencies,
} from './invoice-summary-repository.ts';

/**
 * What a customer was billed and owes, by currency. Currencies are those of the finalized invoices and of the
 * subscriptions. The open part of an invoice is split into usage and fixed charges: the two add up to the
 * unpaid amount, before discounts, credits and payments (money 2.8.5). 404 if unknown.
 */
export async function customerInvoiceSummary(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  customerId: string,
): Promise<CustomerInvoiceSummary> {
  const at = isoTime(deps.clock.now());
  const customer = await getCustomer(deps.pool, scope, customerId);
  const [billed, open, subscribed] = await Promise.all([
    billedByCurrency(deps.pool, scope, customerId),
    openInvoices(deps.pool, scope, customerId),
    subscribedCurrencies(deps.pool, scope, customerId),
  ]);
  const latest = [...billed].sort((a, b) => (a.latest < b.latest ? 1 : -1))[0]?.currency;
  const first = customer.billing_currency ?? subscribed[0] ?? latest ?? null;
  const others = new Set([...subscribed, ...billed.map(({ currency }) => currency)].sort());
  const currencies = first === null ? [] : [...new Set([first, ...others])];
  return {
    customer_id: customerId,
    default_currency: first ?? '',
    summaries: currencies.map((currency) =>
      summaryOf(
        customerId,
        currency,
        billed.find((row) => row.currency === currency),
        open,
        at,
      ),
    ),
  };
}

function summaryOf(
  customer_id: string,
  currency: string,
  billed: Billed | undefined,
  invoices: readonly Open[],
  at: string,
): InvoiceSummary {
  const unpaid = invoices.filter((invoice) => invoice.currency === currency && isUnpaid(invoice));
  const overdue = unpaid.filter(({ due_date }) => due_date !== null && due_date < at);
  const sums = unpaidSummary(unpaid, currency);
  return {
    customer_id,
    currency,
    total_revenue_amount: billed?.total ?? '0',
    total_unpaid_amount: sums.total_unpaid_amount,
    unpaid_usage_charges: sums.total_unpaid_usage_charges,
    unpaid_fixed_charges: sums.total_unpaid_fixed_charges,
    total_overdue_amount: decimalText(
      sum(overdue.map(({ amount_remaining }) => decimal(amount_remaining))),
    ),
    total_invoice_count: billed?.count ?? 0,
    unpaid_invoice_count: unpaid.length,
    overdue_invoice_count: overdue.length,
  };
}
