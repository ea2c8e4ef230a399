import { z } from 'zod';
import { ACTOR_KINDS } from './audit-words.ts';
import { decimalText, instant } from './primitives.ts';
import { searchSchemas } from './search.ts';

export const TIMELINE_KINDS = ['change', 'notification', 'invoice'] as const;

const OWNERS = ['customer_id', 'subscription_id', 'invoice_id'] as const;

const search = searchSchemas({
  fields: { created_at: 'time' },
  withoutStatus: true,
  filters: (kind) => ({
    customer_id: kind.text(),
    subscription_id: kind.text(),
    invoice_id: kind.text(),
    /** Absent means all kinds. */
    kind: kind.oneOf(TIMELINE_KINDS),
  }),
});

/** The body of `POST /timeline/search`: whose timeline, and the usual fields of a search. */
export const TimelineSearchBody = search.body.refine(
  (body) => OWNERS.filter((owner) => body[owner] != null).length === 1,
  {
    path: ['customer_id'],
    message: 'send exactly one of customer_id, subscription_id and invoice_id',
  },
);
export type TimelineSearchBody = z.output<typeof TimelineSearchBody>;

const fields = z.record(z.string(), z.unknown()).nullable();
const nullableText = z.string().nullable();

/**
 * One event in the life of a record: a change from the audit log, a notification, or an invoice that was
 * issued, paid or voided.
 */
export const TimelineEntry = z
  .object({
    id: z.string(),
    kind: z.enum(TIMELINE_KINDS),
    created_at: instant,
    /** `created`, `updated` or `deleted`; the type of the notification; `issued`, `paid` or `voided`. */
    action: z.string(),
    entity_type: z.string(),
    entity_id: z.string(),
    /** The changed fields of an update; null for all other entries. */
    before: fields,
    after: fields,
    /** Null unless the entry is a change. */
    actor_kind: z.enum(ACTOR_KINDS).nullable(),
    user_id: nullableText,
    key_id: nullableText,
    job: nullableText,
    request_id: nullableText,
    /** Null unless the entry is an invoice. */
    invoice: z
      .object({ invoice_number: nullableText, currency: z.string(), total: decimalText })
      .nullable(),
    /** Where the notification was sent; empty for other entries. */
    deliveries: z.array(
      z.object({
        endpoint_id: z.string(),
        delivery_status: z.enum(['pending', 'delivered', 'exhausted']),
        attempts: z.int(),
      }),
    ),
  })
  .meta({ id: 'TimelineEntry' });
export type TimelineEntry = z.infer<typeof TimelineEntry>;
