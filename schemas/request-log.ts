import * as z from 'zod';
import { instant } from './primitives.ts';
import { searchSchemas } from './search.ts';

const nullableText = z.string().nullable();

/** One answered request of the last seven days, without its body, query and headers. */
export const RequestLogEntry = z
  .object({
    id: z.string(),
    /** Null for a request about the tenant as a whole. */
    environment_id: nullableText,
    /** As in the header `X-Request-ID` of the answer. */
    request_id: z.string(),
    method: z.string(),
    /** The declared path, for example `/invoices/{id}`. */
    route: z.string(),
    /** As requested, without its query; the declared path if it names a record by a name of the caller's. */
    path: z.string(),
    status_code: z.int(),
    /** `code` of the error body; null after a success. */
    error_code: nullableText,
    duration_ms: z.int(),
    /**
     * Null: no `Idempotency-Key` was sent. `first`: the request ran. `replayed`: it did not run again, and the
     * stored answer was sent. `refused`: the key was in use, or was used for another request.
     */
    idempotency: z.enum(['first', 'replayed', 'refused']).nullable(),
    actor_kind: z.enum(['user', 'service_account', 'customer']),
    user_id: nullableText,
    key_id: nullableText,
    ip: z.string(),
    user_agent: nullableText,
    created_at: instant,
  })
  .meta({ id: 'RequestLogEntry' });
export type RequestLogEntry = z.infer<typeof RequestLogEntry>;

export const RequestLogSearch = searchSchemas({
  fields: {
    created_at: 'time',
    method: 'text',
    route: 'text',
    path: 'text',
    status_code: 'number',
    error_code: 'text',
    duration_ms: 'number',
    ip: 'text',
    user_agent: 'text',
  },
  withoutStatus: true,
  filters: (kind) => ({
    request_id: kind.text(),
    idempotency: kind.oneOf(['first', 'replayed', 'refused']),
    key_id: kind.text(),
    user_id: kind.text(),
    /** Only requests that were refused or failed (400 and above). */
    failed: kind.boolean(),
  }),
});
