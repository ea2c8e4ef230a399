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
import { CREDIT_GRANT_EXPIRATION_UNITS, FEATURE_TYPES } from '../words.ts';

const CreateCustomer = z.object({
  action: z.literal('create_customer'),
  default_user_id: optionalText(),
});

/** A wallet for every new customer; its initial credits may expire. */
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

const CreateSubscription = z.object({
  action: z.literal('create_subscription'),
  plan_id: name(),
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

/** This version runs no actions, so it stores none: a value with actions is refused. */
const NoActions = Actions.refine((actions) => actions.length === 0, onlyEmpty('actions'));

/** Actions that run automatically for a new customer. */
export const CustomerOnboarding = z.object({
  workflow_type: z.literal('customer_onboarding').optional(),
  actions: NoActions.optional(),
  /** Other lists of actions, which a new customer may select. */
  custom_workflows: pairs(NoActions, 50, name()).optional(),
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
