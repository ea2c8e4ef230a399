import { decimal, sum, type Decimal } from '../../../domain/money.ts';
import { refundsReserved } from '../../../domain/invoicing/refunds.ts';
import {
  assertGivenUp,
  creditsOfRefund,
  recallPurchase,
  recallRefunded,
  recallUnspent,
  type BoughtBlock,
} from '../../../domain/wallet/purchase.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { derivedId } from '../../../platform/ids.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { openLedger, writeDecision, writeFailed, type Ledger } from '../credits/ledger.ts';
import {
  continueElsewhere,
  findBlocksById,
  findPurchaseOfInvoice,
  findRecallsOfInvoice,
  findTransactionByKey,
  type TransactionRow,
} from '../credits/wallet-transaction-repository.ts';
import { refundsOfInvoice } from '../records/refund-repository.ts';

/**
 * Reverses the purchase of a voided invoice: pending rows fail (money 2.11.8) and added credits are removed. 409 if
 * some of them are already spent, or continue in a wallet that this one was converted to (9.16). The caller holds the
 * lock of the invoice and refunds the money afterwards.
 */
export async function undoPurchase(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  reason = 'The invoice was voided.',
): Promise<void> {
  const purchase = await lockPurchase(tx, deps, caller, invoice.id);
  if (purchase === null) return;
  const { ledger, pending, bought } = purchase;
  await writeFailed(tx, caller, pending, reason, ledger.at);
  if (bought.length === 0) return;
  const blocks = await boughtBlocks(tx, caller, invoice.id, bought);
  if (ledger.wallet.wallet_status === 'closed') {
    const added = (of: BoughtBlock): Decimal => decimal(of.credit_amount).minus(of.recalled);
    return await assertTakenAtEnd(tx, caller, ledger, blocks, added);
  }
  const rowId = derivedId('wtxn', 'recalled', invoice.id);
  const decision = recallPurchase(ledger.wallet, blocks, rowId);
  await writeDecision(tx, caller, ledger, decision, () => ({
    reference_type: 'INVOICE',
    reference_id: invoice.id,
    description: `Credits of the voided invoice ${invoice.invoice_number ?? invoice.id}`,
    metadata: { invoice_id: invoice.id },
  }));
}

/** An amount of a paid invoice that is returned. */
interface Returned {
  readonly amount: Decimal;
  /** The key of the refund. */
  readonly key: string;
  /** The money has left already: a refund that was made at the gateway, or a dispute. */
  readonly isGone?: boolean;
}

/**
 * Takes back the credits that `amount` of a paid invoice has bought, in the proportion in which refunds have returned
 * their price (money 9.16). An overpaid amount bought none. 409 if some of these credits are spent. Money that has
 * left already cannot be refused: then as many as are unspent, and none of a closed wallet. The caller holds the lock
 * of the invoice, and refunds the money afterwards.
 */
export async function recallRefundedCredits(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  invoice: InvoiceRecord,
  { amount, key, isGone = false }: Returned,
): Promise<void> {
  const purchase = await lockPurchase(tx, deps, caller, invoice.id);
  if (purchase === null || purchase.bought.length === 0) return;
  const { ledger, bought } = purchase;
  const overpaid = decimal(invoice.overpaid_amount);
  const earlier = refundsReserved(await refundsOfInvoice(tx, caller.scope, invoice.id));
  const refunded = earlier.plus(amount).minus(overpaid);
  if (refunded.lte(0)) return;
  const returned = { refunded, price: decimal(invoice.amount_paid).minus(overpaid) };
  const isClosed = ledger.wallet.wallet_status === 'closed';
  if (isClosed && isGone) return;
  const blocks = await boughtBlocks(tx, caller, invoice.id, bought);
  if (isClosed)
    return await assertTakenAtEnd(tx, caller, ledger, blocks, (of) =>
      creditsOfRefund(of, returned),
    );
  const rowId = derivedId('wtxn', 'recalled', invoice.id, key);
  const recall = isGone ? recallUnspent : recallRefunded;
  const decision = recall(ledger.wallet, blocks, rowId, returned);
  await writeDecision(tx, caller, ledger, decision, () => ({
    reference_type: 'INVOICE',
    reference_id: invoice.id,
    idempotency_key: transactionKey.recall(key),
    description: `Credits of a refund of invoice ${invoice.invoice_number ?? invoice.id}`,
    metadata: { invoice_id: invoice.id },
  }));
}

/** Rows of a purchase and its bonus, with the locked wallet. */
interface LockedPurchase {
  readonly ledger: Ledger;
  readonly pending: readonly TransactionRow[];
  readonly bought: readonly TransactionRow[];
}

/** The purchase that an invoice sells; null if it sells none. */
async function lockPurchase(
  tx: Transaction,
  deps: BillingDeps,
  { scope }: Caller,
  invoiceId: string,
): Promise<LockedPurchase | null> {
  const [first] = await findPurchaseOfInvoice(tx, scope, invoiceId);
  if (first === undefined) return null;
  const ledger = await openLedger(tx, deps, scope, first.wallet_id);
  const rows = await findPurchaseOfInvoice(tx, scope, invoiceId);
  return {
    ledger,
    pending: rows.filter((row) => row.transaction_status === 'pending'),
    bought: rows.filter((row) => row.transaction_status === 'completed'),
  };
}

/** The blocks of a purchase with what was added to each, and what refunds have taken back of it. */
async function boughtBlocks(
  tx: Transaction,
  { scope }: Caller,
  invoiceId: string,
  bought: readonly TransactionRow[],
): Promise<BoughtBlock[]> {
  const blocks = await findBlocksById(
    tx,
    scope,
    bought.map(({ id }) => id),
  );
  const recalls = await findRecallsOfInvoice(tx, scope, invoiceId);
  const taken = recalls.flatMap((row) => row.consumption_breakdown);
  return blocks.map((block) => ({
    block,
    credit_amount: bought.find(({ id }) => id === block.id)!.credit_amount,
    recalled: sum(
      taken
        .filter(({ credit_transaction_id }) => credit_transaction_id === block.id)
        .map(({ credits }) => decimal(credits)),
    ),
  }));
}

/** 409 unless the end of the wallet took the given credits of each block. */
async function assertTakenAtEnd(
  tx: Transaction,
  { scope }: Caller,
  { wallet }: Ledger,
  blocks: readonly BoughtBlock[],
  creditsOf: (of: BoughtBlock) => Decimal,
): Promise<void> {
  const wanted = blocks.map((of) => ({ id: of.block.id, credits: creditsOf(of) }));
  const end = await findTransactionByKey(tx, scope, transactionKey.termination(wallet.id));
  const continues = await continueElsewhere(
    tx,
    scope,
    wanted.map(({ id }) => id),
  );
  assertGivenUp(wanted, continues ? [] : (end?.consumption_breakdown ?? []));
}
