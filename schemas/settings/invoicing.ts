import { z } from 'zod';
import { imageDataUri } from '../image.ts';
import { name, text } from '../primitives.ts';
import { timezone } from '../timezone.ts';
import { colour } from './colour.ts';

const count = z.int32().min(0);
/** Ten years: dates that are counted from it stay in the calendar. */
const DAYS_MAX = 3_650;

export const InvoiceConfig = z.object({
  prefix: name(20),
  format: z.enum(['YYYYMM', 'YYYYMMDD', 'YYMMDD', 'YY', 'YYYY']),
  separator: text(5).optional(),
  /** The first number. A later change never assigns a used number again. */
  start_sequence: count,
  suffix_length: z.int().min(1).max(10),
  timezone,
  due_date_days: count.max(DAYS_MAX).optional(),
  finalization_delay_seconds: count.max(30 * 86_400).optional(),
  auto_complete_purchased_credit_transaction: z.boolean().optional(),
});
export const INVOICE_CONFIG_DEFAULT = {
  prefix: 'INV',
  format: 'YYYYMM',
  separator: '-',
  start_sequence: 1,
  suffix_length: 5,
  timezone: 'UTC',
  due_date_days: 1,
  finalization_delay_seconds: 7200,
  auto_complete_purchased_credit_transaction: false,
} as const;

export const SubscriptionConfig = z.object({
  grace_period_days: z.int32().min(1).max(DAYS_MAX),
  auto_cancellation_enabled: z.boolean().optional(),
});
export const SUBSCRIPTION_CONFIG_DEFAULT = {
  grace_period_days: 3,
  auto_cancellation_enabled: false,
};

export const InvoicePdfConfig = z.object({
  template_name: z.enum(['invoice.typ']),
  /** Fields of the rows, or keys of their metadata; their values become headings. */
  group_by: z.array(name()).max(20).optional(),
  /** A PNG or JPEG image as a data URI. */
  logo: imageDataUri.optional(),
  colors: z.object({ accent: colour }).optional(),
  /** Lines of the sender's address, below the name of the tenant. */
  address: text(1000).optional(),
  tax_ids: z.array(name()).max(10).optional(),
  notes: text(2000).optional(),
});
export const INVOICE_PDF_CONFIG_DEFAULT = { template_name: 'invoice.typ', group_by: [] };

export const DraftInvoiceRecomputeConfig = z.object({ enabled: z.boolean().optional() });
export const DRAFT_INVOICE_RECOMPUTE_CONFIG_DEFAULT = { enabled: false };
