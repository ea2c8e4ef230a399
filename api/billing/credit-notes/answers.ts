import type { Db, Scope } from '../../../postgres/client.ts';
import {
  creditNoteFields,
  CreditNoteLineItem,
  type CreditNote,
  type CreditNoteRecord,
} from '../../../schemas/credit-note.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { picked } from '../../conventions/picked.ts';
import { findCustomers } from '../../customers/customers/repository.ts';
import { invoiceAnswers } from '../invoices/answers.ts';
import { linesOfCreditNotes } from '../records/credit-note-repository.ts';
import { findInvoices } from '../records/invoice-repository.ts';
import { refundsOfNotes } from '../records/refund-repository.ts';
import { subscriptionAnswers } from '../records/subscription-answers.ts';
import { findSubscriptions } from '../records/subscription-repository.ts';

export interface CreditNoteEmbeds {
  readonly invoice?: boolean;
  readonly customer?: boolean;
  readonly subscription?: boolean;
}

/** Stored credit notes as answered, in the same order, with the requested records embedded. */
export async function creditNoteAnswers(
  db: Db,
  scope: Scope,
  notes: readonly CreditNoteRecord[],
  embed: CreditNoteEmbeds,
): Promise<CreditNote[]> {
  const ids = notes.map(({ id }) => id);
  const idsIf = (wanted: boolean | undefined, of: (note: CreditNoteRecord) => string | null) =>
    wanted ? [...new Set(notes.flatMap((note) => of(note) ?? []))] : [];
  const [lines, refunds, invoices, customers, subscriptions] = await Promise.all([
    linesOfCreditNotes(db, scope, ids),
    refundsOfNotes(db, scope, ids),
    findInvoices(
      db,
      scope,
      idsIf(embed.invoice, ({ invoice_id }) => invoice_id),
    ),
    findCustomers(
      db,
      scope,
      idsIf(embed.customer, ({ customer_id }) => customer_id),
    ),
    findSubscriptions(
      db,
      scope,
      idsIf(embed.subscription, ({ subscription_id }) => subscription_id),
    ),
  ]);
  const embeddedInvoices = await invoiceAnswers(db, scope, invoices, {
    line_items: true,
    customer: true,
  });
  const embeddedSubscriptions = await subscriptionAnswers(db, scope, subscriptions, {
    line_items: true,
    prices: true,
    customer: true,
    plan: { at: notes[0]?.updated_at ?? '' },
  });
  const linesOf = groupBy(lines, ({ credit_note_id }) => credit_note_id);
  return notes.map((note) => ({
    ...picked(creditNoteFields, note),
    line_items: (linesOf.get(note.id) ?? []).map((line) => picked(CreditNoteLineItem.shape, line)),
    refund_status: gatewayRefundStatus(
      refunds.filter(({ credit_note_id }) => credit_note_id === note.id),
    ),
    invoice: embeddedInvoices.find(({ id }) => id === note.invoice_id) ?? null,
    customer: customers.find(({ id }) => id === note.customer_id) ?? null,
    subscription: embeddedSubscriptions.find(({ id }) => id === note.subscription_id) ?? null,
  }));
}

/** The least settled status of the refunds to a gateway; null if there are none. */
function gatewayRefundStatus(refunds: readonly RefundRecord[]): CreditNote['refund_status'] {
  const statuses = refunds
    .filter(({ refund_target }) => refund_target === 'BACK_TO_SOURCE')
    .map(({ refund_status }) => refund_status);
  const order = ['FAILED', 'CANCELLED', 'PENDING', 'PROCESSING', 'SUCCEEDED'] as const;
  return order.find((status) => statuses.includes(status)) ?? null;
}
