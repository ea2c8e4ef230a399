import * as z from 'zod';
import { instant } from './primitives.ts';
import { searchSchemas } from './search.ts';

export const GATEWAY_EVENT_KINDS = ['payment', 'refund', 'dispute'] as const;
export const GATEWAY_EVENT_OUTCOMES = ['applied', 'set_aside', 'ignored'] as const;

/** An event that a gateway sent about a payment, and what it did. */
export const GatewayEventRecord = z
  .object({
    id: z.string(),
    /** The gateway's own id: an event with it is handled once. */
    event_id: z.string(),
    kind: z.enum(GATEWAY_EVENT_KINDS),
    outcome: z.enum(GATEWAY_EVENT_OUTCOMES),
    /** Why it was set aside or ignored. */
    reason: z.string().nullable(),
    /** How often the gateway sent it again. A repeat has no effect. */
    repeats: z.int(),
    last_repeated_at: instant.nullable(),
    /** When it came first. */
    created_at: instant,
  })
  .meta({ id: 'GatewayEvent' });
export type GatewayEventRecord = z.infer<typeof GatewayEventRecord>;

/** With `invoice_id`: events about all payments of the invoice. */
export const GatewayEventSearch = searchSchemas({
  fields: { id: 'text', event_id: 'text', kind: 'text', outcome: 'text', created_at: 'time' },
  withoutStatus: true,
  filters: (kind) => ({ payment_id: kind.text(), invoice_id: kind.text() }),
});
