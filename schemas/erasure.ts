import { z } from 'zod';
import { instant, name, recordFields } from './primitives.ts';

export const EraseCustomerBody = z.object({ reason: name(1000) }).meta({ id: 'EraseCustomer' });
export type EraseCustomerBody = z.output<typeof EraseCustomerBody>;

export const ERASURE_STATES = ['requested', 'erased', 'complete'] as const;

/**
 * The erasure of a customer's personal data. requested: the customer's record is overwritten, its events
 * are not yet. erased: the properties of its events are erased too. complete: the event log no longer
 * holds them either.
 */
export const Erasure = z
  .object({
    ...recordFields,
    customer_id: z.string(),
    external_customer_id: z.string(),
    reason: z.string(),
    request_id: z.string(),
    state: z.enum(ERASURE_STATES),
    /** Events accepted up to this instant lose their properties. */
    events_until: instant,
    erased_at: instant.nullable(),
    /** Number of copies that had properties at the start; null until counted. */
    erased_events: z.int().nullable(),
    completed_at: instant.nullable(),
  })
  .meta({ id: 'Erasure' });
export type Erasure = z.infer<typeof Erasure>;
