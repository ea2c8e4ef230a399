import { z } from 'zod';
import { onlyEmpty } from '../not-offered.ts';
import {
  currency,
  name,
  nonNegativeDecimal,
  optionalText,
  pairs,
  positiveDecimal,
  time,
} from '../primitives.ts';
import { BILLING_PERIODS, CREDIT_GRANT_EXPIRATION_UNITS, FEATURE_TYPES } from '../words.ts';

const CreateCustomer = z.object({
  action: z.literal('create_customer'),
  default_user_id: optionalText(),
});

/** A wallet for every new customer; its initial credits may expire, counted by the calendar of the customer. */
const CreateWallet = z
  .object({
    action: z.literal('create_wallet'),
    currency,
    conversion_rate: positiveDecimal.default('1'),
    wallet_type: z.enum(['PRE_PAID', 'POST_PAID']).optional(),
    initial_credits_to_load: nonNegativeDecimal.default('0'),
    initial_credits_expiration_duration: z.int32().min(1).nullish(),
    initial_credits_expiration_duration_unit: z.enum(CREDIT_GRANT_EXPIRATION_UNITS).nullish(),
  })
  .superRefine((action, context) => {
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message });
    const {
      initial_credits_expiration_duration: duration,
      initial_credits_expiration_duration_unit: unit,
    } = action;
    if ((duration == null) !== (unit == null))
      refuse('initial_credits_expiration_duration', 'comes with its unit');
    else if (duration != null && action.initial_credits_to_load === '0')
      refuse('initial_credits_to_load', 'must be above 0 where credits expire');
  });

/**
 * A subscription from `start_date`, or from the customer's creation. Without `currency` and `billing_period` they are
 * those of the plan's prices.
 */
const CreateSubscription = z.object({
  action: z.literal('create_subscription'),
  plan_id: name(),
  currency: currency.nullish(),
  billing_period: z.enum(BILLING_PERIODS).nullish(),
  billing_cycle: z.enum(['anniversary', 'calendar']).optional(),
  start_date: time.nullish(),
});

const CreateFeatureAndPrice = z.object({
  action: z.literal('create_feature_and_price'),
  plan_id: name(),
  feature_type: z.enum(FEATURE_TYPES).optional(),
  price_start_date_time: time.nullish(),
});

const RolloutToSubscriptions = z.object({
  action: z.literal('rollout_to_subscriptions'),
  plan_id: name(),
});

const Actions = z
  .array(
    z.discriminatedUnion('action', [
      CreateCustomer,
      CreateWallet,
      CreateSubscription,
      CreateFeatureAndPrice,
      RolloutToSubscriptions,
    ]),
  )
  .max(50)
  .superRefine((actions, context) => {
    for (const [index, { action }] of actions.entries())
      if (action === 'create_customer' && index > 0)
        context.addIssue({ code: 'custom', path: [index, 'action'], message: 'must be the first' });
  });

/** This version runs none of these actions, so it stores none: a value with actions is refused. */
const NoActions = Actions.refine((actions) => actions.length === 0, onlyEmpty('actions'));

const OnboardingAction = z.discriminatedUnion('action', [CreateWallet, CreateSubscription]);
export type OnboardingAction = z.output<typeof OnboardingAction>;
const OnboardingActions = z.array(OnboardingAction).max(10);

/** Actions that run automatically for a customer that a request creates, in their order. */
export const CustomerOnboarding = z.object({
  workflow_type: z.literal('customer_onboarding').optional(),
  actions: OnboardingActions.optional(),
  /** Other lists of actions, which the request may name in place of `actions`. */
  custom_workflows: pairs(OnboardingActions, 50, name()).optional(),
});
export const CUSTOMER_ONBOARDING_DEFAULT = { workflow_type: 'customer_onboarding', actions: [] };

/** Actions that run automatically for events that no meter counts. */
export const PrepareProcessedEventsConfig = z.object({
  workflow_type: z.literal('prepare_processed_events').optional(),
  actions: NoActions.optional(),
});
export const PREPARE_PROCESSED_EVENTS_CONFIG_DEFAULT = {
  workflow_type: 'prepare_processed_events',
  actions: [],
};
