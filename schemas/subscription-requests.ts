import { z } from 'zod';
import { CheckoutParams } from './checkout.ts';
import { SubscriptionGrantRequest } from './credit-grant.ts';
import { notOffered } from './not-offered.ts';
import {
  billingPeriod,
  currency,
  decimal,
  id,
  integer,
  matching,
  metadata,
  name,
  nonNegativeDecimal,
  optionalChoice,
  optionalId,
  optionalLookupKey,
  optionalMetadata,
  optionalName,
  optionalOneOf,
  plannedDate,
  pairs,
  positiveDecimal,
  recurringPeriod,
  text,
  time,
} from './primitives.ts';
import { timezone } from './timezone.ts';
import {
  BILLING_CYCLES,
  CANCELLATION_TYPES,
  COLLECTION_METHODS,
  LINE_ITEM_GROUPINGS,
  PAYMENT_BEHAVIORS,
  SUBSCRIPTION_PRORATION_BEHAVIORS,
  SUBSCRIPTION_STATUSES,
} from './words.ts';
import { TaxRateOverride } from './tax.ts';
import { CreatePriceBody, PriceTierBody, TransformQuantityBody } from './price.ts';

const quantity = nonNegativeDecimal;

/** `30 NET`: days from the issue of an invoice to its due date, any number (billing 17.5). */
const paymentTerms = matching(/^\d{1,4} NET$/, 8, 'expected days and NET, for example "30 NET"');

/** 1 means no premium; below 1, overage would cost less than usage (billing 6.1). */
const overageFactor = decimal.refine((value) => !/^(0|-)/.test(value), {
  message: 'must be at least 1',
});

const commitmentFields = {
  commitment_amount: nonNegativeDecimal.nullish(),
  commitment_quantity: nonNegativeDecimal.nullish(),
  commitment_type: optionalOneOf(['amount', 'quantity']),
  commitment_duration: optionalChoice(billingPeriod),
  commitment_time_buckets: notOffered('a commitment by time of day'),
};

/** The names that these three fields have on a line item. */
const lineCommitmentFields = {
  commitment_overage_factor: overageFactor.nullish(),
  commitment_true_up_enabled: z.boolean().nullish(),
  commitment_windowed: z.boolean().nullish(),
};

/**
 * A commitment to usage of one price, in each of its charge periods (billing 6.2). Three fields have two names,
 * the second as on a line item.
 */
export const LineItemCommitment = z
  .object({
    ...commitmentFields,
    overage_factor: overageFactor.nullish(),
    enable_true_up: z.boolean().nullish(),
    is_window_commitment: z.boolean().nullish(),
    ...lineCommitmentFields,
  })
  .meta({ id: 'LineItemCommitmentConfig' });

/** A price of the subscription's own, in its currency. */
export const SubscriptionPriceRequest = CreatePriceBody.omit({
  entity_type: true,
  entity_id: true,
  currency: true,
}).meta({ id: 'SubscriptionPriceRequest' });

/** A price that the subscription has in addition to its plan's prices (interface, line item request). */
export const LineItemRequest = z
  .object({
    /** This or `price`. */
    price_id: optionalId,
    price: SubscriptionPriceRequest.nullish(),
    quantity: quantity.nullish(),
    display_name: optionalName(),
    start_date: time.nullish(),
    end_date: time.nullish(),
    /** The phases of a new subscription have no ids: their lines are in `phases[].line_items`. */
    subscription_phase_id: notOffered('the id of a phase of a new subscription'),
    metadata: metadata.nullish(),
    ...commitmentFields,
    ...lineCommitmentFields,
  })
  .meta({ id: 'SubscriptionLineItemRequest' });
export type LineItemRequest = z.output<typeof LineItemRequest>;

/** Other terms for one price of the plan or of an addon, on this subscription only (billing 10.1). */
export const OverrideLineItemRequest = z
  .object({
    price_id: id,
    quantity: quantity.nullish(),
    amount: nonNegativeDecimal.nullish(),
    billing_model: optionalOneOf(['FLAT_FEE', 'PACKAGE', 'TIERED']),
    tier_mode: optionalOneOf(['VOLUME', 'SLAB']),
    tiers: z.array(PriceTierBody).max(500).nullish(),
    transform_quantity: TransformQuantityBody.nullish(),
    /** Terms in the pricing unit of the price; its rate stays. */
    price_unit_amount: nonNegativeDecimal.nullish(),
    price_unit_tiers: z.array(PriceTierBody).max(500).nullish(),
  })
  .meta({ id: 'OverrideLineItemRequest' });
export type OverrideLineItemRequest = z.output<typeof OverrideLineItemRequest>;

/** A coupon by its code, with an optional time range; on a line item when a price is named. */
export const SubscriptionCouponRequest = z
  .object({
    coupon_code: name(),
    price_id: optionalId,
    start_date: time.nullish(),
    end_date: time.nullish(),
  })
  .meta({ id: 'SubscriptionCouponRequest' });

