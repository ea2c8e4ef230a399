import { z } from 'zod';
import {
  currency,
  id,
  instant,
  decimalText,
  optionalId,
  optionalMetadata,
  optionalOneOf,
  optionalText,
  positiveDecimal,
  recordFields,
  text,
  textOrEmpty,
  time,
  decimal,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import {
  PAYMENT_DESTINATION_TYPES,
  PAYMENT_GATEWAYS,
  PAYMENT_METHOD_TYPES,
  PAYMENT_STATUSES,
} from './words.ts';
import { columnNames } from './columns.ts';

const stringMap = z.record(z.string(), z.string());

/** Stored and returned fields of a payment. */
export const paymentFields = {
  ...recordFields,
  idempotency_key: z.string(),
  destination_type: z.enum(PAYMENT_DESTINATION_TYPES),
  destination_id: z.string(),
  customer_id: z.string(),
  payment_method_type: z.enum(PAYMENT_METHOD_TYPES),
  /** The wallet of a CREDITS payment; the saved method of a gateway payment. */
  payment_method_id: textOrEmpty,
  payment_gateway: z.string().nullable(),
  gateway_payment_id: z.string().nullable(),
  gateway_tracking_id: z.string().nullable(),
  /** What is asked of the gateway beside the payment. */
  gateway_metadata: stringMap,
  amount: decimalText,
  currency: z.string(),
  payment_status: z.enum(PAYMENT_STATUSES),
  /** Whether it stands for a payment status that a person set on the invoice. */
  is_manual: z.boolean(),
  track_attempts: z.boolean(),
  payment_url: z.string().nullable(),
  success_url: z.string().nullable(),
  cancel_url: z.string().nullable(),
  save_card_and_make_default: z.boolean(),
  error_message: z.string().nullable(),
  succeeded_at: instant.nullable(),
  failed_at: instant.nullable(),
  refunded_at: instant.nullable(),
  voided_at: instant.nullable(),
  metadata: stringMap,
};
const StoredPayment = z.object(paymentFields);

/** A row of `payments`: the returned fields and the fields that only commands read. */
export type PaymentRecord = z.infer<typeof StoredPayment> & {
  /** The connection whose gateway moves the money. */
  readonly connection_id: string | null;
  readonly request_fingerprint: string;
  readonly implicit_key: string | null;
  readonly last_synced_at: string | null;
  /** When the gateway last answered such a question. */
  readonly last_answered_at: string | null;
  /** When it was deleted; null if it was not, or before this was recorded. */
  readonly archived_at: string | null;
};

export const PAYMENT_COLUMNS = columnNames<PaymentRecord>()(paymentFields, {
  connection_id: true,
  request_fingerprint: true,
  implicit_key: true,
  last_synced_at: true,
  last_answered_at: true,
  archived_at: true,
});

export const PaymentAttempt = z
  .object({
    ...recordFields,
    payment_id: z.string(),
    attempt_number: z.int(),
    payment_status: z.enum(PAYMENT_STATUSES),
    error_message: z.string().nullable(),
    gateway_attempt_id: z.string().nullable(),
    metadata: stringMap,
  })
  .meta({ id: 'PaymentAttempt' });
export type PaymentAttempt = z.infer<typeof PaymentAttempt>;

export const Payment = z
  .object({
    ...paymentFields,
    /** The number of the paid invoice; null where the route does not read the invoice. */
    invoice_number: z.string().nullable(),
    /** Oldest first; empty in lists. */
    attempts: z.array(PaymentAttempt),
  })
  .meta({ id: 'Payment' });
export type Payment = z.infer<typeof Payment>;

const url = text(2_000);

export const CreatePaymentBody = z
  .object({
    destination_type: z.enum(PAYMENT_DESTINATION_TYPES),
    destination_id: id,
    payment_method_type: z.enum(PAYMENT_METHOD_TYPES),
    payment_method_id: optionalId,
    payment_gateway: optionalOneOf(PAYMENT_GATEWAYS),
    amount: positiveDecimal,
    currency,
    /** False only records the payment; `POST /payments/{id}/process` then makes it. */
    process_payment: z.boolean().nullish(),
    /** When an OFFLINE payment was received, not later than now. Default: now. */
    succeeded_at: time.nullish(),
    /** Saves the method as the customer's default once the payment has succeeded. */
    save_card_and_make_default: z.boolean().nullish(),
    success_url: url.nullish(),
    cancel_url: url.nullish(),
    /** Stripe asks for the tax id on its page (interface, rule 15); no other gateway has the option. */
    gateway_options: z
      .object({
        stripe: z.object({ tax_id_collection_enabled: z.boolean().nullish() }).nullish(),
      })
      .nullish(),
    idempotency_key: optionalText(),
    metadata: optionalMetadata,
  })
  .meta({ id: 'CreatePayment' });
export type CreatePaymentBody = z.output<typeof CreatePaymentBody>;

/** The amount of a payment never changes (interface, other shown behaviors). */
export const UpdatePaymentBody = z
  .object({
    payment_status: optionalOneOf(PAYMENT_STATUSES),
    payment_gateway: optionalOneOf(PAYMENT_GATEWAYS),
    gateway_payment_id: optionalText(),
    payment_method_id: optionalText(),
    error_message: optionalText(10_000),
    succeeded_at: time.nullish(),
    failed_at: time.nullish(),
    refunded_at: time.nullish(),
    voided_at: time.nullish(),
    metadata: optionalMetadata,
    /** Only the amount that the payment has: a record may be sent back whole. */
    amount: decimal.nullish(),
  })
  .meta({ id: 'UpdatePayment' });
export type UpdatePaymentBody = z.output<typeof UpdatePaymentBody>;

/** `amount` is the total paid so far. */
export const UpdatePaymentStatusBody = z
  .object({ payment_status: z.enum(PAYMENT_STATUSES), amount: decimal.nullish() })
  .meta({ id: 'UpdatePaymentStatus' });

export const PaymentSearch = searchSchemas({
  fields: {
    id: 'text',
    destination_type: 'text',
    destination_id: 'text',
    customer_id: 'text',
    payment_method_type: 'text',
    payment_gateway: 'text',
    payment_status: 'text',
    currency: 'text',
    amount: 'number',
    succeeded_at: 'time',
    failed_at: 'time',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['invoice'],
  filters: (kind) => ({
    payment_ids: kind.list(),
    destination_type: kind.oneOf(PAYMENT_DESTINATION_TYPES),
    destination_id: kind.text(),
    customer_id: kind.text(),
    payment_method_type: kind.oneOf(PAYMENT_METHOD_TYPES),
    payment_status: kind.oneOf(PAYMENT_STATUSES),
    payment_gateway: kind.oneOf(PAYMENT_GATEWAYS),
    gateway_payment_id: kind.text(),
    gateway_tracking_id: kind.text(),
    currency: kind.text(),
  }),
});
