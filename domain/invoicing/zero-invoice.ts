import type { BILLING_REASONS, INVOICE_TYPES } from '../../schemas/words.ts';
import { decimal } from '../money.ts';
import type { InvoiceRow } from './invoice-row.ts';

export type BillingReason = (typeof BILLING_REASONS)[number];

export type InvoiceType = (typeof INVOICE_TYPES)[number];

/**
 * Whether a computed invoice becomes SKIPPED: a subscription invoice whose rows are all zero, or without rows
 * (billing 17.3). Not skipped: rows that cancel each other out, a full discount, credits that cover
 * everything, the opening preview of a trial, and a manually edited invoice.
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
 * Whether full payment of the invoice makes an incomplete subscription active: only for the first invoice
 * with an amount due (billing 10.3).
 */
export const activatesSubscription = (reason: BillingReason | null): boolean =>
  reason === 'SUBSCRIPTION_CREATE' ||
  reason === 'SUBSCRIPTION_TRIAL_END' ||
  reason === 'SUBSCRIPTION_UPDATE';
