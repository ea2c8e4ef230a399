import { z } from 'zod';
import { notOffered } from './not-offered.ts';
import { CreatePriceBody, PriceTierBody, TransformQuantityBody } from './price.ts';
import {
  billingPeriod,
  currency,
  id,
  nonNegativeDecimal,
  optionalId,
  optionalMetadata,
  optionalOneOf,
  time,
} from './primitives.ts';
import { searchSchemas } from './search.ts';
import { LineItemRequest } from './subscription-requests.ts';
import { BILLING_MODELS, SUBSCRIPTION_PRORATION_BEHAVIORS, TIER_MODES } from './words.ts';

const prorationBehavior = optionalOneOf(SUBSCRIPTION_PRORATION_BEHAVIORS);

/** A price that is created with its line item and belongs to the subscription. */
export const SubscriptionPriceBody = CreatePriceBody.omit({
  entity_type: true,
  entity_id: true,
  currency: true,
})
  .extend({ currency: currency.nullish() })
  .meta({ id: 'SubscriptionPriceRequest' });

/** A line item for a running subscription: an existing price, or a new price of the subscription. */
export const AddLineItemBody = LineItemRequest.extend({
  price_id: optionalId,
  price: SubscriptionPriceBody.nullish(),
  /** A phase of the subscription: the line lives in its time and moves with it. Default: no phase. */
  subscription_phase_id: optionalId,
  /** Default: the behavior of the subscription. */
  proration_behavior: prorationBehavior,
})
  .refine(({ price_id, price }) => Boolean(price_id) !== Boolean(price), {
    path: ['price_id'],
    message: 'send either price_id (an existing price) or price (a new price), not both',
  })
  .meta({ id: 'AddSubscriptionLineItem' });
export type AddLineItemBody = z.output<typeof AddLineItemBody>;

const { commitment_amount, commitment_quantity, commitment_type, commitment_duration } =
  LineItemRequest.shape;

/** New terms of a line item: it ends at `effective_from` and a new line begins there. */
export const ChangeLineItemBody = z
  .object({
    amount: nonNegativeDecimal.nullish(),
    billing_model: optionalOneOf(BILLING_MODELS),
    tier_mode: optionalOneOf(TIER_MODES),
    tiers: z.array(PriceTierBody).max(500).nullish(),
    transform_quantity: TransformQuantityBody.nullish(),
    commitment_amount,
    commitment_quantity,
    commitment_type,
    commitment_duration,
    commitment_time_buckets: notOffered('a commitment by time of day'),
    commitment_overage_factor: LineItemRequest.shape.commitment_overage_factor,
    commitment_true_up_enabled: LineItemRequest.shape.commitment_true_up_enabled,
    commitment_windowed: LineItemRequest.shape.commitment_windowed,
    /** Default: now. */
    effective_from: time.nullish(),
    metadata: optionalMetadata,
    /** Default: the behavior of the subscription. */
    proration_behavior: prorationBehavior,
  })
  .meta({ id: 'ChangeSubscriptionLineItem' });
export type ChangeLineItemBody = z.output<typeof ChangeLineItemBody>;

export const EndLineItemBody = z
  .object({
    /** Default: now. */
    effective_from: time.nullish(),
    /** Default: the behavior of the subscription. */
    proration_behavior: prorationBehavior,
  })
  .meta({ id: 'EndSubscriptionLineItem' });
export type EndLineItemBody = z.output<typeof EndLineItemBody>;

export const LineItemSearch = searchSchemas({
  fields: {
    id: 'text',
    subscription_id: 'text',
    customer_id: 'text',
    price_id: 'text',
    meter_id: 'text',
    display_name: 'text',
    quantity: 'number',
    start_date: 'time',
    end_date: 'time',
    status: 'text',
    created_at: 'time',
    updated_at: 'time',
  },
  expand: ['prices'],
  filters: (kind) => ({
    subscription_line_item_ids: kind.list(),
    subscription_ids: kind.list(),
    customer_ids: kind.list(),
    price_ids: kind.list(),
    meter_ids: kind.list(),
    entity_ids: kind.list(),
    entity_type: kind.oneOf(['plan', 'addon', 'subscription']),
    addon_association_ids: kind.list(),
    billing_periods: kind.list(billingPeriod),
    currencies: kind.list(),
    /** With `true` only lines in force at `current_period_start`, or now without it. */
    active_filter: kind.boolean(),
    current_period_start: kind.time(),
  }),
});
