import { decimal, decimalText, type Decimal } from '../../../domain/money.ts';
import { invalidOperation } from '../../../domain/errors.ts';
import { assertNotGated } from '../../../domain/invoicing/gated-invoice.ts';
import { refundsInFlight } from '../../../domain/invoicing/refunds.ts';
import { deriveInvoicePayment } from '../../../domain/invoicing/payment-ledger.ts';
import { voidInvoice as decideVoid } from '../../../domain/invoicing/void-invoice.ts';
import { isoTime } from '../../../platform/clock.ts';
import { failpoint } from '../../../platform/failpoint.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import { writeOutboxEvents } from '../../../postgres/tables/outbox.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { creditedByChanges } from '../computing/creditable-rows.ts';
import { runCommand } from '../../conventions/command.ts';
import type { Caller } from '../../conventions/record.ts';
import { getSubscription, lockSubscription } from '../records/subscription-repository.ts';
import { getInvoice, lockInvoice, updateInvoices } from '../records/invoice-repository.ts';
import { linesOfInvoices, releaseLines } from '../records/invoice-line-repository.ts';
import { lateUsageSettlements } from '../records/late-usage-repository.ts';
import { paymentsOfInvoice } from '../records/payment-repository.ts';
import { refundsOfInvoice } from '../records/refund-repository.ts';
import { returnMoney } from '../refunds/return-money.ts';
import { dispatchRefunds } from '../refunds/settle-refund.ts';
import type { VoidInvoiceBody } from '../../../schemas/invoice-requests.ts';
import { ledgerOf } from '../records/ledger-repository.ts';
import { voidPaymentsInFlight } from '../payments/void-payments.ts';
import { undoPurchase } from '../wallets/undo-purchase.ts';
import { returnPrepaidCredits } from '../wallets/return-credits.ts';
import { invoiceEvent } from '../computing/write-invoices.ts';

/**
 * Voids an invoice: what its rows billed may be billed again, and its number stays used (billing
 * 17.6). Payments in flight are voided first, and what was paid is refunded: to the prepaid wallet unless
 * `refund_target` says otherwise (money 9.11, 9.12). Refunds to a gateway are sent after the commit.
 */
export async function voidInvoice(
  deps: BillingDeps,
  caller: Caller,
  id: string,
  body: VoidInvoiceBody,
): Promise<InvoiceRecord> {
  const { subscription_id } = await getInvoice(deps.pool, caller.scope, id);
  const write = async (tx: Transaction): Promise<InvoiceRecord> => {
    // Locks the subscription first, as everywhere: computations of its invoices wait here.
    if (subscription_id !== null) await lockSubscription(tx, caller.scope, subscription_id);
    const invoice = await lockInvoice(tx, caller.scope, id);
    assertNotGated(invoice);
    const voided = await voidLocked(tx, deps, caller, invoice, body);
    failpoint('api.void_invoice.before_commit');
    return voided;
  };
  const voided = await runCommand(deps, 'invoice', () => Promise.resolve(write));
  await dispatchRefunds(deps, caller, await refundsOfInvoice(deps.pool, caller.scope, id));
  return voided;
}

/** Refunds the payments; to the wallet as one credit (money 9.11). */
async function refundVoided(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  amount: Decimal,
  target: VoidInvoiceBody['refund_target'],
): Promise<void> {
  const payments = await paymentsOfInvoice(tx, caller.scope, invoice.id);
  await returnMoney(tx, deps, caller, payments, {
    amount,
    target: target ?? 'PREPAID_WALLET',
    refund_reason: 'OTHER',
    invoice_id: invoice.id,
    credit_note_id: null,
    idempotency_key: invoice.id,
    wallet: {
      reason: 'INVOICE_VOID_REFUND',
      reference_id: invoice.id,
      source: { type: 'INVOICE', id: invoice.id },
      description: `Refund for voided invoice: ${invoice.invoice_number ?? invoice.id}`,
      metadata: { invoice_id: invoice.id },
      wallet_name: 'Subscription Wallet',
    },
  });
}

/**
 * What a one-off invoice has charged for late usage would be billed again with this period (billing 17.6). A
 * credit note may stand: it belongs to the voided invoice.
 */
async function assertLateUsageNotCharged(tx: Transaction, scope: Scope, id: string): Promise<void> {
  const settlements = await lateUsageSettlements(tx, scope, [id]);
  const charge = settlements.find(({ settled_as }) => settled_as === 'invoice');
  if (charge === undefined) return;
  throw invalidOperation(
    `Invoice ${charge.document_id} charges late usage of this invoice; void that invoice first.`,
    'id',
  );
}

/** The same inside a transaction that holds the invoice's lock. */
export async function voidLocked(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  body: VoidInvoiceBody = {},
): Promise<InvoiceRecord> {
  const { scope, user_id } = caller;
  await assertLateUsageNotCharged(tx, scope, invoice.id);
  const refunds = await refundsOfInvoice(tx, scope, invoice.id);
  const decision = decideVoid(
    {
      ...invoice,
      refunds_in_flight: decimalText(refundsInFlight(refunds)),
      credited_by_changes: decimalText(await creditedByChanges(tx, scope, invoice)),
    },
    body.amount == null ? null : decimal(body.amount),
  );
  const at = isoTime(deps.clock.now());
  await voidPaymentsInFlight(tx, deps, caller, invoice.id);
  await undoPurchase(tx, deps, caller, invoice);
  if (decision.refund.gt(0))
    await refundVoided(tx, deps, caller, invoice, decision.refund, body.refund_target);
  await returnPrepaidCredits(tx, deps, caller, invoice);
  const ledger = await ledgerOf(tx, scope, invoice.id);
  const voided: InvoiceRecord = {
    ...invoice,
    ...deriveInvoicePayment(decision.invoice_status, decimal(invoice.total), ledger),
    invoice_status: decision.invoice_status,
    voided_at: at,
    finalize_after: null,
    metadata: { ...invoice.metadata, ...body.metadata },
    updated_at: at,
    updated_by: user_id,
  };
  await updateInvoices(tx, [voided]);
  await releaseLines(tx, scope, [invoice.id]);
  const lines = await linesOfInvoices(tx, scope, [invoice.id]);
  const customer = await getCustomer(tx, scope, invoice.customer_id);
  const subscription =
    invoice.subscription_id === null
      ? null
      : await getSubscription(tx, scope, invoice.subscription_id);
  const concerned = { invoice: voided, lines, customer, subscription };
  await writeOutboxEvents(tx, [invoiceEvent('invoice.update.voided', scope, concerned)]);
  return voided;
}
