import { z } from 'zod';
import { CheckoutParams, CheckoutSession } from './checkout.ts';
import { CreditGrant } from './credit-grant.ts';
import { Invoice } from './invoice.ts';
import {
  decimalText,
  id,
  instant,
  integer,
  metadata,
  optionalChoice,
  optionalOneOf,
  pairs,
  recurringPeriod,
  text,
} from './primitives.ts';
import { Subscription } from './subscription-answers.ts';
import { ChangedInvoice, ChangedResources } from './subscription-modify.ts';
import {
  BILLING_CYCLES,
  SUBSCRIPTION_PRORATION_BEHAVIORS,
  SUBSCRIPTION_STATUSES,
} from './words.ts';

const common = {
  target_plan_id: id,
  /** `end_of_period` makes a schedule. Default: `immediate`. */
  change_at: optionalOneOf(['immediate', 'end_of_period']),
  /**
   * `keep` (default): the running period and the anchor stay. `anchor_at_effect`: the running period ends at the
   * effect, and a new one begins there with the effect as anchor. Not in a trial, on the billing cycle `calendar`, or
   * with `checkout`.
   */
  billing_period_behaviour: optionalOneOf(['keep', 'anchor_at_effect']),
  metadata: metadata.nullish(),
};

const entityBehaviour = z.enum(['carry', 'drop']);

/** What happens to the addons of the subscription: `carry` (default) keeps them, `drop` ends them with the change. */
export const EntityPolicies = z
  .object({
    addons: z
      .union([
        entityBehaviour,
        z.object({
          default_behaviour: optionalChoice(entityBehaviour),
          /** Addon association id → behaviour. */
          overrides: pairs(entityBehaviour, 200, id).nullish(),
        }),
      ])
      .nullish(),
  })
  .meta({ id: 'SubscriptionChangeEntityPolicies' });
export type EntityPolicies = z.output<typeof EntityPolicies>;

/** A plan change in place (interface, rule 10). */
export const ChangePlanBody = z
  .object({
    ...common,
    /** Default: the behavior of the subscription. */
    proration_behavior: optionalOneOf(SUBSCRIPTION_PRORATION_BEHAVIORS),
    /** What happens to a plan change that is pending already. Default: `reject`. */
    conflict_behaviour: optionalOneOf(['reject', 'supersede']),
    entity_policies: EntityPolicies.nullish(),
    idempotency_key: text().nullish(),
    /** The plan changes once the checkout session is paid. Ignored if nothing is due now. */
    checkout: CheckoutParams.nullish(),
  })
  .meta({ id: 'ChangeSubscriptionPlan' });
export type ChangePlanBody = z.output<typeof ChangePlanBody>;

const PlanSummary = z
  .object({
    id: z.string(),
    name: z.string(),
    lookup_key: z.string(),
    description: z.string(),
  })
  .meta({ id: 'PlanSummary' });

export const ChangedPlan = z
  .object({
    subscription: Subscription,
    from_plan: PlanSummary,
    to_plan: PlanSummary,
    /** Compares the recurring fixed fees per month. */
    change_type: z.enum(['upgrade', 'downgrade', 'lateral']),
    effective_at: instant,
    is_scheduled: z.boolean(),
    schedule_id: z.string().nullable(),
    scheduled_at: instant.nullable(),
    changed_resources: ChangedResources,
    /** Present while the change waits for its payment. */
    checkout_session: CheckoutSession.nullable(),
    /** The addons of the subscription, and what the change does with them. */
    entity_changes: z.array(
      z.object({
        behaviour: entityBehaviour,
        entity_id: z.string(),
        entity_type: z.literal('addon'),
        /** The addon association. */
        reference_id: z.string(),
      }),
    ),
    warnings: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'ChangedPlan' });
export type ChangedPlan = z.infer<typeof ChangedPlan>;

/**
 * The earlier request of a plan change (deprecated). It makes the same change in place. The billing fields must be
 * those of the subscription, because a plan change keeps its periods.
 */
