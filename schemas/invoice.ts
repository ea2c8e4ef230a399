import { z } from 'zod';
import { CheckoutSession } from './checkout.ts';
import { TaxApplied, type AppliedTaxRecord } from './tax.ts';
import { Explanation } from './explanation.ts';
import {
  BILLING_REASONS,
  INVOICE_PAYMENT_STATUSES,
  INVOICE_STATUSES,
  INVOICE_TYPES,
} from './invoice-requests.ts';
import { Customer } from './customer.ts';
import { InvoiceCollection } from './invoice-collection.ts';
import {
  decimalText,
  emptyWhenUnset,
  instant,
  recordFields,
  text,
  textOrEmpty,
} from './primitives.ts';
import { expandQuery, searchSchemas } from './search.ts';
import { EmbeddedSubscription } from './subscription.ts';
import { TAX_BEHAVIORS } from './words.ts';
import { columnNames } from './columns.ts';

const stringMap = z.record(z.string(), z.string());

export const TaxSummary = z
  .object({
    exclusive_tax: decimalText,
    inclusive_tax: decimalText,
    total_tax: decimalText,
    /** Why there is no tax; null when there is tax. */
    exemption: z
      .object({
        reason: z.string(),
        reason_code: z.enum(['customer_exempt', 'no_tax_configured']),
      })
      .nullable(),
  })
  .meta({ id: 'TaxSummary' });

/** A discount on an invoice, with the coupon as it was at that time. */
export const CouponApplication = z
  .object({
    ...recordFields,
    invoice_id: z.string(),
    /** The discounted row; null when the coupon applies to the whole invoice. */
    invoice_line_item_id: z.string().nullable(),
    subscription_id: z.string().nullable(),
    coupon_id: z.string(),
    coupon_association_id: z.string().nullable(),
    coupon_snapshot: z.record(z.string(), z.unknown()),
    discount_type: z.enum(['fixed', 'percentage']),
    discount_percentage: decimalText.nullable(),
    /** The base before and after. */
    original_price: decimalText,
    discounted_amount: decimalText,
    final_price: decimalText,
    currency: z.string(),
    applied_at: instant,
    metadata: stringMap,
    /** Each row's share of the discount. */
    shares: z.array(z.object({ invoice_line_item_id: z.string(), amount: decimalText })),
  })
  .meta({ id: 'CouponApplication' });
export type CouponApplication = z.infer<typeof CouponApplication>;

/** A row in the custom currency of its price: the amount that was converted, and the factor. */
export const LineCustomCurrency = z
  .object({
    currency: z.string(),
    symbol: z.string(),
    /** Amount in the custom currency, before discounts. */
    amount: decimalText,
    conversion_factor: decimalText,
  })
  .meta({ id: 'LineCustomCurrency' });

/** An invoice of a subscription in a custom currency. The factor is frozen when the invoice is finalized. */
export const InvoiceCustomCurrency = z
  .object({
    currency: z.string(),
    symbol: z.string(),
    conversion_factor: decimalText,
    /** Sum of the rows in the custom currency. */
    subtotal: decimalText,
  })
  .meta({ id: 'InvoiceCustomCurrency' });

/** Stored and returned fields of an invoice, without rows and embedded records. */
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
  billing_period: textOrEmpty,
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
  tax_summary: TaxSummary.nullable(),
  coupon_applications: z.array(CouponApplication),
  metadata: stringMap,
  /** Why it was not finalized after its grace period; null when finalized or not yet due. */
  finalize_refusal: z.string().nullable(),
  /** Null for an invoice in a currency of ISO 4217. */
  custom_currency: InvoiceCustomCurrency.nullable(),
  version: z.int(),
};
const StoredInvoice = z.object(invoiceFields);

/** Log partition to packed position, decimal text: every event below it counts (metering 5). */
export type StoredWatermarks = Readonly<Record<string, string>>;

/** Usage money of one period, before the overage factor, that counts against a commitment for a longer term. */
export interface CommittedUsage {
  readonly subscription_id: string;
  /** `subscription`, or the root of the price whose line has the commitment. */
  readonly commitment: string;
  readonly period_start: string;
  /** Unrounded, decimal text. */
  readonly base_usage: string;
  /**
   * When the subscription ends, as it was known when the period was closed; null without an end, absent before the
   * close.
   */
  readonly ends_at?: string | null;
}

