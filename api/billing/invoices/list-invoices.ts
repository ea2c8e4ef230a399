import type { Scope } from '../../../postgres/client.ts';
import { TAX_RATES_EXPAND, type Invoice } from '../../../schemas/invoice.ts';
import type { Page } from '../../../schemas/search.ts';
import type { BillingDeps } from '../../deps.ts';
import { invoiceAnswers } from './answers.ts';
import { searchInvoices, type InvoiceFilter } from '../records/invoice-repository.ts';

/** Invoices of every status, including skipped ones, with their rows unless excluded. */
export async function listInvoices(
  { pool: db }: Pick<BillingDeps, 'pool'>,
  scope: Scope,
  filter: InvoiceFilter,
): Promise<Page<Invoice>> {
  const { search } = filter;
  const page = await searchInvoices(db, scope, filter);
  const items = await invoiceAnswers(db, scope, page.items, {
    line_items: filter.skip_line_items !== true,
    customer: true,
    subscription: search.expand.has('subscription'),
    tax_rates: search.expand.has(TAX_RATES_EXPAND),
  });
  return { ...page, items };
}
