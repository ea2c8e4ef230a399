import { z } from 'zod';
import { decimal, decimalText, id, instant, text, time } from './primitives.ts';
import { eventText, propertyFilters, windowSize, windowZone } from './usage-choices.ts';
import { AGGREGATION_TYPES } from './words.ts';

const GROUP_NAME = text().min(1, 'is required');

/** Usage of one meter in `[start_time, end_time)`, by the meter's own rule. */
export const MeterUsageBody = z
  .object({
    meter_id: id,
    /** Absent means all customers of the environment together. */
    external_customer_id: eventText.nullish(),
    /** The same customer by id. */
    customer_id: text().nullish(),
    /** Default: seven days before the end. */
    start_time: time.nullish(),
    /** Default: now. */
    end_time: time.nullish(),
    /** Returns each window of this grid. A bucketed meter always returns its own buckets. */
    window_size: windowSize,
    /**
     * For a meter of MAX or SUM without buckets: counts in these buckets, as a price with this bucket size
     * does.
     */
    bucket_size: windowSize,
    timezone: windowZone,
    /** Where MONTH windows begin; absent means the first of the month. */
    billing_anchor: time.nullish(),
    filters: propertyFilters,
    /** Counts the values of these properties (or of `source`) separately, per window if there are windows. */
    group_by: z.array(GROUP_NAME).max(5).nullish(),
  })
  .meta({ id: 'GetUsageByMeter' });
export type MeterUsageBody = z.output<typeof MeterUsageBody>;

const AGGREGATION_WITHOUT_METER = z.preprocess(
  (value) => (typeof value === 'string' ? value.toUpperCase() : value),
  z.enum(AGGREGATION_TYPES),
);

/** Usage by event name, without a meter: raw events in `[start_time, end_time)`, each id once. */
export const EventUsageBody = z
  .object({
    event_name: eventText.trim().min(1, 'is required'),
    aggregation_type: AGGREGATION_WITHOUT_METER,
    /** Absent means every event counts as 1. */
    property_name: text().nullish(),
    multiplier: decimal.nullish(),
    /** Absent means all customers of the environment together. */
    external_customer_id: eventText.nullish(),
    /** The same customer by id. */
    customer_id: text().nullish(),
    start_time: time.nullish(),
    end_time: time.nullish(),
    window_size: windowSize,
    /** With MAX or SUM: aggregates each bucket separately; the value is the sum of the buckets. */
    bucket_size: windowSize,
    timezone: windowZone,
    billing_anchor: time.nullish(),
    filters: propertyFilters,
    /**
     * Aggregates the values of these properties (or of `source`) separately, per window if there are windows.
     */
    group_by: z.array(GROUP_NAME).max(5).nullish(),
    /** The same for one property. */
    group_by_property: text().nullish(),
  })
  .meta({ id: 'GetUsage' });
export type EventUsageBody = z.output<typeof EventUsageBody>;

export const MeterUsage = z
  .object({
    event_name: z.string(),
    type: z.enum(AGGREGATION_TYPES),
    /** A JSON number, as clients of this route expect; null when only windows were requested. */
    value: z.number().nullable(),
    results: z
      .array(
        z.object({
          /** Start of the window; for groups without windows, start of the range. */
          window_size: instant,
          value: z.number(),
          /** Values of the grouping properties, empty text for a missing one; null without groups. */
          group: z.record(z.string(), z.string()).nullable(),
        }),
      )
      .nullable(),
  })
  .meta({ id: 'MeterUsage' });
export type MeterUsage = z.infer<typeof MeterUsage>;

const meterValues = {
  external_customer_id: eventText.min(1, 'is required'),
  start_time: time,
  end_time: time,
  /** How the meter's values are aggregated, independent of the meter's own aggregation. */
  aggregation_type: AGGREGATION_WITHOUT_METER,
  window_size: windowSize,
  /** Absent means the zone of the customer's subscription. */
  timezone: windowZone,
  billing_anchor: time.nullish(),
  filters: propertyFilters,
  sources: z.array(eventText).max(1000).nullish(),
};

/** Usage of one customer for one meter that a subscription of the customer charges for. */
export const MeterValuesBody = z
  .object({ ...meterValues, meter_id: id })
  .meta({ id: 'MeterUsageQuery' });
export type MeterValuesBody = z.output<typeof MeterValuesBody>;

export const MetersValuesBody = z
  .object({ ...meterValues, meter_ids: z.array(id).min(1).max(1000) })
  .meta({ id: 'MeterUsageAnalyticsQuery' });
export type MetersValuesBody = z.output<typeof MetersValuesBody>;

export const MeterValues = z
  .object({
    meter_id: z.string(),
    aggregation_type: z.enum(AGGREGATION_TYPES),
    total_value: decimalText,
    event_count: z.int(),
    /** Null without `window_size`. */
    points: z
      .array(z.object({ timestamp: instant, value: decimalText, event_count: z.int() }))
      .nullable(),
  })
  .meta({ id: 'MeterValues' });
export type MeterValues = z.infer<typeof MeterValues>;

export const MetersValues = z.object({ items: z.array(MeterValues) }).meta({ id: 'MetersValues' });