/** The taxes that later computations of an invoice use. */
export interface PinnedTaxes {
  readonly rates: readonly {
    readonly tax_rate_id: string;
    readonly tax_association_id: string | null;
    readonly percentage_value: string;
    readonly tax_behavior: (typeof TAX_BEHAVIORS)[number];
    readonly priority: number;
  }[];
  readonly exemption: {
    readonly reason: string;
    readonly reason_code: 'customer_exempt' | 'no_tax_configured';
  } | null;
}

/** A row of `invoices`: the returned fields, and the fields that only billing reads. */
export type InvoiceRecord = z.infer<typeof StoredInvoice> & {
  readonly taxes: readonly AppliedTaxRecord[];
  /** Its tax rates, or its exemption, at the close of the period; null before that. */
  readonly pinned_taxes: PinnedTaxes | null;
  /** The caller sent the due date: computations keep it. */
  readonly due_date_given: boolean;
  readonly issue_date_given: boolean;
  /** The pending credit that the invoice sells; null for every other invoice. Clients cannot write it. */
  readonly purchased_transaction_id: string | null;
  readonly revision: number;
  readonly proration_behavior: 'create_prorations' | 'none';
  readonly meter_version_ids: string[];
  readonly usage_watermarks: StoredWatermarks | null;
  readonly finalize_after: string | null;
  readonly stream_heads: StoredWatermarks | null;
  readonly committed_usage: readonly CommittedUsage[];
  /** The grouped subscriptions whose rows are on the invoice. */
  readonly grouped_subscription_ids: readonly string[];
  /** The addon whose rows alone are on the invoice of a closed period; null for every other invoice. */
  readonly addon_association_id: string | null;
};

export const INVOICE_COLUMNS = columnNames<InvoiceRecord>()(invoiceFields, {
  taxes: true,
  pinned_taxes: true,
  due_date_given: true,
  issue_date_given: true,
  purchased_transaction_id: true,
  revision: true,
  proration_behavior: true,
  meter_version_ids: true,
  usage_watermarks: true,
  finalize_after: true,
  stream_heads: true,
  committed_usage: true,
  grouped_subscription_ids: true,
  addon_association_id: true,
});

