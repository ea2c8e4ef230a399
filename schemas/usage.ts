import { z } from 'zod';
import { AGGREGATION_TYPES, BUCKET_SIZES } from './words.ts';
import { id, instant, time, timezone } from './primitives.ts';

/** Usage of one meter over `[start_time, end_time)`, by the meter's own rule. */
export const MeterUsageBody = z
  .object({
    meter_id: id,
    /** Absent: every customer of the environment together. */
    external_customer_id: z.string().min(1).max(255).nullish(),
    /** Default: seven days before the end. */
    start_time: time.nullish(),
    /** Default: now. */
    end_time: time.nullish(),
    /** Also answer each window of this grid. */
    window_size: z.enum(BUCKET_SIZES).nullish(),
    timezone: timezone.nullish(),
    /** Where MONTH windows begin; absent: the first of the month. */
    billing_anchor: time.nullish(),
    /** AND of keys, OR of values; on properties that the meter keeps with its usage. */
    filters: z.record(z.string(), z.array(z.string()).min(1)).nullish(),
  })
  .meta({ id: 'GetUsageByMeter' });
export type MeterUsageBody = z.output<typeof MeterUsageBody>;

export const MeterUsage = z
  .object({
    event_name: z.string(),
    type: z.enum(AGGREGATION_TYPES),
    /** A JSON number, as clients of this route expect; null when only windows were asked for. */
    value: z.number().nullable(),
    results: z.array(z.object({ window_size: instant, value: z.number() })).nullable(),
  })
  .meta({ id: 'MeterUsage' });
export type MeterUsage = z.infer<typeof MeterUsage>;
