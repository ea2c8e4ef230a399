import { z } from 'zod';
import { CreditNote } from './credit-note.ts';
import { INVOICE_STATUSES } from './invoice-requests.ts';
import { Invoice } from './invoice.ts';
import { decimalText, instant, optionalText } from './primitives.ts';
import { searchSchemas } from './search.ts';

export const SETTLED_AS = ['invoice', 'credit_note'] as const;

/** A row of a final invoice whose usage or amount differs today. Amounts are after discounts and before tax. */
export const LateUsageLine = z
  .object({
    /** The row of the invoice; null if only late usage makes the row appear. */
    line_item_id: z.string().nullable(),
    subscription_line_item_id: z.string().nullable(),
    kind: z.enum(['base', 'overage', 'true_up', 'credit']),
    display_name: z.string().nullable(),
    period_start: instant.nullable(),
    period_end: instant.nullable(),
    /** Null for a row without usage of its own, for example a true-up. */
    billed_usage: decimalText.nullable(),
    usage_now: decimalText.nullable(),
    usage_difference: decimalText.nullable(),
    amount_difference: decimalText,
    /** Charged by earlier settlements; negative: credited. */
    settled_amount: decimalText,
    /** What a settlement would charge now; negative: credit. */
    outstanding_amount: decimalText,
  })
  .meta({ id: 'LateUsageLine' });
export type LateUsageLine = z.infer<typeof LateUsageLine>;

/** A final invoice whose usage differs from what was billed. */
export const LateUsage = z
  .object({
    invoice_id: z.string(),
    invoice_number: z.string().nullable(),
    /** FINALIZED, or SKIPPED: that one is computed again instead of settled. */
    invoice_status: z.enum(INVOICE_STATUSES),
    customer_id: z.string(),
    subscription_id: z.string().nullable(),
    currency: z.string(),
    period_start: instant.nullable(),
    period_end: instant.nullable(),
    finalized_at: instant.nullable(),
    lines: z.array(LateUsageLine),
    amount_difference: decimalText,
    settled_amount: decimalText,
    outstanding_amount: decimalText,
    /** Why the invoice cannot be rated again; its amounts are then 0. Null if it can. */
    refusal: z.string().nullable(),
  })
  .meta({ id: 'LateUsage' });
export type LateUsage = z.infer<typeof LateUsage>;

/** Limit, offset and total count the final invoices that are compared; the items are those that differ. */
export const LateUsageSearch = searchSchemas({
  fields: {
    id: 'text',
    period_start: 'time',
    period_end: 'time',
    finalized_at: 'time',
    created_at: 'time',
  },
  withoutStatus: true,
  filters: (kind) => ({
    invoice_ids: kind.list(),
    customer_id: kind.text(),
    subscription_id: kind.text(),
    period_start_gte: kind.time(),
    period_end_lte: kind.time(),
    /** True includes invoices whose late usage is settled completely. */
    include_settled: kind.boolean(),
  }),
});

export const SettleLateUsageBody = z
  .object({
    as: z.enum(SETTLED_AS),
    idempotency_key: optionalText(),
  })
  .meta({ id: 'SettleLateUsage' });
export type SettleLateUsageBody = z.output<typeof SettleLateUsageBody>;

export const PreviewLateUsageBody = SettleLateUsageBody.pick({ as: true }).meta({
  id: 'PreviewLateUsage',
});

/** The document that settles late usage: a one-off invoice or a credit note. */
export const LateUsageSettlement = z
  .object({
    invoice_id: z.string(),
    as: z.enum(SETTLED_AS),
    /** Before tax; negative: credited. */
    amount: decimalText,
    invoice: Invoice.nullable(),
    credit_note: CreditNote.nullable(),
  })
  .meta({ id: 'LateUsageSettlement' });
