import { z } from 'zod';
import { CheckoutParams, CheckoutSession } from './checkout.ts';
import { instant, metadata, id, recurringPeriod, text } from './primitives.ts';
import { Subscription } from './subscription-answers.ts';
import { ChangedInvoice, ChangedResources } from './subscription-modify.ts';
import { BILLING_CYCLES, SUBSCRIPTION_PRORATION_BEHAVIORS } from './words.ts';

const common = {
  target_plan_id: id,
  /** `end_of_period` makes a schedule. Default: `immediate`. */
  change_at: z.enum(['immediate', 'end_of_period']).nullish(),
  metadata: metadata.nullish(),
};

/** A plan change in place (interface, rule 10). */
export const ChangePlanBody = z
  .object({
    ...common,
    /** Default: the behavior of the subscription. */
    proration_behavior: z.enum(SUBSCRIPTION_PRORATION_BEHAVIORS).nullish(),
    /** Only `keep`: the running period and the anchor stay. */
    billing_period_behaviour: z
      .enum(['keep', 'anchor_at_effect'])
      .refine((value) => value === 'keep', {
        message: 'a new period at the effect cannot be set in this version; leave it out',
      })
      .nullish(),
    /** What happens to a plan change that is pending already. Default: `reject`. */
    conflict_behaviour: z.enum(['reject', 'supersede']).nullish(),
    /** `carry` keeps the addons of the subscription. */
    entity_policies: z
      .object({
        addons: z
          .enum(['carry', 'drop'])
          .refine((value) => value === 'carry', {
            message: 'addons cannot be dropped in this version; detach them',
          })
          .nullish(),
      })
      .nullish(),
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
    entity_changes: z.array(z.unknown()).max(0),
    warnings: z.array(z.string()),
    metadata: z.record(z.string(), z.string()),
  })
  .meta({ id: 'ChangedPlan' });
export type ChangedPlan = z.infer<typeof ChangedPlan>;
