import { z } from 'zod';
import { Meter } from './meter.ts';
import { Price } from './price.ts';
import { decimalText, id, instant, time } from './primitives.ts';
import { eventText, propertyFilters } from './usage-choices.ts';

/** Cost of usage by the active costsheet, next to its revenue. */
export const CostAnalyticsBody = z
  .object({
    /** Absent means all customers together. */
    external_customer_id: eventText.nullish(),
    start_time: time.nullish(),
    end_time: time.nullish(),
    feature_ids: z.array(id).max(1000).nullish(),
    property_filters: propertyFilters,
    /** Has no effect: customers have no children, so the answer is always the customer's own. */
    include_children: z.boolean().nullish(),
    expand: z
      .array(z.enum(['meter', 'price']))
      .max(20)
      .nullish(),
    limit: z.int().min(1).max(1000).nullish(),
    offset: z.int().min(0).nullish(),
  })
  .meta({ id: 'GetCostAnalytics' });
export type CostAnalyticsBody = z.output<typeof CostAnalyticsBody>;

export const CostAnalyticsItem = z
  .object({
    meter_id: z.string(),
    meter_name: z.string(),
    /** Null without `external_customer_id`, and for a customer without a record. */
    customer_id: z.string().nullable(),
    external_customer_id: z.string().nullable(),
    source: z.string().nullable(),
    properties: z.record(z.string(), z.string()).nullable(),
    total_cost: decimalText,
    total_quantity: decimalText,
    total_events: z.int(),
    cost_by_period: z.null(),
    currency: z.string(),
    price_id: z.string(),
    costsheet_id: z.string(),
    /** Null unless included by `expand`. */
    meter: Meter.nullable(),
    price: Price.nullable(),
  })
  .meta({ id: 'CostAnalyticsItem' });
export type CostAnalyticsItem = z.infer<typeof CostAnalyticsItem>;

export const CostAnalytics = z
  .object({
    cost_analytics: z.array(CostAnalyticsItem),
    total_revenue: decimalText,
    total_cost: decimalText,
    margin: decimalText,
    /** Percent of the revenue; 0 without revenue. */
    margin_percent: decimalText,
    /** Margin divided by cost; 0 without cost. */
    roi: decimalText,
    roi_percent: decimalText,
    /** Empty without cost and revenue. Amounts in other currencies are left out. */
    currency: z.string(),
    start_time: instant,
    end_time: instant,
  })
  .meta({ id: 'CostAnalytics' });
export type CostAnalytics = z.infer<typeof CostAnalytics>;
