import { BillingError, invalidField } from '../errors.ts';
import { decimal, type Decimal } from '../money.ts';

/**
 * Idempotency keys of rows that the system writes. Each key names the cause, so one cause writes one row
 * however often it is retried. Keys contain no clock reading and no random part (money 1.7,
 * 2.10.4). They share a prefix that clients must not use.
 */
export const transactionKey = {
  expiry: (blockId: string) => `system:expiry:${blockId}`,
  termination: (walletId: string) => `system:terminate:${walletId}`,
  grantApplication: (applicationId: string) => `system:grant:${applicationId}`,
  creditNote: (creditNoteId: string) => `system:cn:${creditNoteId}`,
  /** `number` counts the voids of the invoice's applications; `consumedId` is the refilled block. */
  voidRefund: (invoiceId: string, number: number, consumedId: string) =>
    `system:void:${invoiceId}:${number}:${consumedId}`,
  /** `applyVersion` rises only when an earlier application was reversed (money 2.6.5). */
  prepaid: (invoiceId: string, applyVersion: number, walletId: string) =>
    `system:prepaid:${invoiceId}:${applyVersion}:${walletId}`,
  negativeNet: (invoiceId: string) => `system:negative-net:${invoiceId}`,
  /** The credits that a refund of their price takes back (money 9.16). `cause`: the key of the refund. */
  recall: (cause: string) => `system:recall:${cause}`,
  refundRetry: (refundId: string) => `system:refund-retry:${refundId}`,
  autoTopUp: (walletId: string, evaluationId: string) =>
    `system:autotopup:${walletId}:${evaluationId}`,
} as const;

/** Refuses a client's key with the prefix of system keys (money 2.10.4). */
export function assertClientKey(key: string): void {
  if (key.startsWith('system:')) {
    throw invalidField('idempotency_key', 'must not begin with "system:"');
  }
}

/**
 * Fields that must be equal for two requests with one key to be the same request (money 2.10.2).
 */
export interface TransactionFingerprint {
  readonly wallet_id: string;
  readonly type: 'credit' | 'debit';
  readonly transaction_reason: string;
  readonly credits: Decimal;
}

/**
 * Whether a request repeats the stored row with its key. If so, the row is returned and nothing is written.
 * When the row belongs to another request, it refuses with 409 (money 2.10.2).
 */
export function isReplay(
  stored: {
    readonly wallet_id: string;
    readonly type: 'credit' | 'debit';
    readonly transaction_reason: string;
    readonly credit_amount: string;
  } | null,
  request: TransactionFingerprint,
): boolean {
  if (stored === null) return false;
  const same =
    stored.wallet_id === request.wallet_id &&
    stored.type === request.type &&
    stored.transaction_reason === request.transaction_reason &&
    decimal(stored.credit_amount).eq(request.credits);
  if (same) return true;
  const message = 'The idempotency key was used for another wallet transaction.';
  throw new BillingError('conflict', 'idempotency_key_reused', message, [
    { path: 'idempotency_key', code: 'idempotency_key_reused', message },
  ]);
}