/** Stored and returned fields of an invoice row. */
export const invoiceLineFields = {
  ...recordFields,
  invoice_id: z.string(),
  customer_id: z.string(),
  subscription_id: z.string().nullable(),
  subscription_line_item_id: z.string().nullable(),
  kind: z.enum(['base', 'overage', 'true_up', 'credit']),
  entity_type: textOrEmpty,
  entity_id: z.string().nullable(),
  price_id: z.string().nullable(),
  price_type: emptyWhenUnset(z.enum(['USAGE', 'FIXED'])),
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
  /** Null for a row in the currency of the invoice. */
  custom_currency: LineCustomCurrency.nullable(),
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

/** A row of `invoice_line_items`: the returned fields and the explanation. */
export type InvoiceLineRecord = z.infer<typeof StoredInvoiceLine> & {
  /** Its index on the invoice, from 0. */
  readonly position: number;
  readonly explanation: Explanation | null;
  /** The usage queries behind the quantity, as executed. */
  readonly usage_queries: readonly unknown[];
  /** Additional queries that decide how much of it is free. */
  readonly allowance_queries: readonly unknown[];
  readonly holds_slot: boolean;
};

export const INVOICE_LINE_COLUMNS = columnNames<InvoiceLineRecord>()(StoredInvoiceLine.shape, {
  position: true,
  explanation: true,
  usage_queries: true,
  allowance_queries: true,
  holds_slot: true,
});

/** One group of a row's usage; the costs of all groups sum to the row's amount (billing 17.9). */
const usageShareFields = {
  cost: decimalText,
  event_count: z.int(),
  /** Of the usage of all groups, with two decimals. */
  percentage: decimalText,
  usage: decimalText,
};

export const InvoiceLineItem = z
  .object({
    ...invoiceLineFields,
    commitment_info: CommitmentInfo.nullable(),
    /** How a row of a preview came about. Null on a stored row: its explanation has a route. */
    explanation: Explanation.nullable(),
    /** The usage by source. Null unless `expand_by_source` requests it, and on rows without usage. */
    usage_analytics: z.array(z.object({ source: z.string(), ...usageShareFields })).nullable(),
    /** The usage by the names of `group_by`. Null unless requested, and on rows whose meter does not keep them. */
    usage_breakdown: z
      .array(z.object({ grouped_by: z.record(z.string(), z.string()), ...usageShareFields }))
      .nullable(),
  })
  .meta({ id: 'InvoiceLineItem' });
export type InvoiceLineItem = z.infer<typeof InvoiceLineItem>;

/**
 * The positions below which the usage of an invoice was read. Reading below them again gives the same
 * numbers.
 */
export const UsageSnapshot = z
  .object({
    meter_version_ids: z.array(z.string()),
    /** Log partition to position, decimal text. */
    watermarks: z.record(z.string(), z.string()),
  })
  .meta({ id: 'UsageSnapshot' });

export const Invoice = z
  .object({
    ...invoiceFields,
    /** Null when left out. */
    line_items: z.array(InvoiceLineItem).nullable(),
    usage_snapshot: UsageSnapshot.nullable(),
    /** Highest priority first. */
    taxes: z.array(TaxApplied),
    /** Of an invoice that is issued once it is paid. */
    checkout_session: CheckoutSession.nullable(),
    /** Charges to a saved method; null when the invoice is not charged automatically. */
    collection: InvoiceCollection.nullable(),
    /** Null unless the route includes the embedded records. */
    customer: Customer.nullable(),
    subscription: EmbeddedSubscription.nullable(),
  })
  .meta({ id: 'Invoice' });
export type Invoice = z.infer<typeof Invoice>;

export const ComputedInvoiceAnswer = z
  .object({ invoice: Invoice, skipped: z.boolean() })
  .meta({ id: 'ComputedInvoice' });

/** Embeds the rate in each of an invoice's taxes. */
export const TAX_RATES_EXPAND = 'tax_applied.tax_rate';

/** How one invoice is read. */
export const InvoiceQuery = expandQuery([TAX_RATES_EXPAND], {
  /** Adds `usage_analytics` to rows with usage. */
  expand_by_source: z.enum(['true', 'false']).optional(),
  /** Adds `usage_breakdown`: `source` and `properties.NAME`, separated by commas. */
  group_by: text(1_000).optional(),
});

export const InvoiceSearch = searchSchemas({
  fields: {
    id: 'text',
    invoice_number: 'text',
    customer_id: 'text',
    subscription_id: 'text',
    currency: 'text',
    invoice_type: 'text',
    invoice_status: 'text',
    payment_status: 'text',
    billing_reason: 'text',
    amount_due: 'number',
    amount_remaining: 'number',
    total: 'number',
    period_start: 'time',
    period_end: 'time',
    due_date: 'time',
    finalized_at: 'time',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['customer', 'subscription', TAX_RATES_EXPAND],
  filters: (kind) => ({
    invoice_ids: kind.list(),
    customer_id: kind.text(),
    external_customer_id: kind.text(),
    subscription_id: kind.text(),
    subscription_customer_id: kind.list(),
    invoice_type: kind.oneOf(INVOICE_TYPES),
    invoice_status: kind.list(z.enum(INVOICE_STATUSES)),
    payment_status: kind.list(z.enum(INVOICE_PAYMENT_STATUSES)),
    billing_reason: kind.oneOf(BILLING_REASONS),
    currency: kind.text(),
    amount_due_gt: kind.decimal(),
    amount_remaining_gt: kind.decimal(),
    period_start_gte: kind.time(),
    period_start_lte: kind.time(),
    period_end_gte: kind.time(),
    period_end_lte: kind.time(),
    skip_line_items: kind.boolean(),
  }),
});

/** The explanation of one invoice row, as stored with the row. */
export const LineExplanation = z
  .object({
    invoice_id: z.string(),
    line_item_id: z.string(),
    explanation: Explanation.nullable(),
    /** The queries to the usage store. */
    usage_queries: z.array(z.unknown()),
    /** Additional queries that decide how much of it is free. */
    allowance_queries: z.array(z.unknown()),
    usage_snapshot: UsageSnapshot.nullable(),
  })
  .meta({ id: 'LineExplanation' });

/** The usage behind an invoice, read again. */
export const UsageCheck = z
  .object({
    invoice_id: z.string(),
    /** Positions below which the invoice was computed, and current positions; null without usage. */
    snapshot: z.record(z.string(), z.string()).nullable(),
    now: z.record(z.string(), z.string()).nullable(),
    lines: z.array(
      z.object({
        line_item_id: z.string(),
        display_name: z.string().nullable(),
        period_start: instant.nullable(),
        period_end: instant.nullable(),
        billed_usage: decimalText,
        usage_now: decimalText,
        /** Change since the invoice was computed. */
        difference: decimalText,
      }),
    ),
  })
  .meta({ id: 'UsageCheck' });
