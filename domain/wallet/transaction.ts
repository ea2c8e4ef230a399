import type { CREDIT_REASONS, DEBIT_REASONS } from '../../schemas/words.ts';
import type { TransactionStatus } from '../states/wallet-transaction.ts';

/** What brings credits. */
export type CreditReason = (typeof CREDIT_REASONS)[number];

/** Whether credits were given or paid for (money 2.3.7). */
export const CREDIT_BUCKETS: Readonly<Record<CreditReason, 'free' | 'purchased'>> = {
  FREE_CREDIT_GRANT: 'free',
  SUBSCRIPTION_CREDIT_GRANT: 'free',
  PURCHASED_CREDIT_BONUS: 'free',
  PURCHASED_CREDIT_INVOICED: 'purchased',
  PURCHASED_CREDIT_DIRECT: 'purchased',
  CREDIT_NOTE: 'purchased',
  INVOICE_VOID_REFUND: 'purchased',
};

export type DebitReason = (typeof DEBIT_REASONS)[number];

/** Credits taken from one block by one debit. */
export interface Consumption {
  readonly credit_transaction_id: string;
  readonly credits: string;
}

/** The columns of a wallet transaction that arithmetic decides; decimals as text. */
export interface WalletTransaction {
  readonly id: string;
  readonly wallet_id: string;
  readonly type: 'credit' | 'debit';
  readonly transaction_status: TransactionStatus;
  readonly transaction_reason: CreditReason | DebitReason;
  readonly credit_amount: string;
  readonly amount: string;
  readonly currency: string;
  readonly credit_balance_before: string;
  readonly credit_balance_after: string;
  /** Of a credit: what is left of it. Zero on debits and on everything that is not completed. */
  readonly credits_available: string;
  /** Rate of a debit, and of a credit, at the time (money 2.2.3). */
  readonly conversion_rate: string | null;
  readonly topup_conversion_rate: string | null;
  readonly priority: number | null;
  readonly expiry_date: string | null;
  readonly parent_transaction_id: string | null;
  /** Of a debit: whence its credits came; sums to `credit_amount` less what overdrew the wallet. */
  readonly consumption_breakdown: readonly Consumption[];
}
