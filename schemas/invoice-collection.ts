import { z } from 'zod';
import { instant } from './primitives.ts';

export const COLLECTION_STATUSES = [
  'scheduled', 'attempting', 'collected', 'exhausted', 'stopped',
] as const; // prettier-ignore

/** Charges of an invoice to a saved method, past and to come (money 8.6, 8.7). */
export const InvoiceCollection = z
  .object({
    /**
     * `scheduled`: a charge is due at `next_attempt_at`; `attempting`: the gateway has been asked; `exhausted`:
     * the last charge failed; `stopped`: no method is left to charge, or the invoice needs no charge any more.
     */
    status: z.enum(COLLECTION_STATUSES),
    attempt_count: z.int(),
    next_attempt_at: instant.nullable(),
    /** The charges still to come, if each one fails. */
    upcoming_attempts: z.array(instant),
    last_payment_id: z.string().nullable(),
  })
  .meta({ id: 'InvoiceCollection' });
export type InvoiceCollection = z.infer<typeof InvoiceCollection>;
