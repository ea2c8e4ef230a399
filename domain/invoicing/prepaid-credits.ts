import type { Currency } from '../currency.ts';
import { Decimal, decimal, decimalText, sum, ZERO } from '../money.ts';
import type { PriceType } from '../pricing/price.ts';
import { creditsToPay, payableWith } from './worth-of-credits.ts';

export type AllowedPriceType = 'ALL' | PriceType;

/** A prepaid wallet, with the credits that its blocks hold for this invoice. */
export interface PrepaidWallet {
  readonly id: string;
  /** Credits of the blocks that this invoice may use, decimal text (money 2.5 step 4). */
  readonly credits_available: string;
  /** Price of one credit in the invoice's currency; greater than 0. */
  readonly conversion_rate: string;
  readonly allowed_price_types: readonly AllowedPriceType[];
  /** The custom currency of the wallet, which then pays rows in that currency only; absent or null means every row. */
  readonly custom_currency?: string | null;
}

/** One debit per used wallet: `amount` in money, `credits` in units of the wallet. */
export interface WalletDebit {
  readonly wallet_id: string;
  readonly amount: string;
  readonly credits: string;
}

/** A row with its amount after discounts. */
export interface NetRow {
  readonly price_type: PriceType | null;
  readonly net: Decimal;
  /** The custom currency that the row was converted from; absent or null: none. */
  readonly custom_currency?: string | null;
}

export interface PrepaidCredits {
  /** One per row, in the order of the rows. */
  readonly applied: readonly Decimal[];
  readonly debits: readonly WalletDebit[];
  readonly steps: readonly PrepaidStep[];
}

/** A payment of a wallet for a row, with the rest of the wallet and of the invoice before it. */
export interface PrepaidStep {
  /** Index among the invoice's rows. */
  readonly row: number;
  readonly wallet_id: string;
  readonly walletLeft: Decimal;
  readonly invoiceLeft: Decimal;
  readonly amount: Decimal;
}

/**
 * Applies prepaid credits to an invoice (billing 9.2, money 2.6). Wallets are given in
 * order of use (`prepaidWalletOrder`). Rows are paid in their order, each up to its net; negative rows are
 * not paid. `cap` is the subtotal minus the discounts, so that credits never exceed the invoice when it has
 * negative rows. A rest below one minor unit stays in the wallet.
 */
export function applyPrepaidCredits(
  rows: readonly NetRow[],
  wallets: readonly PrepaidWallet[],
  cap: Decimal,
  currency: Currency,
): PrepaidCredits {
  const applied = rows.map(() => ZERO);
  const steps: PrepaidStep[] = [];
  const debits: WalletDebit[] = [];
  let headroom = Decimal.max(cap, ZERO);

  for (const wallet of wallets) {
    const available = decimal(wallet.credits_available);
    const rate = decimal(wallet.conversion_rate);
    const held = payableWith(Decimal.max(available, ZERO).times(rate), currency);
    let pool = held;
    rows.forEach((row, index) => {
      if (!paysFor(wallet.allowed_price_types, row.price_type)) return;
      if (wallet.custom_currency && wallet.custom_currency !== row.custom_currency) return;
      const amount = Decimal.min(pool, headroom, row.net.minus(applied[index]!));
      if (amount.lte(0)) return;
      applied[index] = applied[index]!.plus(amount);
      steps.push({
        row: index,
        wallet_id: wallet.id,
        walletLeft: pool,
        invoiceLeft: headroom,
        amount,
      });
      pool = pool.minus(amount);
      headroom = headroom.minus(amount);
    });
    if (pool.lt(held)) debits.push(debit(wallet, held.minus(pool), available, rate));
  }
  return { applied, debits, steps };
}

/** An empty list, `ALL`, and both kinds together all mean every row (money 2.1.6). */
export function paysFor(
  allowed: readonly AllowedPriceType[],
  priceType: PriceType | null,
): boolean {
  return allowed.length === 0 || allowed.includes('ALL') || allowed.includes(priceType ?? 'FIXED');
}

/** Total paid by prepaid credits. */
export const totalApplied = (credits: PrepaidCredits): Decimal => sum(credits.applied);

function debit(
  wallet: PrepaidWallet,
  amount: Decimal,
  available: Decimal,
  rate: Decimal,
): WalletDebit {
  return {
    wallet_id: wallet.id,
    amount: decimalText(amount),
    credits: decimalText(creditsToPay(amount, rate, available)),
  };
}
