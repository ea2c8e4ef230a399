import type { OpenInvoice } from '../../../domain/invoicing/unpaid.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { openInvoiceLines } from '../records/open-invoice-line-repository.ts';

export interface Billed {
  readonly currency: string;
  readonly total: string;
  readonly count: number;
  /** Creation time of the newest invoice. */
  readonly latest: string;
}

export type Open = OpenInvoice & { readonly due_date: string | null };

const finalized = (db: Db, scope: Scope, customerId: string) => db`
  ${inScope(db, scope, 'i')} and i.customer_id = ${customerId}
  and i.invoice_status = 'FINALIZED' and i.status = 'published'`;

/** Sums of the customer's finalized invoices, one row for each currency. */
export function billedByCurrency(db: Db, scope: Scope, customerId: string): Promise<Billed[]> {
  return db<Billed[]>`
    select currency, sum(total) as total, count(*)::int as count, max(created_at) as latest
      from invoices i where ${finalized(db, scope, customerId)} group by currency`;
}

/** Finalized invoices with an open amount, the rows of each price type added up. */
export async function openInvoices(db: Db, scope: Scope, customerId: string): Promise<Open[]> {
  return await db<Open[]>`
    select i.currency, i.invoice_status, i.payment_status, i.amount_paid, i.amount_remaining, i.due_date,
           ${openInvoiceLines(db, scope)}
      from invoices i
     where ${finalized(db, scope, customerId)} and i.amount_remaining > 0
       and i.payment_status <> 'SUCCEEDED'`;
}

/** Currencies of the subscriptions that have not ended, oldest first. */
export async function subscribedCurrencies(
  db: Db,
  scope: Scope,
  customerId: string,
): Promise<string[]> {
  const rows = await db<{ currency: string }[]>`
    select currency from subscriptions
     where ${inScope(db, scope)} and customer_id = ${customerId} and status = 'published'
       and subscription_status <> 'cancelled'
     group by currency order by min(created_at), currency`;
  return rows.map(({ currency }) => currency);
}
