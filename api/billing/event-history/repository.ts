import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { StoredWatermarks } from '../../../schemas/invoice.ts';

/** A final invoice of a period, with the positions below which its usage was read. */
export interface FinalInvoice {
  readonly id: string;
  readonly invoice_number: string | null;
  readonly subscription_id: string;
  readonly invoice_status: 'FINALIZED' | 'SKIPPED';
  readonly usage_watermarks: StoredWatermarks;
}

/**
 * Final invoices of the subscriptions whose period holds the instant, oldest first. Edited ones are left out: they
 * are billed by their rows (billing 17.6).
 */
export async function finalInvoicesAt(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
  at: string,
): Promise<FinalInvoice[]> {
  if (subscriptionIds.length === 0) return [];
  return await db<FinalInvoice[]>`
    select id, nullif(invoice_number, '') as invoice_number, subscription_id, invoice_status, usage_watermarks
      from invoices
     where ${inScope(db, scope)} and status = 'published'
       and subscription_id = any(${subscriptionIds as string[]}::text[])
       and invoice_type = 'SUBSCRIPTION' and invoice_status in ('FINALIZED', 'SKIPPED')
       and usage_watermarks is not null and revision = 0
       and period_start <= ${at} and ${at} < period_end
     order by created_at, id`;
}
