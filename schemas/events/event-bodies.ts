import { z } from 'zod';
import { parseTimestamp } from './timestamp.ts';

/**
 * Limits of `POST /events`. Ingest checks bodies with its own code; a test compares it with these schemas.
 */
export const EVENTS_PER_CALL_MAX = 1000;
export const EVENT_ID_LENGTH_MAX = 255;
export const EVENT_TEXT_LENGTH_MAX = 1000;
export const PROPERTY_DEPTH_MAX = 16;
export const PROPERTY_KEYS_MAX = 256;
/** The same limit as for all properties of an event together. */
const PROPERTY_NAME_LENGTH_MAX = 1024 * 1024;
const TIME_LENGTH_MAX = 1000;

const storable = (text: string) => !/[\u0000-\u001f\u007f-\u009f]|\p{Surrogate}/u.test(text);
/** No further check reads a text that is too long. */
const plainText = (lengthMax: number) => z.string().max(lengthMax, { abort: true });
const text = (lengthMax: number) =>
  plainText(lengthMax).refine(storable, 'has control characters, or half of a surrogate pair');

/** One usage event as a client sends it. An empty optional text means absent. */
export const IngestEventBody = z
  .object({
    event_name: text(EVENT_TEXT_LENGTH_MAX)
      .min(1)
      .refine((name) => name.trim() !== '', 'is required')
      .meta({ description: 'What meters select by. White space around it is removed.' }),
    external_customer_id: text(EVENT_TEXT_LENGTH_MAX)
      .min(1)
      .meta({ description: "The customer's id in the system that sends the event." }),
    customer_id: text(EVENT_TEXT_LENGTH_MAX).nullish(),
    event_id: text(EVENT_ID_LENGTH_MAX).nullish().meta({
      description: 'Counted once, however often it is sent. Assigned if it is missing.',
    }),
    source: text(EVENT_TEXT_LENGTH_MAX).nullish(),
    timestamp: plainText(TIME_LENGTH_MAX)
      .refine((time) => (parseTimestamp(time) ?? -1) >= 0, 'must be an RFC 3339 time with a zone')
      .nullish()
      .meta({
        format: 'date-time',
        description:
          'When it happened, from 1970 to 24 hours ahead. The time of arrival when it is missing.',
      }),
    properties: z
      .record(plainText(PROPERTY_NAME_LENGTH_MAX), z.unknown())
      .refine((value) => isBounded(value, 1), 'has too many keys, or nests too deep')
      .nullish()
      .meta({
        description:
          'What meters read. Numbers of more than 15 significant digits are sent as strings.',
      }),
  })
  .meta({ id: 'IngestEvent' });

export type IngestEventBody = z.output<typeof IngestEventBody>;

export const IngestEventsBody = z.object({
  events: z.array(IngestEventBody).min(1).max(EVENTS_PER_CALL_MAX),
});

export const IngestEventAnswer = z.object({ message: z.string(), event_id: z.string() });
export const IngestEventsAnswer = z.object({ message: z.string() });

function isBounded(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (depth > PROPERTY_DEPTH_MAX) return false;
  const keys = Object.keys(value);
  if (!Array.isArray(value) && (keys.length > PROPERTY_KEYS_MAX || keys.includes('__proto__')))
    return false;
  return Object.values(value).every((inner) => isBounded(inner, depth + 1));
}
