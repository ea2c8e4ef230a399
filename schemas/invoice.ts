import { z } from 'zod';
import { Explanation } from './explanation.ts';
import {
  BILLING_REASONS,
  INVOICE_PAYMENT_STATUSES,
  INVOICE_STATUSES,
  INVOICE_TYPES,
} from './invoice-requests.ts';
import { decimalText, instant, recordFields } from './primitives.ts';

const stringMap = z.record(z.string(), z.string());

/** What is stored of an invoice and shown: everything but rows and embedded records. */
export const invoiceFields = {
  ...recordFields,
  customer_id: z.string(),
  subscription_id: z.string().nullable(),
  subscription_customer_id: z.string().nullable(),
  invoice_number: z.string().nullable(),
  invoice_type: z.enum(INVOICE_TYPES),
  invoice_status: z.enum(INVOICE_STATUSES),
  payment_status: z.enum(INVOICE_PAYMENT_STATUSES),
  currency: z.string(),
  description: z.string().nullable(),
  billing_period: z.string().nullable(),
  billing_reason: z.enum(BILLING_REASONS).nullable(),
  billing_sequence: z.int().nullable(),
  subtotal: decimalText,
  total: decimalText,
  total_discount: decimalText,
  total_tax: decimalText,
  total_prepaid_credits_applied: decimalText,
  amount_due: decimalText,
  amount_paid: decimalText,
  amount_remaining: decimalText,
  adjustment_amount: decimalText,
  overpaid_amount: decimalText,
  refunded_amount: decimalText,
  period_start: instant.nullable(),
  period_end: instant.nullable(),
  due_date: instant.nullable(),
  issue_date: instant.nullable(),
  finalized_at: instant.nullable(),
  paid_at: instant.nullable(),
  voided_at: instant.nullable(),
  last_computed_at: instant.nullable(),
  idempotency_key: z.string().nullable(),
  invoice_pdf_url: z.string().nullable(),
  recalculated_invoice_id: z.string().nullable(),
  is_manually_edited: z.boolean(),
  source_type: z.string().nullable(),
  metadata: stringMap,
  version: z.int(),
};
const StoredInvoice = z.object(invoiceFields);

/** Log partition to packed position, decimal text: below it every event counts (metering 5). */
export type StoredWatermarks = Readonly<Record<string, string>>;

/** A row of `invoices`: what is shown, and what only billing reads. */
export type InvoiceRecord = z.infer<typeof StoredInvoice> & {
  readonly revision: number;
  readonly meter_version_ids: string[];
  readonly usage_watermarks: StoredWatermarks | null;
  readonly finalize_after: string | null;
  readonly stream_heads: StoredWatermarks | null;
  readonly finalize_refusal: string | null;
};

/** What is stored of a row and shown. */
export const invoiceLineFields = {
  ...recordFields,
  invoice_id: z.string(),
  customer_id: z.string(),
  subscription_id: z.string().nullable(),
  subscription_line_item_id: z.string().nullable(),
  kind: z.enum(['base', 'overage', 'true_up', 'credit']),
  entity_type: z.string().nullable(),
  entity_id: z.string().nullable(),
  price_id: z.string().nullable(),
  price_type: z.enum(['USAGE', 'FIXED']).nullable(),
  price_unit: z.string().nullable(),
  price_unit_id: z.string().nullable(),
  price_unit_amount: decimalText.nullable(),
  meter_id: z.string().nullable(),
  meter_display_name: z.string().nullable(),
  plan_display_name: z.string().nullable(),
  display_name: z.string().nullable(),
  currency: z.string(),
  quantity: decimalText,
  amount: decimalText,
  line_item_discount: decimalText,
  invoice_level_discount: decimalText,
  prepaid_credits_applied: decimalText,
  adjusted_entitlement_quantity: decimalText.nullable(),
  parent_line_item_id: z.string().nullable(),
  period_start: instant.nullable(),
  period_end: instant.nullable(),
  metadata: stringMap,
};
export const CommitmentInfo = z
  .object({
    type: z.enum(['amount', 'quantity']),
    amount: decimalText,
    quantity: decimalText,
    duration: z.string().nullable(),
    is_windowed: z.boolean(),
    overage_factor: decimalText,
    true_up_enabled: z.boolean(),
    computed_commitment_utilized_amount: decimalText,
    computed_overage_amount: decimalText,
    computed_true_up_amount: decimalText,
  })
  .meta({ id: 'CommitmentInfo' });
const StoredInvoiceLine = z.object({
  ...invoiceLineFields,
  commitment_info: CommitmentInfo.nullable(),
});

/** A row of `invoice_line_items`: what is shown, and how it came about. */
export type InvoiceLineRecord = z.infer<typeof StoredInvoiceLine> & {
  /** Its place on the invoice, from 0. */
  readonly position: number;
  readonly explanation: Explanation | null;
  /** The usage questions behind the quantity, as they were asked. */
  readonly usage_queries: readonly unknown[];
  readonly holds_slot: boolean;
};
