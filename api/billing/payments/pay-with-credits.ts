import { BillingError, invalidField, notFound } from '../../../domain/errors.ts';
import { payFromWallets, type OpenAmounts } from '../../../domain/invoicing/pay-from-wallets.ts';
import { unpaidUsage } from '../../../domain/invoicing/unpaid.ts';
import { creditsToPay } from '../../../domain/invoicing/worth-of-credits.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../../../domain/money.ts';
import { netAmount } from '../../../domain/pricing/net-amount.ts';
import { spendableCredits } from '../../../domain/wallet/credit-block.ts';
import { debitWallet, withCreditBalance } from '../../../domain/wallet/wallet.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { InvoiceRecord } from '../../../schemas/invoice.ts';
import type { PaymentRecord } from '../../../schemas/payment.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { LockedPayment } from '../computing/lock-payment.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { openLedger, writeDecision } from '../credits/ledger.ts';
import {
  findWallets,
  findWalletsOfCustomer,
  lockWallets,
  type WalletRow,
} from '../credits/wallet-repository.ts';
import { findBlocks } from '../credits/wallet-transaction-repository.ts';
import { movePaymentTo } from './settle-payment.ts';

/**
 * POST_PAID wallets of the customer that may be debited, in the invoice's currency. They are locked, in the order of
 * their ids: their balances stay what a debit takes.
 */
export async function payingWallets(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  { scope }: Pick<Caller, 'scope'>,
  invoice: Pick<InvoiceRecord, 'customer_id' | 'currency'>,
): Promise<WalletRow[]> {
  const wallets = await findWalletsOfCustomer(tx, scope, invoice.customer_id);
  const paying = wallets.filter(
    ({ wallet_type, wallet_status, currency }) =>
      wallet_type === 'POST_PAID' && wallet_status === 'active' && currency === invoice.currency,
  );
  const locked = await lockWallets(
    tx,
    scope,
    paying.map(({ id }) => id),
  );
  const now = new Map(locked.map((wallet) => [wallet.id, wallet]));
  return await spendable(
    tx,
    deps,
    scope,
    paying.map(({ id }) => now.get(id)!).filter(({ wallet_status }) => wallet_status === 'active'),
  );
}

/** The wallets with the balances that a debit accepts now: expired credits do not count (money 2.7.5). */
async function spendable(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  scope: Scope,
  wallets: readonly WalletRow[],
): Promise<WalletRow[]> {
  const ids = wallets.map(({ id }) => id);
  const blocks = groupBy(await findBlocks(tx, scope, ids), ({ wallet_id }) => wallet_id);
  const at = isoTime(deps.clock.now());
  return wallets.map((wallet) => {
    const credits = spendableCredits(blocks.get(wallet.id) ?? [], at);
    return { ...wallet, balance: withCreditBalance(wallet, credits).balance };
  });
}

/** Open amounts of an invoice by kind of row; rows without a kind count as fixed fees. */
export async function openAmounts(
  tx: Transaction,
  { scope }: Pick<Caller, 'scope'>,
  invoice: InvoiceRecord,
): Promise<OpenAmounts> {
  const lines = await linesOfInvoices(tx, scope, [invoice.id]);
  const remaining = decimal(invoice.amount_remaining);
  const fees = sum(
    lines
      .filter(({ price_type }) => price_type !== 'USAGE')
      .map((line) => netAmount(line).minus(decimal(line.prepaid_credits_applied))),
  );
  return {
    remaining,
    usage: unpaidUsage({ ...invoice, lines }),
    fixed: Decimal.min(remaining, Decimal.max(fees, ZERO)),
  };
}

/**
 * The wallet that a CREDITS payment names, or the first one that can pay the amount alone (money 8.1.7). 404
 * without such a wallet; 400 for another type or too little.
 */
export async function walletFor(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  invoice: InvoiceRecord,
  amount: Decimal,
  walletId: string | null,
): Promise<WalletRow> {
  const wallets =
    walletId === null
      ? await payingWallets(tx, deps, caller, invoice)
      : await spendable(tx, deps, caller.scope, [await namedWallet(tx, caller, invoice, walletId)]);
  if (wallets.length === 0) throw notFound('A POST_PAID wallet of customer', invoice.customer_id);
  const open = await openAmounts(tx, caller, invoice);
  const order = payFromWallets(open, wallets, invoice.currency).map(({ wallet_id }) => wallet_id);
  const able = wallets.filter((wallet) => {
    const [payment] = payFromWallets(open, [wallet], invoice.currency);
    return payment !== undefined && payment.amount.gte(amount);
  });
  const ranked = [...order, ...able.map(({ id }) => id)];
  const first = ranked.map((id) => able.find((wallet) => wallet.id === id)).find(Boolean);
  if (first === undefined) throw insufficient(amount);
  return first;
}

async function namedWallet(
  tx: Transaction,
  { scope }: Caller,
  invoice: InvoiceRecord,
  walletId: string,
): Promise<WalletRow> {
  const [wallet] = await findWallets(tx, scope, [walletId]);
  if (wallet === undefined || wallet.customer_id !== invoice.customer_id)
    throw notFound('Wallet', walletId);
  const refuse = (message: string) => invalidField('payment_method_id', message);
  if (wallet.wallet_type !== 'POST_PAID')
    throw refuse('names a PRE_PAID wallet; an invoice is paid from a POST_PAID wallet');
  if (wallet.wallet_status !== 'active') throw refuse(`names a ${wallet.wallet_status} wallet`);
  if (wallet.currency !== invoice.currency)
    throw refuse(`names a wallet in ${wallet.currency}; the invoice is in ${invoice.currency}`);
  return wallet;
}

/** Debits the wallet of the payment and settles the payment, in one transaction (money 8.1.7). */
export async function payWithCredits(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  found: LockedPayment,
): Promise<PaymentRecord> {
  const { payment, locked } = found;
  const walletId = payment.payment_method_id!;
  const ledger = await openLedger(tx, deps, caller.scope, walletId);
  const amount = decimal(payment.amount);
  const decision = debitWallet(
    ledger.wallet,
    ledger.blocks,
    {
      id: deps.ids.next('wtxn'),
      credits: creditsToPay(
        amount,
        decimal(ledger.wallet.conversion_rate),
        spendableCredits(ledger.blocks, ledger.at),
      ),
      amount,
      transaction_reason: 'INVOICE_PAYMENT',
      arrears_period_end: null,
    },
    ledger.at,
  );
  await writeDecision(tx, caller, ledger, decision, () => ({
    reference_type: 'PAYMENT',
    reference_id: payment.id,
    source_type: 'INVOICE',
    source_id: locked?.invoice.id ?? null,
    description: `Payment for invoice ${locked?.invoice.id ?? ''}`,
    metadata: {
      payment_id: payment.id,
      payment_method: 'CREDITS',
      wallet_type: 'POST_PAID',
      ...(locked === null ? {} : { invoice_id: locked.invoice.id }),
    },
  }));
  return await movePaymentTo(tx, deps, caller, found, 'SUCCEEDED');
}

function insufficient(amount: Decimal): BillingError {
  const message = `No active POST_PAID wallet of the customer can pay ${decimalText(amount)}.`;
  return new BillingError('invalid', 'invalid_operation', message, [
    { path: 'amount', code: 'insufficient_balance', message },
  ]);
}
