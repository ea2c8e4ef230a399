import { reverseDebit } from '../../../domain/wallet/reversal.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { derivedId } from '../../../platform/ids.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { openLedger, writeDecision, type RowCause } from '../credits/ledger.ts';
import {
  findBlocksById,
  findDebitsOfInvoice,
  type TransactionRow,
} from '../credits/wallet-transaction-repository.ts';
import { creditPrepaidWallet } from './credit-wallet.ts';

/**
 * Returns the prepaid credits that an invoice used to the blocks that paid (money 2.6.6, 9.11). Credits of a
 * closed wallet return to the customer's prepaid wallet at the same value. The caller holds the lock of the
 * invoice. A second call returns nothing.
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
    if (ledger.wallet.wallet_status === 'closed') {
      await returnValue(tx, deps, caller, invoice, debit);
      continue;
    }
    const ids = debit.consumption_breakdown.map((part) => part.credit_transaction_id);
    const consumed = await findBlocksById(tx, caller.scope, ids);
    let returned = 0;
    const decision = reverseDebit(
      ledger.wallet,
      { open: ledger.blocks, consumed },
      debit,
      () => derivedId('wtxn', 'returned', debit.id, String((returned += 1))),
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

async function returnValue(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  debit: TransactionRow,
): Promise<void> {
  await creditPrepaidWallet(tx, deps, caller, {
    ...causeOf(invoice, debit, debit.wallet_id),
    customer_id: debit.customer_id,
    currency: debit.currency,
    amount: debit.amount,
    reason: 'INVOICE_VOID_REFUND',
    wallet_name: null,
  });
}
