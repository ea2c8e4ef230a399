import { z } from 'zod';
import { decimalText, instant, recordFields, text } from './primitives.ts';
import { WALLET_EXPANDS } from './wallet.ts';
import {
  GRANT_APPLICATION_REASONS,
  GRANT_APPLICATION_STATUSES,
  SUBSCRIPTION_STATUSES,
} from './words.ts';

/** Totals of a customer's invoices in one currency, without draft, skipped and voided invoices. */
export const InvoiceSummary = z
  .object({
    customer_id: z.string(),
    currency: z.string(),
    total_revenue_amount: decimalText,
    /** The open amount, then its parts by kind of charge; the parts sum to it. */
    total_unpaid_amount: decimalText,
    unpaid_usage_charges: decimalText,
    unpaid_fixed_charges: decimalText,
    total_overdue_amount: decimalText,
    total_invoice_count: z.int(),
    unpaid_invoice_count: z.int(),
    overdue_invoice_count: z.int(),
  })
  .meta({ id: 'InvoiceSummary' });
export type InvoiceSummary = z.infer<typeof InvoiceSummary>;

export const CustomerInvoiceSummary = z
  .object({
    customer_id: z.string(),
    /** `""` for a customer without amounts in any currency (as the reference answers). */
    default_currency: z.string(),
    /** The default currency first, then the others by code. */
    summaries: z.array(InvoiceSummary),
  })
  .meta({ id: 'CustomerInvoiceSummary' });
export type CustomerInvoiceSummary = z.infer<typeof CustomerInvoiceSummary>;

/** One period's credits of one grant (money 5.3.1). */
export const CreditGrantApplication = z
  .object({
    ...recordFields,
    credit_grant_id: z.string(),
    subscription_id: z.string(),
    scheduled_for: instant,
    period_start: instant,
    period_end: instant.nullable(),
    credits: decimalText,
    application_status: z.enum(GRANT_APPLICATION_STATUSES),
    application_reason: z.enum(GRANT_APPLICATION_REASONS),
    subscription_status_at_application: z.enum(SUBSCRIPTION_STATUSES).nullable(),
    applied_at: instant.nullable(),
    failure_reason: z.string().nullable(),
    retry_count: z.int(),
    idempotency_key: z.string().nullable(),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'CreditGrantApplication' });
export type CreditGrantApplication = z.infer<typeof CreditGrantApplication>;

const flag = z.enum(['true', 'false']).optional();
/** Exactly one of `id` and `lookup_key`, the customer's external id. */
export const CustomerWalletsQuery = z
  .object({
    id: text(255).min(1).optional(),
    lookup_key: text(255).min(1).optional(),
    include_real_time_balance: flag,
    from_cache: flag,
    expand: text(512).optional(),
  })
  .superRefine(({ id, lookup_key, expand }, context) => {
    const asked = (expand ?? '').split(',').map((name) => name.trim());
    const known: readonly string[] = WALLET_EXPANDS;
    const unknown = asked.find((name) => name !== '' && !known.includes(name));
    if (unknown !== undefined) {
      const message = `"${unknown}" cannot be expanded; one of: ${WALLET_EXPANDS.join(', ')}`;
      context.addIssue({ code: 'custom', path: ['expand'], message });
    }
    if ((id === undefined) === (lookup_key === undefined))
      context.addIssue({ code: 'custom', path: ['id'], message: 'give either id or lookup_key' });
  });
