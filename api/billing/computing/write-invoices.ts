import type { Transaction } from '../../../postgres/client.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { WebhookEventType } from '../../../schemas/webhooks/event-types.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { ledgersOf } from '../records/ledger-repository.ts';
import { takeInvoiceNumbers } from './number.ts';
import { issue, type DueTerms, type Settled } from './settle.ts';
import { invoiceSnapshot } from './invoice-notification.ts';

/** An invoice with its subscription and customer. */
export interface ConcernedInvoice extends Settled {
  readonly subscription: SubscriptionRow;
  readonly customer: Customer | null;
}

/**
 * Issues computed drafts: numbers in order, one sequence row locked for all of them. Invoices whose rows are
 * all zero are skipped and get no number (billing 17.3, 17.5).
 */
export async function issueInvoices<Draft extends Settled & { readonly terms: DueTerms }>(
  tx: Transaction,
  scope: Scope,
  drafts: readonly Draft[],
  issued: { readonly at: string; readonly user_id: string },
): Promise<(Draft & Settled)[]> {
  const numbers = await takeInvoiceNumbers(tx, scope, issued.at, drafts.length);
  const ledgers = await ledgersOf(
    tx,
    scope,
    drafts.map(({ invoice }) => invoice.id),
  );
  return drafts.map((draft, index) => ({
    ...draft,
    ...issue(draft, numbers[index]!, draft.terms, ledgers.get(draft.invoice.id)!, issued),
  }));
}

/** The notification of an invoice in its current state. */
export function invoiceEvent(
  event_type: Extract<WebhookEventType, `invoice.${string}`>,
  scope: Scope,
  {
    invoice,
    lines,
    customer,
    subscription,
  }: Settled & {
    readonly customer: Customer | null;
    readonly subscription: SubscriptionRow | null;
  },
): OutboxEvent & { readonly scope: Scope } {
  return {
    scope,
    event_type,
    payload: { invoice: invoiceSnapshot(invoice, lines, customer, subscription) },
  };
}
