import { z } from 'zod';
import { EVENT_TEXT_LENGTH_MAX } from './events/event-bodies.ts';
import { pairs, text } from './primitives.ts';
import { timezone } from './timezone.ts';
import { BUCKET_SIZES } from './words.ts';

/** An optional choice: null, and the empty text that older clients send, both mean unset. */
export const choice = <Schema extends z.ZodType>(schema: Schema) =>
  z.preprocess((value) => (value === '' ? null : value), schema.nullish());

/** A name, customer or source as in events: every accepted value can be queried. */
export const eventText = text(EVENT_TEXT_LENGTH_MAX);

export const windowSize = choice(z.enum(BUCKET_SIZES));
export const windowZone = choice(timezone);

/**
 * AND of keys, OR of values, compared as text of the property. A key without values does not restrict its
 * property; an empty list of sources or features restricts nothing either.
 */
export const propertyFilters = pairs(z.array(text(1000)).max(1000), 256)
  .transform((filters) =>
    Object.fromEntries(Object.entries(filters).filter(([, values]) => values.length > 0)),
  )
  .nullish();
