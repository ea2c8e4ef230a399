import type { Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { ApiDeps } from '../../deps.ts';
import { getTenant } from '../../tenancy/tenants/repository.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { deductionNames } from '../records/deduction-names.ts';
import { printedInvoice } from './printed-invoice.ts';

/** The stored invoice as a PDF file. The same invoice and settings give the same bytes. */
export async function printInvoice(
  deps: Pick<ApiDeps, 'pool' | 'pdf'>,
  scope: Scope,
  invoice: InvoiceRecord,
  options: { readonly hasAnnex: boolean },
): Promise<Uint8Array> {
  const { pool } = deps;
  const [lines, customer, tenant, config, names] = await Promise.all([
    linesOfInvoices(pool, scope, [invoice.id]),
    getCustomer(pool, scope, invoice.customer_id),
    getTenant(pool, scope.tenant_id),
    readSetting(pool, scope, 'invoice_pdf_config'),
    deductionNames(pool, scope, invoice),
  ]);
  return await deps.pdf.render(
    printedInvoice({ invoice, lines, customer, tenant, config, names, ...options }),
  );
}
