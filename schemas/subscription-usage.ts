import { z } from 'zod';
import { Price } from './price.ts';
import { id, instant, time } from './primitives.ts';

/** Usage of one subscription; without times, usage of its current period. */
export const SubscriptionUsageBody = z
  .object({
    subscription_id: id,
    start_time: time.nullish(),
    end_time: time.nullish(),
    /** From the start of the subscription. */
    lifetime_usage: z.boolean().nullish(),
  })
  .meta({ id: 'GetUsageBySubscription' });
export type SubscriptionUsageBody = z.output<typeof SubscriptionUsageBody>;

export const SubscriptionUsageCharge = z
  .object({
    subscription_line_item_id: z.string(),
    meter_id: z.string(),
    meter_display_name: z.string(),
    /** JSON numbers, as clients of this route expect. */
    quantity: z.number(),
    amount: z.number(),
    currency: z.string(),
    display_amount: z.string(),
    filter_values: z.record(z.string(), z.array(z.string())),
    /** Whether the charge exceeds the subscription's commitment. */
    is_overage: z.boolean(),
    overage_factor: z.number().nullable(),
    price: Price,
  })
  .meta({ id: 'SubscriptionUsageCharge' });
export type SubscriptionUsageCharge = z.infer<typeof SubscriptionUsageCharge>;

export const SubscriptionUsage = z
  .object({
    amount: z.number(),
    currency: z.string(),
    display_amount: z.string(),
    start_time: instant,
    end_time: instant,
    charges: z.array(SubscriptionUsageCharge),
    commitment_amount: z.number(),
    commitment_utilized: z.number(),
    overage_amount: z.number(),
    overage_factor: z.number(),
    has_overage: z.boolean(),
  })
  .meta({ id: 'SubscriptionUsage' });
export type SubscriptionUsage = z.infer<typeof SubscriptionUsage>;
