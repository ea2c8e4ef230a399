import { pinnedTaxes } from '../../../domain/invoicing/pinned-taxes.ts';
import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { resolveTaxes, type ResolvedTaxes } from '../../../domain/invoicing/tax-resolution.ts';
import type { TaxRow } from '../../../domain/invoicing/taxes.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { AppliedTaxRecord } from '../../../schemas/tax.ts';
import type { BillingDeps } from '../../deps.ts';
import type { BillingSources } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';

/**
 * The taxes of a computed invoice: those of the customer who pays (billing 8.1, 16), as they were when the
 * period was closed (billing 8.3). `currency` is the invoice's.
 */
export function taxesOf(
  target: Pick<InvoiceTarget, 'subscription' | 'period' | 'invoice'>,
  sources: Pick<BillingSources, 'customers' | 'taxes'>,
  currency: string,
): ResolvedTaxes {
  const pinned = pinnedTaxes(target.invoice?.pinned_taxes ?? null, target.period, sources.taxes);
  return pinned ?? currentTaxes(target, sources, currency);
}

function currentTaxes(
  { subscription, period }: Pick<InvoiceTarget, 'subscription' | 'period'>,
  sources: Pick<BillingSources, 'customers' | 'taxes'>,
  currency: string,
): ResolvedTaxes {
  const payer = payerOf(subscription);
  const { tax_treatment } = sources.customers.get(payer)!;
  const owners = new Set([subscription.id, payer, subscription.tenant_id]);
  return resolveTaxes(
    {
      tax_treatment,
      currency,
      period_start: period.start,
      period_end: period.end,
    },
    sources.taxes.filter(({ entity_id }) => owners.has(entity_id)),
  );
}

/**
 * The taxes of an invoice that is issued as computed: a later change of a rate does not change it
 * (billing 8.2). Stored with the highest priority first.
 */
export const storedTaxes = ({
  taxes,
  tax_summary,
}: Pick<InvoiceRecord, 'taxes' | 'tax_summary'>): ResolvedTaxes => ({
  exemption: tax_summary?.exemption ?? null,
  rates: taxes.map((tax, index) => ({
    tax_rate_id: tax.tax_rate_id,
    tax_association_id: tax.tax_association_id,
    percentage_value: tax.percentage_value,
    tax_behavior: tax.tax_behavior,
    priority: taxes.length - index,
  })),
});

/** The taxes of an invoice as stored; a tax that existed before keeps its id. */
export function taxRecords(
  deps: Pick<BillingDeps, 'ids'>,
  invoice: InvoiceRecord,
  rows: readonly TaxRow[],
): AppliedTaxRecord[] {
  return rows.map((row) => {
    const before = invoice.taxes.find(
      (tax) =>
        tax.tax_rate_id === row.tax_rate_id && tax.tax_association_id === row.tax_association_id,
    );
    return {
      id: before?.id ?? deps.ids.next('taxapp'),
      tenant_id: invoice.tenant_id,
      environment_id: invoice.environment_id,
      entity_type: 'invoice',
      entity_id: invoice.id,
      ...row,
      currency: invoice.currency,
      applied_at: invoice.updated_at,
      idempotency_key: null,
      metadata: {},
      status: 'published',
      created_at: before?.created_at ?? invoice.updated_at,
      updated_at: invoice.updated_at,
      created_by: before?.created_by ?? invoice.updated_by,
      updated_by: invoice.updated_by,
    };
  });
}
