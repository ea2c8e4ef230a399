import { z } from 'zod';
import { id, text, time } from './primitives.ts';
import { eventText, windowSize, windowZone } from './usage-choices.ts';
import { EXPORT_FORMATS } from './words.ts';

/** Maximum rows of one part; the next part begins at its cursor. */
export const EXPORT_ROWS_DEFAULT = 10_000;
export const EXPORT_ROWS_MAX = 50_000;

const part = {
  format: z.enum(EXPORT_FORMATS).default('csv'),
  limit: z.coerce.number().int().min(1).max(EXPORT_ROWS_MAX).default(EXPORT_ROWS_DEFAULT),
  /** Value of the header X-Next-Cursor of the previous part. */
  cursor: text(6000).optional(),
};

/** Accepted copies in `[start_time, end_time)`, oldest first. Default: the last seven days. */
export const EventExportQuery = z.object({
  ...part,
  start_time: time.optional(),
  end_time: time.optional(),
  event_name: eventText.optional(),
  external_customer_id: eventText.optional(),
  source: eventText.optional(),
});
export type EventExportQuery = z.output<typeof EventExportQuery>;

/**
 * Usage of one meter by customer, and by window if a size is given; a bucketed meter uses its own buckets.
 */
export const UsageExportQuery = z.object({
  ...part,
  meter_id: id,
  start_time: time.optional(),
  end_time: time.optional(),
  window_size: windowSize,
  timezone: windowZone,
  external_customer_id: eventText.min(1).optional(),
});
export type UsageExportQuery = z.output<typeof UsageExportQuery>;
