import type { CANCELLATION_TYPES } from '../../schemas/words.ts';
import { invalidField, invalidOperation } from '../errors.ts';
import { moveSubscription, type SubscriptionStatus } from '../states/subscription.ts';
import { epochMs, type Instant } from '../time/instant.ts';

export type CancellationType = (typeof CANCELLATION_TYPES)[number];

export interface CancellableSubscription {
  readonly subscription_status: SubscriptionStatus;
  readonly subscription_type: string;
  readonly current_period_start: Instant;
  readonly current_period_end: Instant;
  readonly end_date: Instant | null;
  /** A cancellation is scheduled and not yet in effect. */
  readonly has_pending_cancellation: boolean;
}

export interface CancellationRequest {
  readonly cancellation_type: CancellationType;
  /** Required with `scheduled_date`. With `immediate`: a past instant in the current period. */
  readonly cancel_at: Instant | null;
  readonly supersedes: boolean;
}

/**
 * Fields of the record after the request. `cancelled_at` and `end_date` are set only when it takes effect.
 */
export interface CancellationDecision {
  readonly subscription_status: SubscriptionStatus;
  readonly cancel_at: Instant;
  readonly cancel_at_period_end: boolean;
  readonly cancelled_at: Instant | null;
  readonly end_date: Instant | null;
  readonly takes_effect: 'now' | 'later';
}

/**
 * Plans a cancellation requested at `at` (billing 13). If it takes effect now, the subscription
 * ends at `cancel_at` and the final invoice charges up to that instant. A later one changes no period. The
 * request never shortens the current period.
 */
export function planCancellation(
  subscription: CancellableSubscription,
  request: CancellationRequest,
  at: Instant,
): CancellationDecision {
  assertCancellable(subscription, request);
  switch (request.cancellation_type) {
    case 'immediate':
      return cancelledAt(subscription, effectiveNow(subscription, request.cancel_at ?? at, at));
    case 'end_of_period':
      return scheduled(subscription, subscription.current_period_end, true);
    case 'scheduled_date': {
      if (request.cancel_at === null) {
        throw invalidField('cancel_at', 'is required with scheduled_date');
      }
      if (epochMs(request.cancel_at) > epochMs(at)) {
        return scheduled(subscription, request.cancel_at, false);
      }
      return cancelledAt(subscription, effectiveNow(subscription, request.cancel_at, at));
    }
    default:
      return request.cancellation_type satisfies never;
  }
}

/**
 * Instant at which a subscription ends: the earlier of its scheduled cancellation and its end date, if
 * reached by `at` (billing 13, 3.4). Null if neither is reached.
 */
export function dueEnd(
  subscription: { readonly cancel_at: Instant | null; readonly end_date: Instant | null },
  at: Instant,
): Instant | null {
  const ends = [subscription.cancel_at, subscription.end_date]
    .filter((end) => end !== null)
    .sort((left, right) => epochMs(left) - epochMs(right));
  const [first] = ends;
  return first !== undefined && epochMs(first) <= epochMs(at) ? first : null;
}

/** Fields of the record when a cancellation or an end date takes effect at `end`. */
export const cancelledAt = (
  subscription: Pick<CancellableSubscription, 'subscription_status'>,
  end: Instant,
): CancellationDecision => ({
  subscription_status: moveSubscription(subscription.subscription_status, 'cancel'),
  cancel_at: end,
  cancel_at_period_end: false,
  cancelled_at: end,
  end_date: end,
  takes_effect: 'now',
});

const scheduled = (
  subscription: CancellableSubscription,
  cancelAt: Instant,
  atPeriodEnd: boolean,
): CancellationDecision => ({
  subscription_status: subscription.subscription_status,
  cancel_at: cancelAt,
  cancel_at_period_end: atPeriodEnd,
  cancelled_at: null,
  end_date: subscription.end_date,
  takes_effect: 'later',
});

function assertCancellable(
  subscription: CancellableSubscription,
  request: CancellationRequest,
): void {
  const status = subscription.subscription_status;
  if (status === 'cancelled')
    throw invalidOperation('The subscription is cancelled already.', 'subscription_status');
  if (status === 'draft') {
    throw invalidOperation(
      'A draft subscription cannot be cancelled; archive it.',
      'subscription_status',
    );
  }
  if (subscription.subscription_type === 'inherited') {
    throw invalidOperation(
      'An inherited subscription is cancelled with its parent.',
      'subscription_type',
    );
  }
  const supersedes = request.supersedes || request.cancellation_type === 'immediate';
  if (subscription.has_pending_cancellation && !supersedes)
    throw invalidOperation('A cancellation is scheduled already.', 'cancel_at');
}

/** Now, or a past instant in the current period. */
function effectiveNow(
  subscription: CancellableSubscription,
  cancelAt: Instant,
  at: Instant,
): Instant {
  if (epochMs(cancelAt) > epochMs(at)) {
    throw invalidField('cancel_at', 'must not be in the future with an immediate cancellation');
  }
  const isNow = epochMs(cancelAt) === epochMs(at);
  if (!isNow && epochMs(cancelAt) <= epochMs(subscription.current_period_start)) {
    throw invalidField('cancel_at', 'must be after the start of the running period');
  }
  return cancelAt;
}
