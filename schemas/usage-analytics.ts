import { z } from 'zod';
import { EVENT_TEXT_LENGTH_MAX } from './events/event-bodies.ts';
import { Feature } from './feature.ts';
import { Group } from './group.ts';
import { CommitmentInfo } from './invoice.ts';
import { Meter } from './meter.ts';
import { EmbeddedPlan } from './plan-record.ts';
import { Price } from './price.ts';
import { decimalText, id, instant, matching, text, time } from './primitives.ts';
import { SubscriptionLineItem } from './subscription.ts';
import { eventText, propertyFilters, windowSize, windowZone } from './usage-choices.ts';
import { AGGREGATION_TYPES, BUCKET_SIZES } from './words.ts';

export const UsageAnalyticsBody = z
  .object({
    /** Absent means all usage of the environment, without prices. */
    external_customer_id: eventText.nullish(),
    start_time: time.nullish(),
    end_time: time.nullish(),
    feature_ids: z.array(id).max(1000).nullish(),
    sources: z.array(eventText).max(1000).nullish(),
    property_filters: propertyFilters,
    /** `source`, `feature_id` or `meter_id`, `properties.<name>`. */
    group_by: z
      .array(
        matching(
          /^(source|feature_id|meter_id|properties\..+)$/s,
          EVENT_TEXT_LENGTH_MAX,
          'expected source, feature_id, meter_id or properties.<name>',
        ),
      )
      .max(10)
      .nullish(),
    /** Returns points of this grid too. */
    window_size: windowSize,
    /**
     * Zone of the points; months then begin on the first. Absent: the subscription's zone, and months from its billing
     * anchor. Windows of a bucketed price stay those of its bucket.
     */
    timezone: windowZone,
    expand: z.array(text()).max(20).nullish(),
    /** Has no effect: customers have no children, so the answer is always the customer's own usage. */
    include_children: z.boolean().nullish(),
    /** Has no effect: windows of bucketed prices are always rated separately. Older clients send it. */
    breakdown_bucket: z.boolean().nullish(),
  })
  .meta({ id: 'GetUsageAnalytics' });
export type UsageAnalyticsBody = z.output<typeof UsageAnalyticsBody>;

/** The same for one named customer, by meters. */
export const DetailedAnalyticsBody = UsageAnalyticsBody.extend({
  external_customer_id: eventText.min(1, 'is required'),
  meter_ids: z.array(id).max(1000).nullish(),
}).meta({ id: 'MeterUsageDetailedAnalytics' });

/** One window: its usage, and its share of the item's cost, in proportion to its usage. */
export const UsageAnalyticsPoint = z
  .object({
    timestamp: instant,
    usage: decimalText,
    subtotal: decimalText,
    discount: decimalText,
    cost: decimalText,
    event_count: z.int(),
    /** Shares of the item's commitment; `0` without one. */
    computed_commitment_utilized_amount: decimalText,
    computed_overage_amount: decimalText,
    computed_true_up_amount: decimalText,
    buckets: z.null(),
  })
  .meta({ id: 'UsageAnalyticsPoint' });
export type UsageAnalyticsPoint = z.infer<typeof UsageAnalyticsPoint>;

export const UsageAnalyticsItem = z
  .object({
    feature_id: z.string().nullable(),
    meter_id: z.string(),
    price_id: z.string().nullable(),
    sub_line_item_id: z.string().nullable(),
    subscription_id: z.string().nullable(),
    plan_id: z.string().nullable(),
    name: z.string(),
    event_name: z.string(),
    unit: z.string(),
    unit_plural: z.string(),
    aggregation_type: z.enum(AGGREGATION_TYPES),
    total_usage: decimalText,
    total_usage_display: z.string(),
    subtotal: decimalText,
    total_discount: decimalText,
    total_cost: decimalText,
    currency: z.string(),
    event_count: z.int(),
    /** The value that the item is grouped by; null when not grouped by it. */
    source: z.string().nullable(),
    /** The requested sources; null means all. */
    sources: z.array(z.string()).nullable(),
    properties: z.record(z.string(), z.string()).nullable(),
    window_size: z.enum(BUCKET_SIZES).nullable(),
    points: z.array(UsageAnalyticsPoint).nullable(),
    /**
     * The windows of `points`: those that were asked for, or the buckets of the price where these are not shorter. A
     * window without a point has no usage. Null without points.
     */
    windows_of_points: z
      .object({
        window_size: z.enum(BUCKET_SIZES),
        timezone: z.string(),
        /** Where months begin; null means the first of the month. */
        billing_anchor: instant.nullable(),
      })
      .nullable(),
    /** The commitment of the line in the range; null without a commitment, and on groups. */
    commitment_info: CommitmentInfo.nullable(),
    bucket_summaries: z.null(),
    reporting_unit: Feature.shape.reporting_unit,
    group: Group.nullable(),
    add_on_id: z.string().nullable(),
    addon: z.null(),
    /** Null unless included by `expand`. */
    meter: Meter.nullable(),
    feature: Feature.nullable(),
    price: Price.nullable(),
    plan: EmbeddedPlan.nullable(),
    subscription_line_item: SubscriptionLineItem.nullable(),
  })
  .meta({ id: 'UsageAnalyticsItem' });
export type UsageAnalyticsItem = z.infer<typeof UsageAnalyticsItem>;

const totals = {
  subtotal: decimalText,
  total_discount: decimalText,
  total_cost: decimalText,
  currency: z.string(),
};

/** `currency` is empty when no subscription of the customer overlaps the range. */
export const UsageAnalytics = z
  .object({
    ...totals,
    /**
     * The totals of each currency, in the order of the items. With several, the totals above are those of the first
     * one: currencies are never added up (money 19.11).
     */
    totals: z.array(z.object(totals)),
    items: z.array(UsageAnalyticsItem),
    custom_analytics: z.array(z.never()),
  })
  .meta({ id: 'UsageAnalytics' });
export type UsageAnalytics = z.infer<typeof UsageAnalytics>;
