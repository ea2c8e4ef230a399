import { z } from 'zod';
import { EVENT_ID_LENGTH_MAX } from './events/event-bodies.ts';
import { instant, name, optionalOneOf, recordFields, text } from './primitives.ts';
import { searchSchemas } from './search.ts';

export const CORRECTION_TYPES = ['void'] as const;

/** Voids an event. To replace it, the client sends a new event with a new id. */
export const CreateCorrectionBody = z
  .object({
    event_id: text(EVENT_ID_LENGTH_MAX).min(1, 'is required'),
    type: optionalOneOf(CORRECTION_TYPES).transform((type) => type ?? 'void'),
    /** For later readers of the audit trail. */
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
    /** Id of the request that first asked for the correction. */
    request_id: z.string(),
    /**
     * When the correction was written to the event log; null until then. It takes effect within seconds after
     * that.
     */
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
