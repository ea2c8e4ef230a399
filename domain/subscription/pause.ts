import { withArticle } from '../article.ts';
import type { PAUSE_MODES, RESUME_MODES } from '../../schemas/words.ts';
import { BillingError, invalidField, invalidOperation } from '../errors.ts';
import {
  mirroredPauseStatus,
  movePause,
  type PauseRecordStatus,
  type PauseStatus,
} from '../states/pause.ts';
import { moveSubscription, type SubscriptionStatus } from '../states/subscription.ts';
import type { BillingCycle } from '../time/billing-grid.ts';
import { epochMs, isoText, type Instant } from '../time/instant.ts';
import { advanceDays } from '../time/local-days.ts';

export type PauseMode = (typeof PAUSE_MODES)[number];

export type ResumeMode = (typeof RESUME_MODES)[number];

export interface PauseRequest {
  readonly pause_mode: PauseMode;
  /** Only with `scheduled`; must be in the future. */
  readonly pause_start: Instant | null;
  /** Set `pause_end` or `pause_days`, or neither for a pause without an end. */
  readonly pause_end: Instant | null;
  readonly pause_days: number | null;
}

export interface PausableSubscription {
  readonly subscription_status: SubscriptionStatus;
  readonly subscription_type: string;
  readonly current_period_start: Instant;
  readonly current_period_end: Instant;
  readonly customer_timezone: string;
  /** An active or scheduled pause. */
  readonly active_pause_id: string | null;
  readonly has_phases: boolean;
  /** Other subscriptions are billed on its invoice. */
  readonly has_grouped?: boolean;
  readonly has_pending_plan_change: boolean;
}

export interface PlannedPause {
  readonly pause_mode: PauseMode;
  readonly pause_status: PauseRecordStatus;
  readonly pause_start: Instant;
  readonly pause_end: Instant | null;
  readonly original_period_start: Instant;
  readonly original_period_end: Instant;
}

export interface PauseDecision {
  readonly pause: PlannedPause;
  readonly subscription_status: SubscriptionStatus;
  /** The `pause_status` of the subscription. */
  readonly pause_status: PauseStatus;
}

/**
 * Plans a pause requested at `at` (billing 12.1, 12.2). Only an immediate pause changes the
 * subscription now. Refuses a subscription that cannot be paused, and inconsistent dates.
 */
export function planPause(
  subscription: PausableSubscription,
  request: PauseRequest,
  at: Instant,
): PauseDecision {
  assertPausable(subscription);
  const start = pauseStart(subscription, request, at);
  const status = movePause(null, request.pause_mode === 'immediate' ? 'pause_now' : 'schedule');
  return {
    pause: {
      pause_mode: request.pause_mode,
      pause_status: status,
      pause_start: start,
      pause_end: pauseEnd(request, start, subscription.customer_timezone),
      original_period_start: subscription.current_period_start,
      original_period_end: subscription.current_period_end,
    },
    subscription_status:
      status === 'active'
        ? moveSubscription(subscription.subscription_status, 'pause')
        : subscription.subscription_status,
    pause_status: mirroredPauseStatus(status),
  };
}

function assertPausable(subscription: PausableSubscription): void {
  if (subscription.subscription_status !== 'active') {
    throw invalidOperation(
      `${withArticle(subscription.subscription_status)} subscription cannot be paused.`,
      'subscription_status',
    );
  }
  if (subscription.active_pause_id !== null) {
    const message = 'The subscription has a pause already.';
    throw new BillingError('conflict', 'already_exists', message, [
      { path: 'pause_status', code: 'already_exists', message },
    ]);
  }
  if (subscription.subscription_type === 'inherited') {
    throw invalidOperation(
      'An inherited subscription is paused with its parent.',
      'subscription_type',
    );
  }
  if (subscription.subscription_type === 'grouped_invoicing') {
    throw invalidOperation(
      'A grouped subscription is billed on the invoice of its parent and cannot be paused; remove it from the parent first.',
      'subscription_type',
    );
  }
  if (subscription.has_grouped === true) {
    throw invalidOperation(
      'Other subscriptions are billed on the invoice of this one; remove them before the pause.',
      'subscription_type',
    );
  }
  if (subscription.has_phases) {
    throw invalidOperation('A subscription with phases cannot be paused.', 'phases');
  }
  if (subscription.has_pending_plan_change) {
    throw invalidOperation('A plan change is pending; cancel it before the pause.', 'schedules');
  }
}