/** A phase: the plan's prices with its overrides, and its own lines, from start to end (billing 11). */
export const SubscriptionPhaseRequest = z
  .object({
    start_date: time,
    /** Required except for the last phase, whose end is the end of the subscription. */
    end_date: time.nullish(),
    line_items: z.array(LineItemRequest).max(200).nullish(),
    override_line_items: z.array(OverrideLineItemRequest).max(200).nullish(),
    /** Price id to the commitment of its line item. */
    line_item_commitments: pairs(LineItemCommitment, 200, id).nullish(),
    coupons: z.array(id).max(50).nullish(),
    line_item_coupons: pairs(z.array(id).max(50), 200, id).nullish(),
    subscription_coupons: z.array(SubscriptionCouponRequest).max(50).nullish(),
    metadata: metadata.nullish(),
  })
  .meta({ id: 'SubscriptionPhaseRequest' });
export type SubscriptionPhaseRequest = z.output<typeof SubscriptionPhaseRequest>;

/** Only times that are not invoiced yet can move; the phase before or after moves along (billing 11). */
export const UpdateSubscriptionPhaseBody = z
  .object({
    start_date: time.nullish(),
    end_date: time.nullish(),
    metadata: optionalMetadata,
  })
  .meta({ id: 'UpdateSubscriptionPhase' });
export type UpdateSubscriptionPhaseBody = z.output<typeof UpdateSubscriptionPhaseBody>;

/** An addon, from `start_date` on; the same addon may be named several times. */
export const AddonRequest = z
  .object({
    addon_id: id,
    /** Units of each fixed fee, and multiples of each limit. Default: 1, or the least quantity of a price. */
    quantity: positiveDecimal.nullish(),
    start_date: time.nullish(),
    /** `onetime` ends with the billing period in which it starts. Default: recurring. */
    cadence: optionalOneOf(['onetime', 'recurring']),
    metadata: metadata.nullish(),
    /** Other terms for prices of the addon, on this subscription only. */
    override_line_items: z.array(OverrideLineItemRequest).max(200).nullish(),
    /** Price id of the addon to the commitment of its line item. */
    line_item_commitments: pairs(LineItemCommitment, 200, id).nullish(),
  })
  .meta({ id: 'SubscriptionAddonRequest' });
export type AddonRequest = z.output<typeof AddonRequest>;

/** Absent fields stay as the plan has them; a null limit means unlimited, 0 means nothing. */
export const OverrideEntitlementRequest = z
  .object({
    entitlement_id: id,
    is_enabled: z.boolean().nullish(),
    static_value: text(5000).nullish(),
    usage_limit: z.int().min(0).nullish(),
  })
  .meta({ id: 'OverrideEntitlementRequest' });

/** Other customers and subscriptions of a new subscription (billing 16). The roles exclude each other. */
export const InheritanceRequest = z
  .object({
    /** Customers who use the subscription: their usage is pooled with that of its customer. */
    external_customer_ids_to_inherit_subscription: z.array(id).max(200).nullish(),
    /** The customer to whom the invoices are issued. */
    invoicing_customer_external_id: optionalId,
    /** The parent on whose invoice the subscription is billed. */
    parent_subscription_id: optionalId,
    /** Running subscriptions that are billed on the invoice of the new one. */
    subscriptions_ids_for_grouped_invoicing: z.array(id).max(200).nullish(),
    grouped_invoicing_children_to_create: notOffered('a child subscription'),
  })
  .meta({ id: 'SubscriptionInheritance' });
export type InheritanceRequest = z.output<typeof InheritanceRequest>;

