import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

/**
 * SQL of the column `lines` of an invoice `i`: its published rows added up by price type, as
 * `domain/invoicing/unpaid.ts` splits an open amount. Part of a `select … from invoices i`.
 */
export const openInvoiceLines = (db: Db, scope: Scope) => db`
  (select coalesce(jsonb_agg(to_jsonb(l)), '[]') from (
     select price_type, sum(amount)::text as amount,
            sum(line_item_discount)::text as line_item_discount,
            sum(invoice_level_discount)::text as invoice_level_discount,
            sum(prepaid_credits_applied)::text as prepaid_credits_applied
       from invoice_line_items
      where ${inScope(db, scope)} and invoice_id = i.id and status = 'published'
      group by price_type) l) as lines`;
