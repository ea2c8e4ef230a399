import { decimal, roundToStorage, type Decimal } from '../../../domain/money.ts';
import { canBeInvoiced, decideAutoTopUp } from '../../../domain/wallet/auto-top-up.ts';
import { transactionKey } from '../../../domain/wallet/transaction-key.ts';
import { creditWallet } from '../../../domain/wallet/wallet.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { ledgerOf, writeDecision } from '../credits/ledger.ts';
import type { WalletRow } from '../credits/wallet-repository.ts';
import { findChargeableMethod } from '../payment-methods/chargeable-method.ts';
import { topUpHistory } from './balance-repository.ts';
import { buyWithInvoice } from './buy-with-invoice.ts';

/**
 * Adds the configured credits to the locked wallet if the ongoing balance is at or below the threshold (money 3.4).
 * The invoice of a purchase is charged to a saved method where there is one (3.7): without the customer, so at most
 * once an hour unless the wallet has a cooldown of its own (3.8).
 */
export async function topUpIfDue(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  wallet: WalletRow,
  ongoing: Decimal,
): Promise<void> {
  const at = isoTime(deps.clock.now());
  const { auto_topup } = wallet;
  if (auto_topup === null || !auto_topup.enabled) return;
  const credits = decimal(auto_topup.amount);
  // A configuration that is older than this rule must not fail the command that moves the wallet, or the job.
  if (auto_topup.invoicing && !canBeInvoiced(wallet, credits)) return;
  const history = await topUpHistory(tx, caller.scope, wallet);
  const amount = roundToStorage(credits.times(decimal(wallet.topup_conversion_rate)));
  const off_session =
    auto_topup.invoicing &&
    (await findChargeableMethod(tx, caller.scope, wallet, null, amount)) !== null;
  const decision = decideAutoTopUp(wallet, { ...auto_topup, off_session }, ongoing, history, at);
  if (!decision.tops_up) return;
  const ledger = await ledgerOf(tx, deps, wallet);
  const id = deps.ids.next('wtxn');
  const purchase = {
    id,
    credits,
    amount,
    transaction_reason: auto_topup.invoicing
      ? ('PURCHASED_CREDIT_INVOICED' as const)
      : ('PURCHASED_CREDIT_DIRECT' as const),
    priority: null,
    expiry_date: null,
    parent_transaction_id: null,
  };
  const cause = {
    reference_type: 'EXTERNAL' as const,
    reference_id: id,
    idempotency_key: transactionKey.autoTopUp(wallet.id, id),
    description: 'Auto top-up triggered for low ongoing balance',
    metadata: { auto_topup: 'true' },
  };
  if (auto_topup.invoicing) {
    const bought = { purchase, bonus: null, isAuto: true, cause, bonusCause: cause };
    await buyWithInvoice(tx, deps, caller, ledger, bought);
    return;
  }
  const credited = creditWallet(wallet, ledger.blocks, purchase, ledger.at);
  await writeDecision(tx, caller, ledger, credited, () => cause);
}
