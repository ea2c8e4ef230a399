import { upcomingAttempts } from '../../../domain/invoicing/dunning.ts';
import { decimal } from '../../../domain/money.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { InvoiceCollection } from '../../../schemas/invoice-collection.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { findCollections, type CollectionRow } from '../records/collection-repository.ts';

/** How invoices are being charged to saved methods, by invoice; those that are not have no entry. */
export async function invoiceCollections(
  db: Db,
  scope: Scope,
  invoices: readonly InvoiceRecord[],
): Promise<ReadonlyMap<string, InvoiceCollection>> {
  const final = invoices.filter(({ invoice_number }) => invoice_number !== null);
  const rows = await findCollections(
    db,
    scope,
    final.map(({ id }) => id),
  );
  if (rows.length === 0) return new Map();
  const terms = await readSetting(db, scope, 'payment_retry_config');
  const isOpen = new Map(final.map((invoice) => [invoice.id, needsPayment(invoice)]));
  return new Map(
    rows.map((row) => {
      const next = isOpen.get(row.invoice_id) === true ? row.next_attempt_at : null;
      const collection: InvoiceCollection = {
        status: next === null ? statusOf(row) : row.collection_status,
        attempt_count: row.attempt_count,
        next_attempt_at: next,
        upcoming_attempts: next === null ? [] : upcomingAttempts(terms, row.attempt_count, next),
        last_payment_id: row.last_payment_id,
      };
      return [row.invoice_id, collection];
    }),
  );
}

const needsPayment = (invoice: InvoiceRecord): boolean =>
  invoice.invoice_status === 'FINALIZED' && decimal(invoice.amount_remaining).gt(0);

/** A charge that is still noted for an invoice that needs none is not made. */
const statusOf = ({ collection_status: status }: CollectionRow): InvoiceCollection['status'] =>
  status === 'scheduled' ? 'stopped' : status;