function pauseStart(
  subscription: PausableSubscription,
  request: PauseRequest,
  at: Instant,
): Instant {
  if (request.pause_mode === 'scheduled') {
    if (request.pause_start === null) {
      throw invalidField('pause_start', 'is required with the mode scheduled');
    }
    if (epochMs(request.pause_start) <= epochMs(at)) {
      throw invalidField('pause_start', 'must be in the future');
    }
    return request.pause_start;
  }
  if (request.pause_start !== null) {
    throw invalidField('pause_start', 'is for the mode scheduled');
  }
  return request.pause_mode === 'immediate' ? at : subscription.current_period_end;
}

/** Ten years. */
const PAUSE_DAYS_MAX = 3_650;

function pauseEnd(request: PauseRequest, start: Instant, timezone: string): Instant | null {
  if (request.pause_end !== null && request.pause_days !== null) {
    throw invalidField('pause_days', 'and pause_end exclude each other');
  }
  if (request.pause_days !== null) {
    const { pause_days: days } = request;
    if (!Number.isInteger(days) || days < 1 || days > PAUSE_DAYS_MAX) {
      throw invalidField('pause_days', `must be a whole number from 1 to ${PAUSE_DAYS_MAX}`);
    }
    return advanceDays(start, days, timezone);
  }
  if (request.pause_end !== null && epochMs(request.pause_end) <= epochMs(start)) {
    throw invalidField('pause_end', 'must be after the start of the pause');
  }
  return request.pause_end;
}

/** Current period and anchor of a subscription after a pause. */
export interface ResumedPeriod {
  readonly current_period_start: Instant;
  readonly current_period_end: Instant;
  readonly billing_anchor: Instant;
  /**
   * Milliseconds to add to dates that follow the subscription: commitment terms, repeated coupons, grants.
   */
  readonly shift_ms: number;
  /**
   * A new period starts at the resumption and ends at the next boundary. Its advance rows are billed
   * immediately.
   */
  readonly starts_new_period: boolean;
}

/**
 * Current period after a pause that lasted from `pause_start` to `resumedAt` (billing 12.4).
 * Anniversary: the current period is extended by the pause, so paid time is kept, and the next periods count
 * from its new end. Calendar: the grid does not change. If the pause began at the end of a period, a new
 * period starts at the resumption; for the anniversary cycle this is also the new anchor.
 */
export function resumedPeriod(
  subscription: {
    readonly billing_cycle: BillingCycle;
    readonly billing_anchor: Instant;
    readonly current_period_start: Instant;
    readonly current_period_end: Instant;
  },
  pause: { readonly pause_start: Instant },
  resumedAt: Instant,
): ResumedPeriod {
  const shift = Math.max(epochMs(resumedAt) - epochMs(pause.pause_start), 0);
  const keepsGrid = subscription.billing_cycle === 'calendar';
  const atBoundary = epochMs(pause.pause_start) >= epochMs(subscription.current_period_end);
  if (atBoundary) {
    return {
      current_period_start: resumedAt,
      current_period_end: resumedAt,
      billing_anchor: keepsGrid ? subscription.billing_anchor : resumedAt,
      shift_ms: shift,
      starts_new_period: true,
    };
  }
  const end = keepsGrid
    ? subscription.current_period_end
    : isoText(epochMs(subscription.current_period_end) + shift);
  return {
    current_period_start: subscription.current_period_start,
    current_period_end: end,
    billing_anchor: keepsGrid ? subscription.billing_anchor : end,
    shift_ms: shift,
    starts_new_period: false,
  };
}

export interface ResumeDecision {
  readonly subscription_status: SubscriptionStatus;
  readonly pause_record_status: PauseRecordStatus;
  readonly pause_status: PauseStatus;
  readonly active_pause_id: null;
}

/**
 * The states after a resumption. Refuses a subscription that is not paused (billing 19.1, 19.2).
 */
export function resume(
  subscriptionStatus: SubscriptionStatus,
  pauseStatus: PauseRecordStatus,
): ResumeDecision {
  const subscription_status = moveSubscription(subscriptionStatus, 'resume');
  const pause_record_status = movePause(pauseStatus, 'resume');
  return {
    subscription_status,
    pause_record_status,
    pause_status: mirroredPauseStatus(pause_record_status),
    active_pause_id: null,
  };
}
