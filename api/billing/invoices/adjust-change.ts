import { editedCharges } from '../../../domain/pricing/edited-charges.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { addChangeRows } from '../records/subscription-change-repository.ts';

interface WithRows {
  readonly invoice: InvoiceRecord;
  readonly lines: readonly InvoiceLineRecord[];
}

/**
 * After an edit of an invoice: the change that the invoice charges counts what the edited rows charge, so later credits
 * follow them (billing 5.3). `after.invoice` is the invoice that charges the change now.
 */
export async function adjustChange(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  before: WithRows,
  after: WithRows,
): Promise<void> {
  if (after.invoice.billing_reason !== 'SUBSCRIPTION_UPDATE') return;
  const rows = editedCharges(chargedBy(before), chargedBy(after));
  await addChangeRows(tx, caller.scope, after.invoice.id, rows, changed(deps, caller));
}

const chargedBy = ({ invoice, lines }: WithRows) => ({
  rows: lines,
  exclusive_tax: invoice.tax_summary?.exclusive_tax ?? '0',
});
