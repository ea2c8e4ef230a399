import { z } from 'zod';
import {
  decimalText,
  id,
  instant,
  optionalMetadata,
  optionalOneOf,
  optionalText,
  positiveDecimal,
  recordFields,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import { REFUND_REASONS, REFUND_STATUSES, REFUND_TARGETS } from './words.ts';
import { columnNames } from './columns.ts';

const stringMap = z.record(z.string(), z.string());

const refundFields = {
  ...recordFields,
  payment_id: z.string(),
  /** Null for a payment to a customer. */
  invoice_id: z.string().nullable(),
  customer_id: z.string(),
  credit_note_id: z.string().nullable(),
  refund_target: z.enum(REFUND_TARGETS),
  /** The credit by which the money came back, for the target wallet. */
  wallet_transaction_id: z.string().nullable(),
  payment_gateway: z.string().nullable(),
  gateway_refund_id: z.string().nullable(),
  gateway_tracking_id: z.string().nullable(),
  gateway_metadata: stringMap,
  amount: decimalText,
  currency: z.string(),
  refund_status: z.enum(REFUND_STATUSES),
  refund_reason: z.enum(REFUND_REASONS),
  idempotency_key: z.string(),
  failure_reason: z.string().nullable(),
  /** The failed refund that this one pays into the wallet. */
  retry_of: z.string().nullable(),
  initiated_at: instant.nullable(),
  succeeded_at: instant.nullable(),
  failed_at: instant.nullable(),
  cancelled_at: instant.nullable(),
  metadata: stringMap,
};

export const Refund = z.object(refundFields).meta({ id: 'Refund' });
export type Refund = z.infer<typeof Refund>;

/** A row of `refunds`. The token is sent to the gateway and stored before that. */
export type RefundRecord = Refund & {
  readonly gateway_idempotency_token: string | null;
  /** Whether the gateway may have it: stored before the refund is sent. */
  readonly was_sent: boolean;
};
export const REFUND_COLUMNS = columnNames<RefundRecord>()(refundFields, {
  gateway_idempotency_token: true,
  was_sent: true,
});

/** `amount` absent refunds everything that is left; `target` absent is the wallet. */
export const CreateRefundBody = z
  .object({
    payment_id: id,
    amount: positiveDecimal.nullish(),
    target: optionalOneOf(REFUND_TARGETS),
    reason: optionalOneOf(REFUND_REASONS),
    idempotency_key: optionalText(),
    metadata: optionalMetadata,
  })
  .meta({ id: 'CreateRefund' });
export type CreateRefundBody = z.output<typeof CreateRefundBody>;

export const RefundSearch = searchSchemas({
  fields: {
    id: 'text',
    payment_id: 'text',
    invoice_id: 'text',
    customer_id: 'text',
    credit_note_id: 'text',
    refund_target: 'text',
    refund_status: 'text',
    refund_reason: 'text',
    currency: 'text',
    amount: 'number',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  filters: (kind) => ({
    refund_ids: kind.list(),
    payment_id: kind.text(),
    invoice_id: kind.text(),
    customer_id: kind.text(),
    credit_note_id: kind.text(),
    refund_status: kind.oneOf(REFUND_STATUSES),
    refund_target: kind.oneOf(REFUND_TARGETS),
    gateway_refund_id: kind.text(),
  }),
});