export const CreateSubscriptionBody = z
  .object({
    plan_id: id,
    customer_id: optionalId,
    external_customer_id: optionalId,
    currency,
    billing_period: recurringPeriod,
    billing_period_count: integer.min(1).max(1200).nullish(),
    billing_cadence: optionalOneOf(['RECURRING']),
    billing_cycle: optionalOneOf(BILLING_CYCLES),
    billing_anchor: time.nullish(),
    start_date: plannedDate.nullish(),
    end_date: time.nullish(),
    trial_start: time.nullish(),
    trial_end: time.nullish(),
    trial_period: integer.min(0).max(3650).nullish(),
    trial_period_days: integer.min(0).max(3650).nullish(),
    customer_timezone: optionalChoice(timezone),
    timezone: optionalChoice(timezone),
    collection_method: optionalOneOf(COLLECTION_METHODS),
    payment_behavior: optionalOneOf(PAYMENT_BEHAVIORS),
    payment_terms: optionalChoice(paymentTerms),
    proration_behavior: optionalOneOf(SUBSCRIPTION_PRORATION_BEHAVIORS),
    line_item_grouping: optionalOneOf(LINE_ITEM_GROUPINGS),
    gateway_payment_method_id: text().nullish(),
    lookup_key: optionalLookupKey,
    metadata: metadata.nullish(),
    include_price_ids: z.array(id).max(1000).nullish(),
    line_items: z.array(LineItemRequest).max(200).nullish(),
    override_line_items: z.array(OverrideLineItemRequest).max(200).nullish(),
    subscription_status: optionalChoice(
      z.enum(SUBSCRIPTION_STATUSES).refine((value) => value === 'active' || value === 'draft', {
        message: 'must be "active" or "draft"; every other status follows from the terms',
      }),
    ),
    /** A commitment to usage of all prices together, in each billing period or for a longer term. */
    commitment_amount: z
      .literal('')
      .transform(() => null)
      .or(nonNegativeDecimal)
      .nullish(),
    commitment_duration: optionalChoice(billingPeriod),
    overage_factor: overageFactor.nullish(),
    enable_true_up: z.boolean().nullish(),
    /** Price id to the commitment of its line item. */
    line_item_commitments: pairs(LineItemCommitment, 200, id).nullish(),
    /** Ids; discounts apply in this order. */
    coupons: z.array(id).max(50).nullish(),
    /** Price id to ids of the coupons of its line item. */
    line_item_coupons: pairs(z.array(id).max(50), 200, id).nullish(),
    subscription_coupons: z.array(SubscriptionCouponRequest).max(50).nullish(),
    addons: z.array(AddonRequest).max(100).nullish(),
    /** Replaces the plan's grants; an empty list means none. */
    credit_grants: z.array(SubscriptionGrantRequest).max(50).nullish(),
    inheritance: InheritanceRequest.nullish(),
    /** The same as in `inheritance`. */
    parent_subscription_id: optionalId,
    /** Other terms for entitlements of the plan, on this subscription only. */
    override_entitlements: z.array(OverrideEntitlementRequest).max(200).nullish(),
    /** One after the other, without a gap, from the start of the subscription to its end. */
    phases: z.array(SubscriptionPhaseRequest).max(100).nullish(),
    /** Replaces the taxes of the customer and the tenant. */
    tax_rate_overrides: z.array(TaxRateOverride).max(50).nullish(),
    /** The subscription begins once the checkout session is paid. Ignored if nothing is due at the start. */
    checkout: CheckoutParams.nullish(),
    auto_invoice_threshold: notOffered('an invoice threshold'),
  })
  .meta({ id: 'CreateSubscription' });
export type CreateSubscriptionBody = z.output<typeof CreateSubscriptionBody>;

/** A draft begins at `start_date`: anchor, periods, lines and trial are counted from there (billing 10.5). */
export const ActivateSubscriptionBody = z
  .object({ start_date: plannedDate })
  .meta({ id: 'ActivateSubscription' });
export type ActivateSubscriptionBody = z.output<typeof ActivateSubscriptionBody>;

const FINAL_INVOICE_POLICIES = ['generate_invoice', 'skip'] as const;
export const CancelSubscriptionBody = z
  .object({
    cancellation_type: z.enum(CANCELLATION_TYPES),
    cancel_at: time.nullish(),
    proration_behavior: optionalOneOf(SUBSCRIPTION_PRORATION_BEHAVIORS),
    reason: text(1000).nullish(),
    /** The misspelling is intended: earlier clients send this name, current ones the next. */
    cancel_immediately_inovice_policy: optionalOneOf(FINAL_INVOICE_POLICIES),
    cancel_immediately_invoice_policy: optionalOneOf(FINAL_INVOICE_POLICIES),
  })
  .refine(
    ({ cancel_immediately_inovice_policy: earlier, cancel_immediately_invoice_policy: current }) =>
      earlier == null || current == null || earlier === current,
    {
      path: ['cancel_immediately_invoice_policy'],
      message: 'differs from cancel_immediately_inovice_policy',
    },
  )
  .meta({ id: 'CancelSubscription' });
export type CancelSubscriptionBody = z.output<typeof CancelSubscriptionBody>;

/** The end of a subscription as fields of its record; other fields have their own routes. */
export const UpdateSubscriptionBody = z
  .object({
    /** `cancelled` cancels now; the status that the subscription has changes nothing. */
    status: optionalOneOf(SUBSCRIPTION_STATUSES),
    /** `null` withdraws a scheduled cancellation. */
    cancel_at: time.nullish(),
    /** `false` withdraws a cancellation at the end of the period. */
    cancel_at_period_end: z.boolean().nullish(),
    /** The parent on whose invoice the subscription is billed; `null` or `""` leaves the parent. */
    parent_subscription_id: z.literal('').or(id).nullish(),
  })
  .meta({ id: 'UpdateSubscription' });
export type UpdateSubscriptionBody = z.output<typeof UpdateSubscriptionBody>;
