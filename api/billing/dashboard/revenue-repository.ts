import type { Instant } from '../../../domain/time/instant.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';

/**
 * Rows of invoices issued in the period and still valid. Invoices that sell credits are not revenue: the usage that
 * the credits pay is. Voided and skipped invoices never are (money 19.12). `net` is the row's amount after its
 * discounts. A null end means now: nothing is issued later.
 */
export const issuedRows = (
  db: Db,
  scope: Scope,
  start: Instant,
  end: Instant | null,
): Fragment => db`
  select i.customer_id, i.currency, i.finalized_at, l.price_type,
         l.amount - l.line_item_discount - l.invoice_level_discount as net
    from invoices i
    join invoice_line_items l on l.invoice_id = i.id and l.status = 'published'
   where ${inScope(db, scope, 'i')} and i.status = 'published'
     and i.invoice_status = 'FINALIZED' and i.invoice_type <> 'CREDIT'
     and not exists (select from wallet_transactions t
                      where ${inScope(db, scope, 't')} and t.source_id = i.id and t.source_type = 'INVOICE'
                        and t.transaction_reason = 'PURCHASED_CREDIT_INVOICED')
     and i.finalized_at >= ${start}
     ${end === null ? db`` : db`and i.finalized_at < ${end}`}`;
