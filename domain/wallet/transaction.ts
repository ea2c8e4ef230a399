import type { CREDIT_REASONS, DEBIT_REASONS } from '../../schemas/words.ts';
import type { TransactionStatus } from '../states/wallet-transaction.ts';

/** Why credits are added. */
export type CreditReason = (typeof CREDIT_REASONS)[number];

/** Whether credits were granted or purchased (money 2.3.7). */
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

/** The computed columns of a wallet transaction; decimals as text. */
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
  /** The remaining credits of a credit row. Zero for debits and for rows that are not completed. */
  readonly credits_available: string;
  /** Conversion rate at the time of the debit or credit (money 2.2.3). */
  readonly conversion_rate: string | null;
  readonly topup_conversion_rate: string | null;
  readonly priority: number | null;
  readonly expiry_date: string | null;
  readonly parent_transaction_id: string | null;
  /** For a debit: the blocks its credits came from. Sums to `credit_amount` minus the overdraft it caused. */
  readonly consumption_breakdown: readonly Consumption[];
}
