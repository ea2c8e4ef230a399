import { z } from 'zod';
import { notOffered } from './not-offered.ts';
import { currency, decimal, id, metadata, text, time } from './primitives.ts';

export const INVOICE_TYPES = ['SUBSCRIPTION', 'ONE_OFF', 'CREDIT'] as const;
export const INVOICE_STATUSES = ['DRAFT', 'FINALIZED', 'VOIDED', 'SKIPPED'] as const;
export const INVOICE_PAYMENT_STATUSES = [
  'INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED', 'REFUNDED',
  'PARTIALLY_REFUNDED', 'VOIDED',
] as const; // prettier-ignore
export const BILLING_REASONS = [
  'SUBSCRIPTION_CREATE', 'SUBSCRIPTION_CYCLE', 'SUBSCRIPTION_UPDATE', 'SUBSCRIPTION_TRIAL_START',
  'SUBSCRIPTION_TRIAL_END', 'PRORATION', 'MANUAL', 'WALLET_AUTO_TOPUP',
] as const; // prettier-ignore
export type BillingReason = (typeof BILLING_REASONS)[number];

/**
 * An invoice of a subscription for one of its billing periods, computed from the subscription.
 * Amounts in the body are ignored: they are computed (billing 17.2).
 */
export const CreateInvoiceBody = z
  .object({
    invoice_type: z.enum(INVOICE_TYPES).refine((value) => value === 'SUBSCRIPTION', {
      message: 'only "SUBSCRIPTION" invoices can be made in this version',
    }),
    customer_id: id,
    subscription_id: id,
    currency,
    /** One billing period; both absent means the current one. */
    period_start: time.nullish(),
    period_end: time.nullish(),
    billing_reason: z
      .enum(BILLING_REASONS)
      .refine((value) => value === 'SUBSCRIPTION_CYCLE', {
        message: 'a billing period is invoiced with reason SUBSCRIPTION_CYCLE',
      })
      .nullish(),
    billing_period: text(20).nullish(),
    amount_due: decimal.nullish(),
    subtotal: decimal.nullish(),
    total: decimal.nullish(),
    metadata: metadata.nullish(),
    idempotency_key: text().nullish(),
    line_items: notOffered('a row of your own'),
    coupons: notOffered('a coupon'),
    invoice_coupons: notOffered('a coupon'),
    line_item_coupons: notOffered('a coupon'),
    tax_rates: notOffered('a tax'),
    tax_rate_overrides: notOffered('a tax'),
    checkout: notOffered('a checkout'),
  })
  .meta({ id: 'CreateInvoice' });
export type CreateInvoiceBody = z.output<typeof CreateInvoiceBody>;

export const PreviewInvoiceBody = z
  .object({
    subscription_id: id,
    /** Any window; both absent means the current billing period. */
    period_start: time.nullish(),
    period_end: time.nullish(),
    hide_zero_charges_line_items: z.boolean().nullish(),
  })
  .meta({ id: 'PreviewInvoice' });
export type PreviewInvoiceBody = z.output<typeof PreviewInvoiceBody>;

export const VoidInvoiceBody = z
  .object({ metadata: metadata.nullish() })
  .meta({ id: 'VoidInvoice' });
