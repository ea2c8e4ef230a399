import type { BILLING_REASONS, INVOICE_TYPES } from '../../schemas/words.ts';
import { decimal } from '../money.ts';
import type { InvoiceRow } from './invoice-row.ts';

export type BillingReason = (typeof BILLING_REASONS)[number];

export type InvoiceType = (typeof INVOICE_TYPES)[number];

/**
 * Whether a computed invoice becomes SKIPPED: of a subscription, and every row is zero or there is
 * none (billing 17.3). Rows that cancel each other out, a full discount or credits that
 * cover everything do not skip it, nor does a trial's opening preview or an edit by hand.
 */
export function skipsAsZero(
  invoice: {
    readonly invoice_type: InvoiceType;
    readonly billing_reason: BillingReason | null;
    readonly is_manually_edited: boolean;
  },
  lines: readonly Pick<InvoiceRow, 'amount'>[],
): boolean {
  if (invoice.invoice_type !== 'SUBSCRIPTION' || invoice.is_manually_edited) return false;
  if (invoice.billing_reason === 'SUBSCRIPTION_TRIAL_START') return false;
  return lines.every((line) => decimal(line.amount).isZero());
}

/**
 * Whether a full payment of the invoice makes an incomplete subscription active: it is the first one
 * that asked for money (billing 10.3).
 */
export const activatesSubscription = (reason: BillingReason | null): boolean =>
  reason === 'SUBSCRIPTION_CREATE' ||
  reason === 'SUBSCRIPTION_TRIAL_END' ||
  reason === 'SUBSCRIPTION_UPDATE';
