import { z } from 'zod';
import { AGGREGATION_TYPES, BUCKET_SIZES } from './words.ts';
import { decimal, decimalText, id, instant, time, timezone } from './primitives.ts';

/** Usage of one meter over `[start_time, end_time)`, by the meter's own rule. */
export const MeterUsageBody = z
  .object({
    meter_id: id,
    /** Absent: every customer of the environment together. */
    external_customer_id: z.string().min(1).max(255).nullish(),
    /** The same customer by id. */
    customer_id: z.string().max(255).nullish(),
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

const PROPERTY_FILTERS = z
  .record(z.string().max(255), z.array(z.string().max(1000)).max(1000))
  .nullish();

const AGGREGATION_WITHOUT_METER = z.preprocess(
  (value) => (typeof value === 'string' ? value.toUpperCase() : value),
  z.enum(AGGREGATION_TYPES),
);

const GROUP_NAME = z.string().min(1, 'is required').max(255);

/** Usage by event name, without a meter: raw events of `[start_time, end_time)`, each id once. */
export const EventUsageBody = z
  .object({
    event_name: z.string().trim().min(1, 'is required').max(255),
    aggregation_type: AGGREGATION_WITHOUT_METER,
    /** Absent: every event counts as 1. */
    property_name: z.string().max(255).nullish(),
    multiplier: decimal.nullish(),
    /** Absent: every customer of the environment together. */
    external_customer_id: z.string().max(255).nullish(),
    /** The same customer by id. */
    customer_id: z.string().max(255).nullish(),
    start_time: time.nullish(),
    end_time: time.nullish(),
    window_size: z.enum(BUCKET_SIZES).nullish(),
    /** With MAX or SUM: aggregate each bucket apart; the value is the buckets' sum. */
    bucket_size: z.enum(BUCKET_SIZES).nullish(),
    timezone: timezone.nullish(),
    billing_anchor: time.nullish(),
    filters: z.record(z.string().max(255), z.array(z.string().max(1000)).max(1000)).nullish(),
    /** With MAX and buckets: aggregate each bucket and each group of these properties' values apart. */
    group_by: z.array(GROUP_NAME).max(5).nullish(),
    /** The same for one property. */
    group_by_property: z.string().max(255).nullish(),
  })
  .meta({ id: 'GetUsage' });
export type EventUsageBody = z.output<typeof EventUsageBody>;

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

const meterValues = {
  external_customer_id: z.string().min(1, 'is required').max(255),
  start_time: time,
  end_time: time,
  /** How the meter's values are put together, whatever the meter itself does with them. */
  aggregation_type: AGGREGATION_WITHOUT_METER,
  window_size: z.enum(BUCKET_SIZES).nullish(),
  /** Absent: that of the customer's subscription. */
  timezone: timezone.nullish(),
  billing_anchor: time.nullish(),
  /** AND of keys, OR of values. */
  filters: PROPERTY_FILTERS,
  sources: z.array(z.string().max(255)).max(1000).nullish(),
};

/** Usage of one customer by one meter that a subscription of the customer sells. */
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
