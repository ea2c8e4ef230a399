import { z } from 'zod';
import { Invoice } from './invoice.ts';
import { decimalText, instant } from './primitives.ts';
import { CANCELLATION_TYPES, SUBSCRIPTION_STATUSES } from './words.ts';
import { subscriptionAnswerFields } from './subscription.ts';

/** A subscription in answers. */
export const Subscription = z
  .object({
    ...subscriptionAnswerFields,
    /** Null when not requested or when there is none. */
    latest_invoice: Invoice.nullable(),
  })
  .meta({ id: 'Subscription' });
export type Subscription = z.infer<typeof Subscription>;

/** Embeds only the requested records. */
export const SubscriptionV2 = Subscription.extend({
  /** Whether the subscription lacks current prices of the plan. */
  plan_prices_out_of_sync: z.boolean(),
}).meta({ id: 'SubscriptionV2' });
export type SubscriptionV2 = z.infer<typeof SubscriptionV2>;

export const CancelledSubscription = z
  .object({
    subscription_id: z.string(),
    cancellation_type: z.enum(CANCELLATION_TYPES),
    effective_date: instant,
    status: z.enum(SUBSCRIPTION_STATUSES),
    reason: z.string().nullable(),
    message: z.string(),
    processed_at: instant,
    total_credit_amount: decimalText,
    /** Advances that return, one row for each line and charge period. */
    proration_details: z.array(
      z.object({
        line_item_id: z.string(),
        price_id: z.string(),
        plan_name: z.string().nullable(),
        /** The rest of the fee, before discounts. */
        original_amount: decimalText,
        /** Net of discounts, at most what was billed. */
        credit_amount: decimalText,
        charge_amount: decimalText,
        proration_days: z.int(),
        description: z.string(),
      }),
    ),
    /** The final invoice of an immediate cancellation; null when there is nothing to charge. */
    proration_invoice: Invoice.nullable(),
  })
  .meta({ id: 'CancelledSubscription' });
