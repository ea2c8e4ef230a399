import type { WalletRow } from './wallet-repository.ts';
import type { TransactionRow } from './wallet-transaction-repository.ts';

/** The section of a wallet in notifications (money 17.3). */
export const walletSnapshot = (wallet: WalletRow) => ({
  id: wallet.id,
  customer_id: wallet.customer_id,
  currency: wallet.currency,
  balance: wallet.balance,
  credit_balance: wallet.credit_balance,
  wallet_status: wallet.wallet_status,
  name: wallet.name,
  wallet_type: wallet.wallet_type,
  conversion_rate: wallet.conversion_rate,
});

/** The section of a wallet transaction in notifications (money 17.3). */
export const transactionSnapshot = (row: TransactionRow) => ({
  id: row.id,
  wallet_id: row.wallet_id,
  customer_id: row.customer_id,
  type: row.type,
  amount: row.amount,
  credit_amount: row.credit_amount,
  credit_balance_before: row.credit_balance_before,
  credit_balance_after: row.credit_balance_after,
  transaction_status: row.transaction_status,
  reference_type: row.reference_type,
  reference_id: row.reference_id,
  description: row.description,
  expiry_date: row.expiry_date,
  transaction_reason: row.transaction_reason,
  currency: row.currency,
  metadata: row.metadata,
});
