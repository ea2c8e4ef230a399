import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { WebhookEventType } from '../../../schemas/webhooks/event-types.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { CHECKOUT_SOURCE } from '../../../domain/invoicing/gated-invoice.ts';
import { EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import type { BillingDeps } from '../../deps.ts';
import { ledgersOf } from '../records/ledger-repository.ts';
import { openPrepaidCredits } from './prepaid-credits.ts';
import { readInvoiceConfig } from './invoice-config.ts';
import { takeInvoiceNumbers } from './invoice-number-repository.ts';
import { issue, type DueTerms, type Settled } from './settle.ts';
import { decimal } from '../../../domain/money.ts';
import {
  collectsAtIssue,
  type CollectionMethod,
  type PaymentBehavior,
} from '../../../domain/subscription/activation.ts';
import { scheduleCollections } from '../records/collection-repository.ts';
import { invoiceSnapshot } from './invoice-notification.ts';

/** An invoice with its subscription and customer. */
export interface ConcernedInvoice extends Settled {
  /** Null for an invoice without a subscription. */
  readonly subscription: SubscriptionRow | null;
  readonly customer: Customer | null;
}

/** When an issued invoice is due, and how it is collected; `collection_method` null: not collected. */
export interface IssueTerms extends DueTerms {
  readonly collection_method: CollectionMethod | null;
  readonly payment_behavior: PaymentBehavior;
  readonly gateway_payment_method_id: string | null;
}

/**
 * Issues computed drafts: numbers in order, one sequence row locked for all of them. Invoices whose rows are
 * all zero are skipped and get no number (billing 17.3, 17.5). Prepaid credits of the customers pay what their
 * wallets may pay (9.2); nothing of an invoice whose amount a checkout session has locked, because its payment
 * covers all of it (money 11.6).
 */
export async function issueInvoices<Draft extends Settled & { readonly terms: IssueTerms }>(
  tx: Transaction,
  deps: Pick<BillingDeps, 'ids'>,
  scope: Scope,
  drafts: readonly Draft[],
  issued: { readonly at: string; readonly user_id: string },
): Promise<(Draft & Settled)[]> {
  const invoices = drafts.map(({ invoice }) => invoice);
  const credits = await openPrepaidCredits(
    tx,
    deps,
    scope,
    invoices.filter((invoice) => invoice.source_type !== CHECKOUT_SOURCE),
    issued,
  );
  const ledgers = await ledgersOf(
    tx,
    scope,
    invoices.map(({ id }) => id),
  );
  // Last: every command that numbers an invoice waits for this lock.
  const config = await readInvoiceConfig(tx, scope);
  const numbers = await takeInvoiceNumbers(tx, scope, issued.at, drafts.length, config);
  const by = { ...issued, dueDays: config.due_date_days };
  const done = drafts.map((draft, index) => {
    const { invoice, terms } = draft;
    const parts =
      invoice.source_type === CHECKOUT_SOURCE
        ? { ledger: EMPTY_LEDGER, wallets: [] }
        : { ledger: ledgers.get(invoice.id)!, wallets: credits.walletsFor(invoice) };
    const { debits, ...settled } = issue(draft, numbers[index]!, terms, parts, by);
    if (debits.length > 0) credits.take(settled.invoice, debits);
    return { ...draft, ...settled };
  });
  await credits.write();
  const toCollect = done.filter(({ invoice, terms }) => isCollected(invoice, terms));
  await scheduleCollections(
    tx,
    scope,
    issued.at,
    toCollect.map(({ invoice, terms }) => ({ invoice, method: terms.gateway_payment_method_id })),
  );
  return done;
}

/**
 * Issues a draft that is created in the same transaction. Its version, the counter behind `If-Match`, begins where
 * clients of the reference know it: at 2, for a subscription at 4 (billing 17.1).
 */
export async function issueNewInvoice<Draft extends Settled & { readonly terms: IssueTerms }>(
  tx: Transaction,
  deps: Pick<BillingDeps, 'ids'>,
  scope: Scope,
  draft: Draft,
  by: { readonly at: string; readonly user_id: string },
): Promise<Draft & Settled> {
  const [issued] = await issueInvoices(tx, deps, scope, [draft], by);
  const { invoice } = issued!;
  const version = invoice.invoice_type === 'SUBSCRIPTION' ? 4 : 2;
  return { ...issued!, invoice: { ...invoice, version } };
}

/** Invoices of subscriptions as their terms say (money 8.6), and those of automatic top-ups (3.7). */
const isCollected = (invoice: InvoiceRecord, terms: IssueTerms): boolean =>
  invoice.billing_reason === 'WALLET_AUTO_TOPUP' || isCollectedByTerms(invoice, terms);

const isCollectedByTerms = (invoice: InvoiceRecord, terms: IssueTerms): boolean =>
  invoice.source_type !== CHECKOUT_SOURCE &&
  invoice.subscription_id !== null &&
  terms.collection_method !== null &&
  collectsAtIssue(
    { collection_method: terms.collection_method, payment_behavior: terms.payment_behavior },
    invoice.billing_reason,
    decimal(invoice.amount_remaining),
  );

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
