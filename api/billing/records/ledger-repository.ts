import { EMPTY_LEDGER, type InvoiceLedger } from '../../../domain/invoicing/payment-ledger.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import { groupBy } from '../../../domain/group-by.ts';

/**
 * The rows from which the payment fields of each invoice are derived (money 8.4.1), by invoice. Every invoice
 * has an entry. A command reads them under the invoice's lock.
 */
export async function ledgersOf(
  db: Db,
  scope: Scope,
  invoiceIds: readonly string[],
): Promise<ReadonlyMap<string, InvoiceLedger>> {
  const ids = [...new Set(invoiceIds)];
  if (ids.length === 0) return new Map();
  type Row<Field extends keyof InvoiceLedger> = InvoiceLedger[Field][number] & {
    readonly invoice_id: string;
  };
  const [payments, refunds, notes] = await Promise.all([
    db<Row<'payments'>[]>`
      select destination_id as invoice_id, payment_status, amount, payment_method_type
        from payments
       where ${inScope(db, scope)} and destination_type = 'INVOICE'
         and destination_id = any(${ids}::text[]) and status = 'published'
       order by created_at, id`,
    db<Row<'refunds'>[]>`
      select invoice_id, refund_status, amount
        from refunds
       where ${inScope(db, scope)} and invoice_id = any(${ids}::text[])`,
    db<Row<'credit_notes'>[]>`
      select invoice_id, credit_note_type, credit_note_status, total_amount
        from credit_notes
       where ${inScope(db, scope)} and invoice_id = any(${ids}::text[]) and status = 'published'`,
  ]);
  const [paymentsOf, refundsOf, notesOf] = [
    groupBy(payments, ({ invoice_id }) => invoice_id),
    groupBy(refunds, ({ invoice_id }) => invoice_id),
    groupBy(notes, ({ invoice_id }) => invoice_id),
  ];
  return new Map(
    ids.map((id) => [
      id,
      {
        ...EMPTY_LEDGER,
        payments: paymentsOf.get(id) ?? [],
        refunds: refundsOf.get(id) ?? [],
        credit_notes: notesOf.get(id) ?? [],
      },
    ]),
  );
}

/** The ledger of one invoice. */
export const ledgerOf = async (db: Db, scope: Scope, invoiceId: string): Promise<InvoiceLedger> =>
  (await ledgersOf(db, scope, [invoiceId])).get(invoiceId)!;
