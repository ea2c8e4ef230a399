import { invalidOperation } from '../errors.ts';
import { minorDigits, type Currency } from '../currency.ts';
import { Decimal, decimal, sum } from '../money.ts';
import type { InvoiceStatus } from '../states/invoice.ts';
import type { PaymentStatus } from '../states/payment-status.ts';
import { paysFor, type AllowedPriceType } from './prepaid-credits.ts';

/** A POST_PAID wallet that may pay the invoice; `balance` in its currency, decimal text. */
export interface PayingWallet {
  readonly id: string;
  readonly balance: string;
  readonly allowed_price_types: readonly AllowedPriceType[];
}

/** What an invoice still asks for, and which kinds of rows it is for. */
export interface OpenAmounts {
  /** With tax: it can exceed the sum of the two parts. */
  readonly remaining: Decimal;
  readonly usage: Decimal;
  readonly fixed: Decimal;
}

export interface WalletPayment {
  readonly wallet_id: string;
  readonly amount: Decimal;
}

/**
 * Payments out of POST_PAID wallets (money 2.6.8): those for usage only first, then those
 * for fixed fees only, then the unrestricted, the fuller first among equals. Each pays what it has,
 * at most the rows it may pay for and what is still owed; an unrestricted one pays tax as well. What
 * it paid comes off usage first, then off fixed fees.
 */
export function payFromWallets(
  open: OpenAmounts,
  wallets: readonly PayingWallet[],
  currency: Currency,
): WalletPayment[] {
  let { remaining, usage, fixed } = open;
  const payments: WalletPayment[] = [];
  for (const wallet of inOrderOfUse(wallets)) {
    const scope = scopeOf(wallet);
    const payable = scope === 'USAGE' ? usage : scope === 'FIXED' ? fixed : remaining;
    const balance = decimal(wallet.balance).toDecimalPlaces(
      minorDigits(currency),
      Decimal.ROUND_DOWN,
    );
    const amount = Decimal.min(balance, payable, remaining);
    if (amount.lte(0)) continue;
    payments.push({ wallet_id: wallet.id, amount });
    remaining = remaining.minus(amount);
    const ofUsage = scope === 'FIXED' ? new Decimal(0) : Decimal.min(amount, usage);
    usage = usage.minus(ofUsage);
    fixed = Decimal.max(fixed.minus(amount.minus(ofUsage)), 0);
  }
  return payments;
}

/** What the wallets leave for the card. */
export const leftAfter = (open: OpenAmounts, payments: readonly WalletPayment[]): Decimal =>
  open.remaining.minus(sum(payments.map((payment) => payment.amount)));

/** Refuses to collect on an invoice that is not finalized or has nothing open (money 8.1.4). */
export function assertCollectable(invoice: {
  readonly invoice_status: InvoiceStatus;
  readonly payment_status: PaymentStatus;
}): void {
  if (invoice.invoice_status !== 'FINALIZED') {
    throw invalidOperation(
      `A ${invoice.invoice_status} invoice can not be paid.`,
      'invoice_status',
    );
  }
  if (PAID.has(invoice.payment_status)) {
    throw invalidOperation(
      `The invoice is ${invoice.payment_status}: nothing is left to pay.`,
      'payment_status',
    );
  }
}

const PAID: ReadonlySet<PaymentStatus> = new Set(['SUCCEEDED', 'OVERPAID', 'REFUNDED', 'VOIDED']);

function scopeOf(wallet: PayingWallet): AllowedPriceType {
  const usage = paysFor(wallet.allowed_price_types, 'USAGE');
  const fixed = paysFor(wallet.allowed_price_types, 'FIXED');
  return usage && fixed ? 'ALL' : usage ? 'USAGE' : 'FIXED';
}

const ORDER: readonly AllowedPriceType[] = ['USAGE', 'FIXED', 'ALL'];

function inOrderOfUse(wallets: readonly PayingWallet[]): PayingWallet[] {
  return [...wallets].sort(
    (left, right) =>
      ORDER.indexOf(scopeOf(left)) - ORDER.indexOf(scopeOf(right)) ||
      decimal(right.balance).comparedTo(decimal(left.balance)),
  );
}
