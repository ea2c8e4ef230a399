import { SUBSCRIPTION_STATUSES } from '../../schemas/words.ts';
import { move, type StateMachine } from './state-machine.ts';

export type SubscriptionStatus = (typeof SUBSCRIPTION_STATUSES)[number];

/**
 * `create_*` and `activate_*` are split by the result of `openingStatus` (domain/subscription/activation.ts),
 * which depends on the trial and the payment. The table alone then defines the legal moves.
 */
export const SUBSCRIPTION_TRIGGERS = [
  'create_draft', 'create_trialing', 'create_active', 'create_incomplete',
  'activate_trialing', 'activate_active', 'activate_incomplete', 'discard',
  'convert_active', 'convert_incomplete', 'settle_first_invoice',
  'pause', 'resume', 'cancel',
] as const; // prettier-ignore
export type SubscriptionTrigger = (typeof SUBSCRIPTION_TRIGGERS)[number];

/**
 * Billing-semantics 19.1. `discard`: the checkout expired or was cancelled; the record is archived and stays
 * a draft. `convert_*`: the trial ends. `cancel`: a cancellation takes effect, the end date is reached, or
 * the automatic cancellation runs. A renewal that cannot be paid is not a trigger: no payment writes an active
 * subscription.
 */
export const subscriptionMachine: StateMachine<SubscriptionStatus, SubscriptionTrigger> = {
  noun: 'subscription',
  field: 'subscription_status',
  refusal: 'invalid_operation',
  states: SUBSCRIPTION_STATUSES,
  triggers: SUBSCRIPTION_TRIGGERS,
  initial: {
    create_draft: 'draft',
    create_trialing: 'trialing',
    create_active: 'active',
    create_incomplete: 'incomplete',
  },
  moves: {
    draft: {
      activate_trialing: 'trialing',
      activate_active: 'active',
      activate_incomplete: 'incomplete',
      discard: 'draft',
    },
    trialing: { convert_active: 'active', convert_incomplete: 'incomplete', cancel: 'cancelled' },
    active: { pause: 'paused', cancel: 'cancelled' },
    incomplete: { settle_first_invoice: 'active', cancel: 'cancelled' },
    paused: { resume: 'active', cancel: 'cancelled' },
    cancelled: {},
  },
};

/** The status after `trigger`; refuses with `invalid_operation`. `from` null creates the record. */
export const moveSubscription = (
  from: SubscriptionStatus | null,
  trigger: SubscriptionTrigger,
): SubscriptionStatus => move(subscriptionMachine, from, trigger);
