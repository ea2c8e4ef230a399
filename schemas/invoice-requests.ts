import { z } from 'zod';
import { CheckoutParams } from './checkout.ts';
import {
  currency,
  decimal,
  id,
  metadata,
  nonNegativeDecimal,
  optionalId,
  optionalMetadata,
  optionalName,
  optionalOneOf,
  optionalText,
  text,
  time,
} from './primitives.ts';
import { TaxRateOverride } from './tax.ts';
import { REFUND_TARGETS } from './words.ts';

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

const ROWS_MAX = 1000;
const address = text(2000)
  .check(z.url({ protocol: /^https?$/, error: 'must be an address that begins with https://' }))
  .or(z.literal(''))
  .nullish();

/**
 * A row that the caller writes. The amount is the amount of the row; it is not multiplied by the quantity.
 * Discounts and prepaid credits of the row are computed.
 */
const rowFields = {
  display_name: optionalName(),
  amount: decimal,
  quantity: nonNegativeDecimal,
  price_type: optionalOneOf(['USAGE', 'FIXED']),
  entity_type: optionalText(50),
  entity_id: optionalId,
  price_id: optionalId,
  price_unit: optionalText(20),
  price_unit_amount: decimal.nullish(),
  meter_id: optionalId,
  meter_display_name: optionalName(),
  plan_display_name: optionalName(),
  period_start: time.nullish(),
  period_end: time.nullish(),
  metadata: optionalMetadata,
};
export const InvoiceRowBody = z
  .object({ ...rowFields, quantity: nonNegativeDecimal.nullish() })
  .meta({ id: 'CreateInvoiceRow' });
export type InvoiceRowBody = z.output<typeof InvoiceRowBody>;

/**
 * An invoice. `SUBSCRIPTION`: the draft of one billing period, computed from the subscription; amounts in the
 * body are ignored (billing 17.2). `ONE_OFF` and `CREDIT`: an invoice of the given rows, issued at once.
 */
export const CreateInvoiceBody = z
  .object({
    invoice_type: z.enum(INVOICE_TYPES),
    customer_id: id,
    subscription_id: optionalId,
    currency,
    /** The billing period of a subscription; both absent means the current one. */
    period_start: time.nullish(),
    period_end: time.nullish(),
    billing_reason: optionalOneOf(BILLING_REASONS),
    billing_period: optionalText(20),
    /** Checked against the rows, or ignored when the amounts are computed from a subscription. */
    amount_due: decimal.nullish(),
    subtotal: decimal.nullish(),
    total: decimal.nullish(),
    description: optionalText(5000),
    due_date: time.nullish(),
    issue_date: time.nullish(),
    invoice_pdf_url: address,
    metadata: metadata.nullish(),
    idempotency_key: text().nullish(),
    line_items: z.array(InvoiceRowBody).max(ROWS_MAX).nullish(),
    /** Ids of coupons for the whole invoice, in the order in which they apply. */
    coupons: z.array(id).max(50).nullish(),
    invoice_coupons: z
      .array(z.object({ coupon_id: id }))
      .max(50)
      .nullish(),
    /** Coupons of single rows; `line_item_id` is the `price_id` of the row. */
    line_item_coupons: z
      .array(z.object({ coupon_id: id, line_item_id: id }))
      .max(50)
      .nullish(),
    /** Ids of tax rates. */
    tax_rates: z.array(id).max(50).nullish(),
    tax_rate_overrides: z.array(TaxRateOverride).max(50).nullish(),
    /** Of a one-off invoice: it is issued once the checkout session is paid. */
    checkout: CheckoutParams.nullish(),
  })
  .meta({ id: 'CreateInvoice' });
export type CreateInvoiceBody = z.output<typeof CreateInvoiceBody>;

/** Absent fields stay unchanged. */
export const UpdateInvoiceBody = z
  .object({
    metadata: metadata.nullish(),
    /** Null: derived from the payment terms again. */
    due_date: time.nullish(),
    invoice_pdf_url: address,
    /** Derives the coupons of a draft again, and with them taxes and totals. */
    apply_discount: z.boolean().nullish(),
  })
  .meta({ id: 'UpdateInvoice' });
export type UpdateInvoiceBody = z.output<typeof UpdateInvoiceBody>;

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

/** `amount`: how much of what was paid is refunded; absent refunds all of it. */
export const VoidInvoiceBody = z
  .object({
    metadata: metadata.nullish(),
    amount: nonNegativeDecimal.nullish(),
    refund_target: optionalOneOf(REFUND_TARGETS),
  })
  .meta({ id: 'VoidInvoice' });
export type VoidInvoiceBody = z.output<typeof VoidInvoiceBody>;

const RowAddition = z.object({
  ...rowFields,
  action: z.literal('add'),
  quantity: nonNegativeDecimal.nullish(),
});
/** Fields that are absent stay unchanged. The row has a new id afterwards. */
const RowUpdate = z.object({
  action: z.literal('update'),
  id,
  display_name: optionalName(),
  amount: decimal.nullish(),
  quantity: nonNegativeDecimal.nullish(),
  period_start: time.nullish(),
  period_end: time.nullish(),
  metadata: optionalMetadata,
});
const RowRemoval = z.object({ action: z.literal('remove'), id });
export const RowEditBody = z
  .discriminatedUnion('action', [RowAddition, RowUpdate, RowRemoval])
  .meta({ id: 'InvoiceRowEdit' });
export type RowEditBody = z.output<typeof RowEditBody>;

/** Edits of the rows of an invoice, in order. */
export const ModifyInvoiceBody = z
  .object({
    line_items: z.array(RowEditBody).max(ROWS_MAX).nullish(),
    /** Derives the coupons again; absent, each discount keeps its amount as far as the rows allow. */
    apply_discount: z.boolean().nullish(),
  })
  .meta({ id: 'ModifyInvoice' });
export type ModifyInvoiceBody = z.output<typeof ModifyInvoiceBody>;

/** Notifications of an invoice that a caller can request again. */
export const NOTIFIED_INVOICE_EVENTS = [
  'invoice.update.finalized', 'invoice.update.payment', 'invoice.update.voided',
  'invoice.communication.triggered',
] as const; // prettier-ignore
export type NotifiedInvoiceEvent = (typeof NOTIFIED_INVOICE_EVENTS)[number];
export const TriggerWebhookQuery = z.object({ event_name: z.enum(NOTIFIED_INVOICE_EVENTS) });
export const TriggeredWebhook = z.object({
  message: z.string(),
  event_name: z.enum(NOTIFIED_INVOICE_EVENTS),
});
