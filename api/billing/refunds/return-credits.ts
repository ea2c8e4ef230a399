import assert from 'node:assert/strict';
import { decimal, sum, type Decimal } from '../../../domain/money.ts';
import { partOfDebit } from '../../../domain/wallet/part-of-debit.ts';
import { reverseDebit } from '../../../domain/wallet/reversal.ts';
import { creditsWorth } from '../../../domain/wallet/wallet.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { RefundRecord } from '../../../schemas/refund.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { getPayment } from '../records/payment-repository.ts';
import { creditPrepaidWallet } from '../wallets/credit-wallet.ts';
import { openLedger, writeDecision } from '../credits/ledger.ts';
import { findBlocksById, findDebitOf } from '../credits/wallet-transaction-repository.ts';

/**
 * Returns credits of a CREDITS payment to the blocks that paid (money 9.7, 9.11). The last refund of a
 * payment returns all remaining credits, so that no rounding difference remains. If the wallet is closed, the
 * prepaid wallet is credited. Returns the id of the first row.
 */
export async function returnCredits(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  refund: RefundRecord,
  earlier: readonly RefundRecord[],
): Promise<string> {
  const { scope } = caller;
  const payment = await getPayment(tx, scope, refund.payment_id);
  const debit = await findDebitOf(tx, scope, { type: 'PAYMENT', id: payment.id });
  assert(debit !== null, `the credits of payment ${payment.id} were debited`);
  const ledger = await openLedger(tx, deps, scope, debit.wallet_id);
  if (ledger.wallet.wallet_status === 'closed')
    return await creditInstead(tx, deps, caller, refund, debit.currency);

  const before = sum(
    earlier
      .filter(
        ({ payment_id, refund_status }) =>
          payment_id === payment.id && refund_status === 'SUCCEEDED',
      )
      .map(({ amount }) => decimal(amount)),
  );
  const creditsOf = (amount: Decimal): Decimal =>
    amount.gte(decimal(payment.amount))
      ? decimal(debit.credit_amount)
      : creditsWorth({ conversion_rate: debit.conversion_rate ?? '1' }, amount);
  const returned = creditsOf(before);
  const credits = creditsOf(before.plus(decimal(refund.amount))).minus(returned);
  const part = {
    ...debit,
    amount: refund.amount,
    consumption_breakdown: partOfDebit(debit.consumption_breakdown, returned, credits),
  };
  const consumed = await findBlocksById(
    tx,
    scope,
    part.consumption_breakdown.map((taken) => taken.credit_transaction_id),
  );
  const decision = reverseDebit(
    ledger.wallet,
    { open: ledger.blocks, consumed },
    part,
    () => deps.ids.next('wtxn'),
    ledger.at,
  );
  const written = await writeDecision(tx, caller, ledger, decision, () => causeOf(refund));
  return written.rows[0]!.id;
}

const causeOf = (refund: RefundRecord) => ({
  reference_type: 'PAYMENT' as const,
  reference_id: refund.payment_id,
  source_type: 'PAYMENT' as const,
  source_id: refund.payment_id,
  description: `Refund of payment ${refund.payment_id}`,
  metadata: { refund_id: refund.id },
});

async function creditInstead(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  refund: RefundRecord,
  currency: string,
): Promise<string> {
  const { transaction } = await creditPrepaidWallet(tx, deps, caller, {
    customer_id: refund.customer_id,
    currency,
    amount: refund.amount,
    reason: 'INVOICE_VOID_REFUND',
    wallet_name: null,
    ...causeOf(refund),
  });
  return transaction.id;
}
