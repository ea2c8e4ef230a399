import { Decimal, decimal, decimalText, roundToStorage, sum, ZERO } from '../money.ts';
import { isUnpaid, unpaidUsage, type OpenInvoice } from '../invoicing/unpaid.ts';
import { paysFor, type AllowedPriceType } from '../invoicing/prepaid-credits.ts';
import { epochMs } from '../time/instant.ts';
import { availableCredits, spendableCredits, type CreditBlock } from './credit-block.ts';
import type { Wallet } from './wallet.ts';

/** An open invoice that may claim credits. */
export interface ClaimingInvoice extends OpenInvoice {
  readonly period_end: string | null;
  /** It sells credits, so it does not claim any (money 2.8.7). */
  readonly is_top_up: boolean;
}

/** Decimal text; money in the wallet's currency. */
export interface RealTimeBalance {
  readonly real_time_balance: string;
  readonly real_time_credit_balance: string;
  /** Priced usage of the running periods, subtracted from the balance. */
  readonly current_period_usage: string;
  /** Amount of open invoices, subtracted from the balance. */
  readonly unpaid_invoices_amount: string;
}

/**
 * The balance of a wallet after everything used but not settled (money 2.8). `usage` is priced
 * usage of the running periods, with entitlements, commitments and overage. A PRE_PAID wallet may go
 * below zero; a POST_PAID wallet shows its settled balance; a wallet that is not active shows zero.
 * Expired credits no longer count, even when held (2.7.5). `blocks` has at least the expired ones: the balance is the
 * sum of all blocks less the overdraft (2.4.4).
 */
export function realTimeBalance(
  wallet: Wallet,
  blocks: readonly CreditBlock[],
  allowed: readonly AllowedPriceType[],
  claims: { readonly usage: Decimal; readonly invoices: readonly ClaimingInvoice[] },
  at: string,
): RealTimeBalance {
  if (wallet.wallet_status !== 'active') return figures(ZERO, ZERO, ZERO, ZERO);
  if (wallet.wallet_type === 'POST_PAID') {
    return figures(decimal(wallet.balance), decimal(wallet.credit_balance), ZERO, ZERO);
  }
  const rate = decimal(wallet.conversion_rate);
  const expired = availableCredits(blocks).minus(spendableCredits(blocks, at));
  const credits = decimal(wallet.credit_balance).minus(expired);
  const usage = paysFor(allowed, 'USAGE') ? claims.usage : ZERO;
  const unpaid = unpaidClaims(wallet.currency, allowed, claims.invoices, at);
  const balance = credits.times(rate).minus(usage).minus(unpaid);
  return figures(balance, balance.div(rate), usage, unpaid);
}

/**
 * What open invoices will take from the wallet: their whole open amount where the wallet may pay fixed fees,
 * else their usage part (money 2.8.5). The draft of a running period is left out, because its
 * usage is already counted.
 */
function unpaidClaims(
  currency: string,
  allowed: readonly AllowedPriceType[],
  invoices: readonly ClaimingInvoice[],
  at: string,
): Decimal {
  const open = invoices.filter(
    (invoice) =>
      invoice.currency === currency &&
      isUnpaid(invoice) &&
      !invoice.is_top_up &&
      !isRunningDraft(invoice, at),
  );
  return sum(
    open.map((invoice) =>
      paysFor(allowed, 'FIXED') ? decimal(invoice.amount_remaining) : unpaidUsage(invoice),
    ),
  );
}

const isRunningDraft = (invoice: ClaimingInvoice, at: string): boolean =>
  invoice.invoice_status === 'DRAFT' &&
  invoice.period_end !== null &&
  epochMs(invoice.period_end) > epochMs(at);

const figures = (
  balance: Decimal,
  credits: Decimal,
  usage: Decimal,
  unpaid: Decimal,
): RealTimeBalance => ({
  real_time_balance: decimalText(roundToStorage(balance)),
  real_time_credit_balance: decimalText(roundToStorage(credits)),
  current_period_usage: decimalText(usage),
  unpaid_invoices_amount: decimalText(unpaid),
});
