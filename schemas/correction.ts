import { z } from 'zod';
import { EVENT_ID_LENGTH_MAX } from './events/event-bodies.ts';
import { instant, name, recordFields, text } from './primitives.ts';
import { searchSchemas } from './search.ts';

export const CORRECTION_TYPES = ['void'] as const;

/** Takes an event back. What should have been sent instead is sent as a new event with a new id. */
export const CreateCorrectionBody = z
  .object({
    event_id: text(EVENT_ID_LENGTH_MAX).min(1, 'is required'),
    type: z.enum(CORRECTION_TYPES).default('void'),
    /** For those who look at the books later. */
    reason: name(1000),
  })
  .meta({ id: 'CreateCorrection' });
export type CreateCorrectionBody = z.output<typeof CreateCorrectionBody>;

export const Correction = z
  .object({
    ...recordFields,
    event_id: z.string(),
    type: z.enum(CORRECTION_TYPES),
    reason: z.string(),
    /** Of the request that asked for it first. */
    request_id: z.string(),
    /** When it stood in the event log, from where it takes effect in seconds; null until then. */
    logged_at: instant.nullable(),
  })
  .meta({ id: 'Correction' });
export type Correction = z.infer<typeof Correction>;

export const CorrectionSearch = searchSchemas({
  fields: {
    event_id: 'text',
    reason: 'text',
    created_by: 'text',
    status: 'text',
    created_at: 'time',
    logged_at: 'time',
  },
  filters: (kind) => ({ correction_ids: kind.list(), event_ids: kind.list() }),
});
