import { z } from 'zod';
import { ACTOR_KINDS, AUDIT_ACTIONS } from './audit-words.ts';
import { instant, matching } from './primitives.ts';
import { searchSchemas } from './search.ts';

/** Faults that a verification of the chain of hashes can find. */
export const CHAIN_PROBLEMS = [
  'the row was changed',
  'the row is missing',
  'the link is missing',
  'the row is in no chain',
] as const;

const fields = z.record(z.string(), z.unknown()).nullable();
const nullableText = z.string().nullable();

/**
 * One record that one write changed. `before` and `after` hold the whole record when it was created or
 * deleted, and only the changed fields when it was updated. Archiving counts as `deleted`. Secrets are
 * `[redacted]`; personal data of end customers is `[personal]`.
 */
export const AuditLog = z
  .object({
    id: z.string(),
    tenant_id: z.string(),
    /** Null for records of the whole tenant. */
    environment_id: nullableText,
    entity_type: z.string(),
    entity_id: z.string(),
    action: z.enum(AUDIT_ACTIONS),
    before: fields,
    after: fields,
    actor_kind: z.enum(ACTOR_KINDS),
    user_id: nullableText,
    key_id: nullableText,
    /** The job or process, when the actor is the system. */
    job: nullableText,
    request_id: nullableText,
    ip: nullableText,
    /** User agent as sent by the caller. */
    user_agent: nullableText,
    created_at: instant,
    /** The time of the customer's test clock; null in real time. `created_at` is always the real time. */
    clock_time: instant.nullable(),
  })
  .meta({ id: 'AuditLog' });
export type AuditLog = z.infer<typeof AuditLog>;

export const AuditLogSearch = searchSchemas({
  fields: { created_at: 'time' },
  withoutStatus: true,
  filters: (kind) => ({
    entity_type: kind.text(),
    entity_id: kind.text(),
    action: kind.oneOf(AUDIT_ACTIONS),
    actor_kind: kind.oneOf(ACTOR_KINDS),
    user_id: kind.text(),
    key_id: kind.text(),
    request_id: kind.text(),
  }),
});

/** The last link that is verified already: `verified_to` of the previous part. */
export const AuditChainQuery = z.object({
  after: matching(/^\d+$/, 15, 'must be a whole number').transform(Number).optional(),
});

/** A part of the tenant's chain, computed again. Parts follow each other until `verified_to` is `length`. */
export const AuditChainPart = z
  .object({
    /** Number of valid links from the start of the chain. */
    verified_to: z.int(),
    /** Links of the chain. */
    length: z.int(),
    /** Hash of the last valid link: compare it with a copy that is stored elsewhere to detect a rewritten chain. */
    head: z.string(),
    /** Time of the last valid row; null if there is none. */
    verified_until: instant.nullable(),
    /** The first fault; links after it prove nothing. */
    broken: z
      .object({
        /** Null for a row without a link. */
        number: z.int().nullable(),
        /** Null if the row is missing. */
        audit_log_id: nullableText,
        problem: z.enum(CHAIN_PROBLEMS),
      })
      .nullable(),
  })
  .meta({ id: 'AuditChainPart' });
export type AuditChainPart = z.infer<typeof AuditChainPart>;