export const SubscriptionChangeBody = z
  .object({
    ...common,
    proration_behavior: z.enum(SUBSCRIPTION_PRORATION_BEHAVIORS),
    billing_cadence: z.literal('RECURRING'),
    billing_period: recurringPeriod,
    billing_period_count: integer.min(1).nullish(),
    billing_cycle: z.enum(BILLING_CYCLES),
  })
  .meta({ id: 'SubscriptionChangeRequest' });
export type SubscriptionChangeBody = z.output<typeof SubscriptionChangeBody>;

const changeType = z.enum(['upgrade', 'downgrade', 'lateral']);

/** What a change charges and credits, after discounts and before taxes. */
export const ProrationDetails = z
  .object({
    charge_amount: decimalText,
    charge_description: z.string(),
    credit_amount: decimalText,
    credit_description: z.string(),
    /** The charge minus the credit; negative when the customer gets money back. */
    net_amount: decimalText,
    currency: z.string(),
    current_period_start: instant,
    current_period_end: instant,
    proration_date: instant,
    /** Whole days of the period before the change. */
    days_used: z.int(),
    /** Days of the period from the change on, a begun day included. */
    days_remaining: z.int(),
  })
  .meta({ id: 'ProrationDetails' });
export type ProrationDetails = z.infer<typeof ProrationDetails>;

/** The invoice of a previewed change. */
export const ChangeInvoicePreview = z
  .object({
    currency: z.string(),
    due_date: instant.nullable(),
    subtotal: decimalText,
    tax_amount: decimalText,
    total: decimalText,
    line_items: z.array(
      z.object({
        description: z.string(),
        quantity: decimalText,
        /** Amount of the price; 0 for tiered prices. */
        unit_price: decimalText,
        amount: decimalText,
        is_proration: z.boolean(),
        period_start: instant.nullable(),
        period_end: instant.nullable(),
      }),
    ),
  })
  .meta({ id: 'ChangeInvoicePreview' });
export type ChangeInvoicePreview = z.infer<typeof ChangeInvoicePreview>;

export const PreviewedSubscriptionChange = z
  .object({
    subscription_id: z.string(),
    current_plan: PlanSummary,
    target_plan: PlanSummary,
    change_type: changeType,
    effective_date: instant,
    /** Null when no advance is charged or credited now. */
    proration_details: ProrationDetails.nullable(),
    /** Null when the change makes no invoice: nothing is due, or the net returns to the wallet. */
    next_invoice_preview: ChangeInvoicePreview.nullable(),
    new_billing_cycle: z.object({
      billing_anchor: instant,
      billing_cadence: z.literal('RECURRING'),
      billing_period: z.string(),
      billing_period_count: z.int(),
      period_start: instant,
      period_end: instant,
    }),
    warnings: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'PreviewedSubscriptionChange' });
export type PreviewedSubscriptionChange = z.infer<typeof PreviewedSubscriptionChange>;

const SubscriptionSummary = z
  .object({
    id: z.string(),
    status: z.enum(SUBSCRIPTION_STATUSES),
    plan_id: z.string(),
    billing_anchor: instant,
    current_period_start: instant,
    current_period_end: instant,
    created_at: instant,
    /** Null: the change is made in place and archives nothing. */
    archived_at: z.null(),
  })
  .meta({ id: 'SubscriptionSummary' });

export const ExecutedSubscriptionChange = z
  .object({
    change_type: changeType,
    effective_date: instant,
    is_scheduled: z.boolean(),
    schedule_id: z.string().nullable(),
    scheduled_at: instant.nullable(),
    /** The subscription before the change. */
    old_subscription: SubscriptionSummary,
    /** The same subscription as it is now; a scheduled change has not changed its plan yet. */
    new_subscription: SubscriptionSummary,
    invoice: Invoice.nullable(),
    proration_applied: ProrationDetails.nullable(),
    /** The credit grants of the subscription; a plan change keeps them. */
    credit_grants: z.array(CreditGrant),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'ExecutedSubscriptionChange' });
export type ExecutedSubscriptionChange = z.infer<typeof ExecutedSubscriptionChange>;
