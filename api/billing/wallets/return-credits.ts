import { Decimal, decimal, decimalText, roundToStorage } from '../../../domain/money.ts';
import { expiryOfReturned, reverseDebit } from '../../../domain/wallet/reversal.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { openLedger, writeDecision, type Ledger, type RowCause } from '../credits/ledger.ts';
import {
  findBlocksById,
  findDebitsOfInvoice,
  type TransactionRow,
} from '../credits/wallet-transaction-repository.ts';
import { creditPrepaidWallet } from './credit-wallet.ts';

/**
 * Returns the prepaid credits that an invoice used to the blocks that paid (money 2.6.6, 9.11). Credits of a
 * closed wallet return to the customer's prepaid wallet at the same value, with their priority and expiry. The
 * caller holds the lock of the invoice. A second call returns nothing.
 */
export async function returnPrepaidCredits(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
): Promise<void> {
  const debits = await findDebitsOfInvoice(tx, caller.scope, invoice.id);
  for (const debit of debits) {
    const ledger = await openLedger(tx, deps, caller.scope, debit.wallet_id);
    const ids = debit.consumption_breakdown.map((part) => part.credit_transaction_id);
    const consumed = await findBlocksById(tx, caller.scope, ids);
    if (ledger.wallet.wallet_status === 'closed') {
      await returnValue(tx, deps, caller, { invoice, debit, consumed, ledger });
      continue;
    }
    const decision = reverseDebit(
      ledger.wallet,
      { open: ledger.blocks, consumed },
      debit,
      () => deps.ids.next('wtxn'),
      ledger.at,
    );
    await writeDecision(tx, caller, ledger, decision, (row) =>
      causeOf(invoice, debit, row.parent_transaction_id!),
    );
  }
}

const causeOf = (invoice: InvoiceRecord, debit: TransactionRow, blockId: string): RowCause => ({
  reference_type: 'INVOICE',
  reference_id: invoice.id,
  source_type: 'WALLET_TRANSACTION',
  source_id: debit.id,
  idempotency_key: transactionKey.voidRefund(invoice.id, 1, `${debit.id}:${blockId}`),
  description: `Refund for voided invoice: ${invoice.invoice_number ?? invoice.id}`,
  metadata: { invoice_id: invoice.id },
});

/** The parts of the debit in another wallet; together they are worth what the debit was. */
async function returnValue(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { invoice, debit, consumed, ledger }: Returned,
): Promise<void> {
  let left = decimal(debit.amount);
  const parts = debit.consumption_breakdown;
  for (const [index, { credit_transaction_id: blockId, credits }] of parts.entries()) {
    const block = consumed.find(({ id }) => id === blockId)!;
    const worth = roundToStorage(decimal(credits).times(decimal(ledger.wallet.conversion_rate)));
    const amount = index === parts.length - 1 ? left : Decimal.min(worth, left);
    left = left.minus(amount);
    if (amount.isZero()) continue;
    await creditPrepaidWallet(tx, deps, caller, {
      ...causeOf(invoice, debit, blockId),
      customer_id: debit.customer_id,
      currency: debit.currency,
      amount: decimalText(amount),
      reason: 'INVOICE_VOID_REFUND',
      block: { priority: block.priority, expiry_date: expiryOfReturned(block, ledger.at) },
      wallet_name: null,
    });
  }
}

interface Returned {
  readonly invoice: InvoiceRecord;
  readonly debit: TransactionRow;
  /** The blocks that the debit took from. */
  readonly consumed: Awaited<ReturnType<typeof findBlocksById>>;
  /** Of the closed wallet. */
  readonly ledger: Ledger;
}
