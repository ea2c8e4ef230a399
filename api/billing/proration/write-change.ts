import { createHash } from 'node:crypto';
import { Decimal, decimal, decimalText, sum } from '../../../domain/money.ts';
import { changeKey } from '../../../domain/pricing/line-change.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceLineRecord, InvoiceRecord } from '../../../schemas/invoice.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { creditPrepaidWallet } from '../wallets/credit-wallet.ts';
import { hashReference } from '../wallets/references.ts';
import type { TransactionRow } from '../credits/wallet-transaction-repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { invoiceEvent, issueInvoices, issueNewInvoice } from '../computing/write-invoices.ts';
import { insertInvoiceLines, replaceInvoiceLines } from '../records/invoice-line-repository.ts';
import { insertInvoices, updateInvoices } from '../records/invoice-repository.ts';
import { insertSubscriptionChange } from '../records/subscription-change-repository.ts';
import { markUnsettled } from '../records/line-item-repository.ts';
import { startOfChange, type ChangeOperation } from './change-rows.ts';
import type { OutboxEvent } from '../../../postgres/tables/outbox.ts';
import type { SettledChange } from './settle-change.ts';

/** The written result of an operation. */
export interface WrittenChange {
  readonly invoice: {
    readonly invoice: InvoiceRecord;
    readonly lines: readonly InvoiceLineRecord[];
  } | null;
  /** The wallet's credit; null without one. */
  readonly credited: TransactionRow | null;
  readonly events: readonly (OutboxEvent & { readonly scope: Scope })[];
}

/**
 * Writes the settlement in the transaction of the change: issues the invoice, or credits the wallet, and
 * stores the rows. Without rows it only notes that the lines are not settled.
 */
export async function writeChange(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  change: SettledChange,
  of: {
    readonly kind: string;
    readonly subscription: SubscriptionRow;
    readonly at: string;
    /** The draft that a checkout session has paid: the invoice of the change is issued as this one. */
    readonly paid?: InvoiceRecord | null;
  },
): Promise<WrittenChange> {
  const { operation, rows, customer } = change;
  await noteUnsettled(tx, caller.scope, operation);
  if (rows.length === 0) return { invoice: null, credited: null, events: [] };
  const { scope, user_id } = caller;
  const paid = of.paid ?? null;
  const computed =
    change.invoice && (paid === null ? change.invoice : asPaid(change.invoice, paid));
  const draft = computed && { ...computed, terms: of.subscription };
  const by = { at: of.at, user_id };
  const issued =
    draft === null
      ? null
      : paid === null
        ? await issueNewInvoice(tx, deps, scope, draft, by)
        : (await issueInvoices(tx, deps, scope, [draft], by))[0]!;
  if (issued !== null && paid !== null) {
    await updateInvoices(tx, [issued.invoice]);
    await replaceInvoiceLines(tx, scope, [issued.invoice.id], issued.lines);
  } else if (issued !== null) {
    await insertInvoices(tx, [issued.invoice]);
    await insertInvoiceLines(tx, issued.lines);
  }
  const operation_key = changeKey(
    of.subscription.id,
    rows.map(({ line_item_id, kind, period_start }) => ({
      line_item_id,
      action: `${of.kind}/${kind}`,
      effective_at: period_start,
    })),
  );
  const credited = change.credit.gt(0)
    ? await creditProration(tx, deps, caller, change, operation_key)
    : null;
  await insertSubscriptionChange(tx, {
    ...newRecord(deps, caller, 'subs_change'),
    subscription_id: of.subscription.id,
    kind: of.kind,
    operation_key: createHash('sha256').update(operation_key).digest('hex'),
    effective_at: startOfChange(operation),
    rows,
    net: decimalText(sum(rows.map(({ net }) => decimal(net)))),
    invoice_id: issued?.invoice.id ?? null,
    wallet_transaction_id: credited?.id ?? null,
  });
  const events =
    issued === null
      ? []
      : [
          invoiceEvent('invoice.update.finalized', scope, {
            ...issued,
            customer,
            subscription: of.subscription,
          }),
        ];
  return { invoice: issued, credited, events };
}

/** Notes the lines that a change within their period leaves unsettled: without prorations (billing 5.2). */
async function noteUnsettled(
  tx: Transaction,
  scope: Scope,
  { subscription, swaps, proration_behavior }: ChangeOperation,
): Promise<void> {
  if (proration_behavior !== 'none') return;
  const lines = swaps.flatMap(({ before, after }) => [before, after]);
  const ids = lines.flatMap((line) => line?.id ?? []);
  await markUnsettled(tx, scope, ids, subscription.current_period_start);
}

/** The computed invoice under the id of the draft that was paid for it. */
const asPaid = (
  { invoice, lines }: NonNullable<SettledChange['invoice']>,
  paid: InvoiceRecord,
): NonNullable<SettledChange['invoice']> => ({
  invoice: {
    ...invoice,
    id: paid.id,
    source_type: paid.source_type,
    revision: paid.revision,
    version: paid.version,
    created_at: paid.created_at,
    created_by: paid.created_by,
  },
  lines: lines.map((line) => ({ ...line, invoice_id: paid.id })),
});

/** Credits the net of an operation to the prepaid wallet as granted credits without expiry (billing 5.3). */
async function creditProration(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { credit, credited_to, currency }: SettledChange,
  operationKey: string,
): Promise<TransactionRow> {
  const reference_id = hashReference('proration_credit', operationKey);
  const { transaction } = await creditPrepaidWallet(tx, deps, caller, {
    customer_id: credited_to,
    currency,
    amount: decimalText(credit),
    reason: 'SUBSCRIPTION_CREDIT_GRANT',
    wallet_name: 'Proration Credit Wallet',
    allowed_price_types: ['USAGE'],
    wallet_metadata: { created_for: 'proration_credit', source: 'subscription_change' },
    reference_type: 'EXTERNAL',
    reference_id,
    idempotency_key: reference_id,
    description: 'Proration credit from subscription change',
    metadata: { customer_id: credited_to, source: 'subscription_change_proration' },
  });
  return transaction;
}
