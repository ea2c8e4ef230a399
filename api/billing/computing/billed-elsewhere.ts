import type { BillingSources } from './billing-sources.ts';
import type { InvoiceTarget } from './invoice-target.ts';

/** Whether another living invoice already charges the service (billing 3.1). */
export function isBilledElsewhere(
  target: Pick<InvoiceTarget, 'invoice' | 'replaces'>,
  { billed }: Pick<BillingSources, 'billed'>,
  line: { readonly id: string },
  serviceStart: string,
): boolean {
  return (billed.get(line.id) ?? []).some(
    ({ invoice_id, period_start, kind }) =>
      kind === 'base' &&
      period_start === serviceStart &&
      invoice_id !== target.invoice?.id &&
      invoice_id !== target.replaces,
  );
}
