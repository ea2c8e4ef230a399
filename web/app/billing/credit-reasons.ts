import type { ApiRecord } from '../../client/api.ts';

type Transaction = Pick<ApiRecord<'WalletTransaction'>, 'transaction_reason' | 'reference_type'>;
type Reason = Transaction['transaction_reason'];

const REASONS: Readonly<Record<Reason, string>> = {
  FREE_CREDIT_GRANT: 'Free credits',
  SUBSCRIPTION_CREDIT_GRANT: 'Credits of the subscription',
  PURCHASED_CREDIT_BONUS: 'Bonus for a purchase',
  PURCHASED_CREDIT_INVOICED: 'Purchased, by invoice',
  PURCHASED_CREDIT_DIRECT: 'Purchased',
  CREDIT_NOTE: 'Credit note',
  INVOICE_VOID_REFUND: 'Returned by a voided invoice',
  INVOICE_PAYMENT: 'Payment of an invoice',
  CREDIT_ADJUSTMENT: 'Adjustment',
  CREDIT_EXPIRED: 'Expired',
  WALLET_TERMINATION: 'Wallet closed',
  MANUAL_BALANCE_DEBIT: 'Removed by hand',
};

/** Why credits came or went. An adjustment that names an invoice is what the wallet paid of it. */
export const creditReasonOf = ({ transaction_reason, reference_type }: Transaction): string =>
  transaction_reason === 'CREDIT_ADJUSTMENT' && reference_type === 'INVOICE'
    ? 'Applied to an invoice'
    : REASONS[transaction_reason];
