import { decimal } from '../../../domain/money.ts';
import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import {
  withCreditBalance,
  type CreditCommand,
  type DebitCommand,
  type Wallet,
} from '../../../domain/wallet/wallet.ts';

export const NOW = '2026-03-01T00:00:00.000Z';

export const walletOf = (credits: string, over: Partial<Wallet> = {}): Wallet =>
  withCreditBalance(
    {
      id: 'wallet_1',
      wallet_type: 'PRE_PAID',
      wallet_status: 'active',
      currency: 'usd',
      conversion_rate: '1',
      topup_conversion_rate: '1',
      credit_balance: '0',
      balance: '0',
      ...over,
    },
    decimal(credits),
  );

export const block = (
  id: string,
  credits_available: string,
  over: Partial<CreditBlock> = {},
): CreditBlock => ({
  id,
  transaction_reason: 'FREE_CREDIT_GRANT',
  credits_available,
  priority: null,
  expiry_date: null,
  created_at: '2026-01-01T00:00:00.000Z',
  ...over,
});

export const credit = (credits: string, over: Partial<CreditCommand> = {}): CreditCommand => ({
  id: 'wtxn_new',
  credits: decimal(credits),
  transaction_reason: 'FREE_CREDIT_GRANT',
  priority: null,
  expiry_date: null,
  parent_transaction_id: null,
  ...over,
});

export const debit = (credits: string, over: Partial<DebitCommand> = {}): DebitCommand => ({
  id: 'wtxn_new',
  credits: decimal(credits),
  transaction_reason: 'INVOICE_PAYMENT',
  arrears_period_end: null,
  ...over,
});

/** Ids of left credits, for tables: `a:10 b:0`. */
export const left = (blocks: readonly CreditBlock[]): string =>
  blocks.map(({ id, credits_available }) => `${id}:${credits_available}`).join(' ');

/** Ids `new-1`, `new-2`, … */
export function counter(): () => string {
  let count = 0;
  return () => `new-${(count += 1)}`;
}
