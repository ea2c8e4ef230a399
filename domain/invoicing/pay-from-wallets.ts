import { withArticle } from '../article.ts';
import { invalidOperation } from '../errors.ts';
import type { Currency } from '../currency.ts';
import { Decimal, decimal } from '../money.ts';
import { invoiceMachine, moveInvoice, type InvoiceStatus } from '../states/invoice.ts';
import { canMove } from '../states/state-machine.ts';
import type { PaymentStatus } from '../states/payment-status.ts';
import { paysFor, type AllowedPriceType } from './prepaid-credits.ts';
import { payableWith } from './worth-of-credits.ts';

/** A POST_PAID wallet that may pay the invoice; `balance` in its currency, decimal text. */
export interface PayingWallet {
  readonly id: string;
  readonly balance: string;
  readonly allowed_price_types: readonly AllowedPriceType[];
}

/** Open amount of an invoice, in total and by kind of row. */
export interface OpenAmounts {
  /** Includes tax, so it can exceed the sum of `usage` and `fixed`. */
  readonly remaining: Decimal;
  readonly usage: Decimal;
  readonly fixed: Decimal;
}

export interface WalletPayment {
  readonly wallet_id: string;
  readonly amount: Decimal;
}

/**
 * Payments from POST_PAID wallets (money 2.6.8). Order: wallets for usage only, wallets for fixed
 * fees only, unrestricted wallets; among equals the higher balance first. Each wallet pays at most its
 * balance, the rows that it may pay, and the remaining amount. An unrestricted wallet also pays tax. A
 * payment reduces the open usage first, then the open fixed fees.
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
    const balance = payableWith(decimal(wallet.balance), currency);
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

/** The status of an invoice with a payment: a skipped one stays as it is. Null if it cannot be paid. */
export const statusWhenPaid = (from: InvoiceStatus): InvoiceStatus | null =>
  canMove(invoiceMachine, from, 'pay') ? moveInvoice(from, 'pay') : null;

interface ToCollect {
  readonly invoice_status: InvoiceStatus;
  readonly payment_status: PaymentStatus;
}

const isFinal = ({ invoice_status }: ToCollect): boolean =>
  statusWhenPaid(invoice_status) === 'FINALIZED';

/** Whether money may be asked for the invoice: it is finalized and has something to pay (money 8.1.4). */
export const isCollectable = (invoice: ToCollect): boolean =>
  isFinal(invoice) && !PAID.has(invoice.payment_status);

/**
 * Whether everything that was paid is refunded while a part of the invoice was never paid. A person may pay that part;
 * no job asks for it (money 8.1.4).
 */
export const isOpenAfterRefund = (
  invoice: ToCollect & { readonly amount_remaining: string },
): boolean =>
  isFinal(invoice) &&
  invoice.payment_status === 'REFUNDED' &&
  decimal(invoice.amount_remaining).gt(0);

/** Refuses to collect an invoice that is not collectable. */
export function assertCollectable(invoice: ToCollect): void {
  if (!isFinal(invoice)) {
    throw invalidOperation(
      `${withArticle(invoice.invoice_status)} invoice cannot be paid.`,
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
