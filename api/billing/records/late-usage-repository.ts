import type { z } from 'zod';
import type { SettledShare } from '../../../domain/invoicing/late-usage.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { columnList } from '../../../postgres/parameters.ts';
import { insertRows } from '../../../postgres/insert-rows.ts';
import { findPage } from '../../../postgres/search.ts';
import {
  INVOICE_COLUMNS,
  type InvoiceRecord,
  type StoredWatermarks,
} from '../../../schemas/invoice.ts';
import type { LateUsageSearch, SETTLED_AS } from '../../../schemas/late-usage.ts';
import type { Page } from '../../../schemas/search.ts';

/** A row of `late_usage_settlements`. */
export interface LateUsageSettlementRecord {
  /** The one-off invoice or the credit note. */
  readonly document_id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  /** The invoice with late usage. */
  readonly invoice_id: string;
  readonly settled_as: (typeof SETTLED_AS)[number];
  readonly shares: readonly SettledShare[];
  readonly usage_watermarks: StoredWatermarks;
  readonly created_at: string;
  readonly created_by: string;
}

const SETTLEMENT_COLUMNS = [
  'document_id', 'tenant_id', 'environment_id', 'invoice_id', 'settled_as', 'shares', 'usage_watermarks',
  'created_at', 'created_by',
] as const satisfies readonly (keyof LateUsageSettlementRecord)[]; // prettier-ignore

/** Stores the settlement. */
export const insertLateUsageSettlement = (
  tx: Transaction,
  settlement: LateUsageSettlementRecord,
): Promise<void> => insertRows(tx, 'late_usage_settlements', [settlement]);

/** How many settlements the invoice has had, voided ones included. */
export async function countLateUsageSettlements(
  db: Db,
  scope: Scope,
  invoiceId: string,
): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count from late_usage_settlements
     where ${inScope(db, scope)} and invoice_id = ${invoiceId}`;
  return row!.count;
}

/**
 * The settlements of the invoices that count, oldest first. A settlement counts while its document is not
 * void. A one-off invoice that was edited after its issue is void and replaced: then the replacement decides.
 */
export function lateUsageSettlements(
  db: Db,
  scope: Scope,
  invoiceIds: readonly string[],
): Promise<LateUsageSettlementRecord[]> {
  return db<LateUsageSettlementRecord[]>`
    with recursive wanted as (
      select ${columnList(db, SETTLEMENT_COLUMNS)} from late_usage_settlements
       where ${inScope(db, scope)} and invoice_id = any(${invoiceIds as string[]}::text[])
    ), versions as (
      select w.document_id, i.invoice_status, i.recalculated_invoice_id
        from wanted w
        join invoices i on i.id = w.document_id and ${inScope(db, scope, 'i')}
      union
      select v.document_id, i.invoice_status, i.recalculated_invoice_id
        from versions v
        join invoices i on i.id = v.recalculated_invoice_id and ${inScope(db, scope, 'i')}
    )
    select ${columnList(db, SETTLEMENT_COLUMNS, 'w')} from wanted w
     where exists (select from versions v
                    where v.document_id = w.document_id and v.invoice_status <> 'VOIDED')
        or exists (select from credit_notes n
                    where n.id = w.document_id and ${inScope(db, scope, 'n')}
                      and n.credit_note_status <> 'VOIDED')
     order by w.created_at, w.document_id`;
}

export type LateUsageFilter = z.output<typeof LateUsageSearch.body>;

/**
 * A page of invoices whose usage can be compared with today's, newest first: final invoices of subscriptions for a
 * period, which store the watermarks they were computed with.
 */
export function searchSettleableInvoices(
  db: Db,
  scope: Scope,
  filter: LateUsageFilter,
): Promise<Page<InvoiceRecord>> {
  const { invoice_ids, customer_id, subscription_id, period_start_gte, period_end_lte } = filter;
  const where = db`${inScope(db, scope)} and status = 'published'
    and invoice_type = 'SUBSCRIPTION' and invoice_status in ('FINALIZED', 'SKIPPED')
    and usage_watermarks is not null and subscription_id is not null and revision = 0
    ${invoice_ids?.length ? db`and id = any(${invoice_ids})` : db``}
    ${customer_id ? db`and customer_id = ${customer_id}` : db``}
    ${subscription_id ? db`and subscription_id = ${subscription_id}` : db``}
    ${period_start_gte ? db`and period_start >= ${period_start_gte}` : db``}
    ${period_end_lte ? db`and period_end <= ${period_end_lte}` : db``}`;
  const { search } = filter;
  return findPage<InvoiceRecord>(db, {
    columns: columnList(db, INVOICE_COLUMNS),
    from: db`invoices`,
    where,
    search,
  });
}
