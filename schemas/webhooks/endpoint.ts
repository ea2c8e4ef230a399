import * as z from 'zod';
import {
  id,
  instant,
  optionalChoice,
  optionalId,
  recordFields,
  text,
  time,
} from '../primitives.ts';
import { searchSchemas } from '../search.ts';
import { WEBHOOK_EVENT_TYPES } from './event-types.ts';

const eventType = z.enum(WEBHOOK_EVENT_TYPES);
const url = text(2000).min(1);

export const CreateWebhookEndpointBody = z
  .object({
    url,
    description: text(1000).nullish(),
    /** Absent or empty: every event. */
    event_types: z.array(eventType).max(WEBHOOK_EVENT_TYPES.length).nullish(),
    enabled: z.boolean().nullish(),
  })
  .meta({ id: 'CreateWebhookEndpoint' });
export type CreateWebhookEndpointBody = z.output<typeof CreateWebhookEndpointBody>;

export const UpdateWebhookEndpointBody = z
  .object({
    url: url.optional(),
    description: text(1000).nullish(),
    event_types: z.array(eventType).max(WEBHOOK_EVENT_TYPES.length).nullish(),
    /** True also enables an endpoint that was disabled automatically. */
    enabled: z.boolean().optional(),
  })
  .meta({ id: 'UpdateWebhookEndpoint' });
export type UpdateWebhookEndpointBody = z.output<typeof UpdateWebhookEndpointBody>;

export const WebhookEndpoint = z
  .object({
    ...recordFields,
    url: z.string(),
    description: z.string().nullable(),
    /** Empty: every event. */
    event_types: z.array(z.string()),
    enabled: z.boolean(),
    /** Why it was disabled automatically; null if it was not. */
    disabled_reason: z.string().nullable(),
    /** Since when every attempt has failed; null after a success. */
    failing_since: instant.nullable(),
    /** End of the time in which the secret before a rotation signs too. */
    previous_secret_ends_at: instant.nullable(),
  })
  .meta({ id: 'WebhookEndpoint' });
export type WebhookEndpoint = z.infer<typeof WebhookEndpoint>;

/** Shown once, when the secret is made. */
export const WebhookEndpointWithSecret = WebhookEndpoint.extend({ secret: z.string() }).meta({
  id: 'WebhookEndpointWithSecret',
});

export const WebhookEndpointSearch = searchSchemas({
  fields: { url: 'text', created_at: 'time', updated_at: 'time' },
  filters: (kind) => ({ enabled: kind.boolean() }),
});

const stringMap = z.record(z.string(), z.string());

/** One request to a receiver and what it answered; kept for 30 days. */
export const WebhookAttempt = z
  .object({
    id: z.string(),
    endpoint_id: z.string(),
    /** The notification: the `webhook-id` of each attempt. */
    system_event_id: z.string(),
    event_type: z.string(),
    /** Counts from 1. */
    attempt: z.int(),
    created_at: instant,
    duration_ms: z.int(),
    /** Null: no answer. */
    status_code: z.int().nullable(),
    error: z.string().nullable(),
    request_headers: stringMap,
    request_body: z.string(),
    response_headers: stringMap.nullable(),
    /** The first 4 KB. */
    response_body: z.string().nullable(),
  })
  .meta({ id: 'WebhookAttempt' });
export type WebhookAttempt = z.infer<typeof WebhookAttempt>;

export const WebhookAttemptSearch = searchSchemas({
  fields: { created_at: 'time', status_code: 'number' },
  filters: (kind) => ({ system_event_id: kind.text(), event_type: kind.text() }),
});

export const TestWebhookBody = z.object({ event_type: optionalChoice(eventType) }).nullish();

/** Names the notifications of a time range, or a single notification. */
export const ReplayWebhooksBody = z
  .object({
    endpoint_id: id,
    from: time.nullish(),
    to: time.nullish(),
    /** The notification: the `webhook-id` of its attempts. Instead of a time range. */
    system_event_id: optionalId,
  })
  .refine(
    ({ from, to, system_event_id }) =>
      system_event_id == null ? from != null && to != null : from == null && to == null,
    { path: ['from'], message: 'send from and to, or system_event_id' },
  )
  .refine(({ from, to }) => from == null || to == null || from < to, {
    path: ['to'],
    message: 'must be later than from',
  })
  .meta({ id: 'ReplayWebhooks' });
export type ReplayWebhooksBody = z.output<typeof ReplayWebhooksBody>;

export const ReplayedWebhooks = z
  .object({ message: z.string(), count: z.int() })
  .meta({ id: 'ReplayedWebhooks' });
