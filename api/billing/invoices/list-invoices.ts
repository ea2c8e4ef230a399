import type { z } from 'zod';
import { inScope, type Scope } from '../../../postgres/client.ts';
import { TAX_RATES_EXPAND, type Invoice, type InvoiceSearch } from '../../../schemas/invoice.ts';
import type { Page } from '../../../schemas/search.ts';
import type { BillingDeps } from '../../deps.ts';
import { invoiceAnswers } from './answers.ts';
import { searchInvoices } from '../records/invoice-repository.ts';

type InvoiceFilter = z.output<typeof InvoiceSearch.body>;

/** Invoices of every status, including skipped ones, with their rows unless excluded. */
export async function listInvoices(
  { pool: db }: Pick<BillingDeps, 'pool'>,
  scope: Scope,
  filter: InvoiceFilter,
): Promise<Page<Invoice>> {
  const { search } = filter;
  const where = db`${inScope(db, scope)} and status = ${search.status ?? 'published'}
    ${filter.invoice_ids?.length ? db`and id = any(${filter.invoice_ids})` : db``}
    ${filter.customer_id ? db`and customer_id = ${filter.customer_id}` : db``}
    ${
      filter.external_customer_id
        ? db`and customer_id in (select id from customers c where ${inScope(db, scope, 'c')}
              and c.external_id = ${filter.external_customer_id})`
        : db``
    }
    ${filter.subscription_id ? db`and subscription_id = ${filter.subscription_id}` : db``}
    ${filter.subscription_customer_id?.length ? db`and subscription_customer_id = any(${filter.subscription_customer_id})` : db``}
    ${filter.invoice_type ? db`and invoice_type = ${filter.invoice_type}` : db``}
    ${filter.invoice_status?.length ? db`and invoice_status = any(${filter.invoice_status as string[]})` : db``}
    ${filter.payment_status?.length ? db`and payment_status = any(${filter.payment_status as string[]})` : db``}
    ${filter.billing_reason ? db`and billing_reason = ${filter.billing_reason}` : db``}
    ${filter.currency ? db`and currency = ${filter.currency.toLowerCase()}` : db``}
    ${filter.amount_due_gt ? db`and amount_due > ${filter.amount_due_gt}::numeric` : db``}
    ${filter.amount_remaining_gt ? db`and amount_remaining > ${filter.amount_remaining_gt}::numeric` : db``}
    ${filter.period_start_gte ? db`and period_start >= ${filter.period_start_gte}` : db``}
    ${filter.period_start_lte ? db`and period_start <= ${filter.period_start_lte}` : db``}
    ${filter.period_end_gte ? db`and period_end >= ${filter.period_end_gte}` : db``}
    ${filter.period_end_lte ? db`and period_end <= ${filter.period_end_lte}` : db``}`;
  const page = await searchInvoices(db, where, search);
  const items = await invoiceAnswers(db, scope, page.items, {
    line_items: filter.skip_line_items !== true,
    customer: true,
    subscription: search.expand.has('subscription'),
    tax_rates: search.expand.has(TAX_RATES_EXPAND),
  });
  return { ...page, items };
}
