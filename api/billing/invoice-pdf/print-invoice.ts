import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { findTaxRates } from '../../catalog/taxes/repository.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { ApiDeps } from '../../deps.ts';
import { getTenant } from '../../tenancy/tenants/repository.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
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
    namesOf(pool, scope, invoice),
  ]);
  return await deps.pdf.render(
    printedInvoice({ invoice, lines, customer, tenant, config, names, ...options }),
  );
}

/** Names of the coupons, as they were when applied, and of the tax rates. */
async function namesOf(
  db: Db,
  scope: Scope,
  { coupon_applications, taxes }: InvoiceRecord,
): Promise<ReadonlyMap<string, string>> {
  const rates = await findTaxRates(
    db,
    scope,
    taxes.map(({ tax_rate_id }) => tax_rate_id),
  );
  const coupons = coupon_applications.map(({ coupon_id, coupon_snapshot }): [string, string] => [
    coupon_id,
    String(coupon_snapshot['name'] ?? coupon_id),
  ]);
  return new Map([...coupons, ...rates.map(({ id, name }): [string, string] => [id, name])]);
}
