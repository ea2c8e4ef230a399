import { z } from 'zod';
import { Customer } from './customer.ts';
import { Invoice } from './invoice.ts';
import {
  decimalText,
  id,
  instant,
  optionalMetadata,
  optionalName,
  optionalOneOf,
  optionalText,
  positiveDecimal,
  recordFields,
  textOrEmpty,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import { EmbeddedSubscription } from './subscription.ts';
import {
  CREDIT_NOTE_REASONS,
  CREDIT_NOTE_STATUSES,
  CREDIT_NOTE_TYPES,
  REFUND_STATUSES,
  REFUND_TARGETS,
} from './words.ts';
import { columnNames } from './columns.ts';

const stringMap = z.record(z.string(), z.string());

export const CreditNoteLineItem = z
  .object({
    ...recordFields,
    credit_note_id: z.string(),
    /** A row of the invoice, or `tax`: the exclusive tax of the credited rows. */
    invoice_line_item_id: z.string(),
    display_name: z.string().nullable(),
    amount: decimalText,
    currency: z.string(),
    metadata: stringMap,
  })
  .meta({ id: 'CreditNoteLineItem' });
export type CreditNoteLineItem = z.infer<typeof CreditNoteLineItem>;

/** A row of `credit_note_lines`. */
export type CreditNoteLineRecord = CreditNoteLineItem & { readonly position: number };
export const CREDIT_NOTE_LINE_COLUMNS = columnNames<CreditNoteLineRecord>()(
  CreditNoteLineItem.shape,
  { position: true },
);

/** Stored and returned fields of a credit note. */
export const creditNoteFields = {
  ...recordFields,
  credit_note_number: z.string(),
  invoice_id: z.string(),
  customer_id: z.string(),
  subscription_id: z.string().nullable(),
  credit_note_status: z.enum(CREDIT_NOTE_STATUSES),
  credit_note_type: z.enum(CREDIT_NOTE_TYPES),
  /** Where the money of a REFUND goes; null for an ADJUSTMENT. */
  refund_target: z.enum(REFUND_TARGETS).nullable(),
  reason: z.enum(CREDIT_NOTE_REASONS),
  memo: textOrEmpty,
  currency: z.string(),
  total_amount: decimalText,
  idempotency_key: z.string(),
  finalized_at: instant.nullable(),
  voided_at: instant.nullable(),
  metadata: stringMap,
};
const StoredCreditNote = z.object(creditNoteFields);

/** A row of `credit_notes`. */
export type CreditNoteRecord = z.infer<typeof StoredCreditNote> & {
  readonly request_fingerprint: string;
};
export const CREDIT_NOTE_COLUMNS = columnNames<CreditNoteRecord>()(creditNoteFields, {
  request_fingerprint: true,
});

export const CreditNote = z
  .object({
    ...creditNoteFields,
    line_items: z.array(CreditNoteLineItem),
    /** The state of its refunds to a gateway; null without any. */
    refund_status: z.enum(REFUND_STATUSES).nullable(),
    /** Null unless the route includes the embedded records. */
    invoice: Invoice.nullable(),
    customer: Customer.nullable(),
    subscription: EmbeddedSubscription.nullable(),
  })
  .meta({ id: 'CreditNote' });
export type CreditNote = z.infer<typeof CreditNote>;

const LINES_MAX = 1_000;

export const CreateCreditNoteBody = z
  .object({
    invoice_id: id,
    reason: z.enum(CREDIT_NOTE_REASONS),
    /** Follows from the invoice; another one is refused. */
    credit_note_type: optionalOneOf(CREDIT_NOTE_TYPES),
    refund_target: optionalOneOf(REFUND_TARGETS),
    line_items: z
      .array(
        z.object({
          /** A row of the invoice, or `tax`. */
          invoice_line_item_id: id,
          amount: positiveDecimal,
          display_name: optionalName(),
          metadata: optionalMetadata,
        }),
      )
      .min(1, 'must name at least one row of the invoice')
      .max(LINES_MAX),
    /** True finalizes the note in the same request. */
    process_credit_note: z.boolean().nullish(),
    credit_note_number: optionalText(),
    memo: optionalText(10_000),
    metadata: optionalMetadata,
    idempotency_key: optionalText(),
  })
  .meta({ id: 'CreateCreditNote' });
export type CreateCreditNoteBody = z.output<typeof CreateCreditNoteBody>;

export const CreditNoteSearch = searchSchemas({
  fields: {
    id: 'text',
    credit_note_number: 'text',
    invoice_id: 'text',
    customer_id: 'text',
    subscription_id: 'text',
    credit_note_status: 'text',
    credit_note_type: 'text',
    reason: 'text',
    currency: 'text',
    total_amount: 'number',
    finalized_at: 'time',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['invoice', 'customer', 'subscription', 'credit_note'],
  filters: (kind) => ({
    credit_note_ids: kind.list(),
    invoice_id: kind.text(),
    customer_id: kind.text(),
    subscription_id: kind.text(),
    credit_note_status: kind.list(z.enum(CREDIT_NOTE_STATUSES)),
    credit_note_type: kind.oneOf(CREDIT_NOTE_TYPES),
  }),
});
