import { decimal } from '../../../domain/money.ts';
import { mirroredPauseStatus, movePause } from '../../../domain/states/pause.ts';
import { moveSubscription } from '../../../domain/states/subscription.ts';
import { openingStatus } from '../../../domain/subscription/activation.ts';
import { cancelledAt, dueEnd } from '../../../domain/subscription/cancellation.ts';
import { endProrations } from '../../../domain/subscription/closing-prorations.ts';
import { dueAction, dueAt } from '../../../domain/subscription/due.ts';
import { resume, resumedPeriod } from '../../../domain/subscription/pause.ts';
import {
  anchorsBefore,
  paidSchedule,
  uncutPeriodEnd,
} from '../../../domain/subscription/schedule.ts';
import { periodContaining } from '../../../domain/time/billing-periods.ts';
import { earlierOf } from '../../../domain/time/instant.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { InvoiceTarget } from '../computing/invoice-target.ts';
import {
  closedTarget,
  cycleTarget,
  openingTarget,
  periodAfter,
  trialEndTarget,
} from '../computing/targets.ts';

/** One step of a subscription in time. */
export interface Advance {
  readonly subscription: SubscriptionRow;
  /** The invoice of the step; null if there is nothing to invoice. */
  readonly target: InvoiceTarget | null;
  /** True if issued with the step; false for a draft that waits for late usage. */
  readonly isIssuedAtOnce: boolean;
  /** An invoice without rows is still written: it holds the slot of its period (billing 17.3). */
  readonly isWrittenEmpty: boolean;
  /** The subscription after the step, given the amount due of its invoice. */
  after(amountDue: string): SubscriptionRow;
}

/** What is due next by `at`; null if nothing is (billing 3.4). Pure. */
export function planAdvance(
  subscription: SubscriptionRow,
  at: string,
  settings: { readonly grace_seconds: number },
): Advance | null {
  const action = dueAction(subscription, at);
  switch (action) {
    case null:
      return null;
    case 'open':
      return opening(subscription);
    case 'close':
      return closing(subscription, settings);
    case 'end_trial':
      return trialEnd(subscription);
    case 'cancel':
      return cancellation(subscription, subscription.due_at!, settings);
    case 'pause':
      return pausing(subscription);
    case 'resume':
      return resuming(subscription, subscription.due_at!);
    default:
      return action satisfies never;
  }
}

/** The subscription with every field that an end at `end` sets. */
export function endedAt(subscription: SubscriptionRow, end: string): SubscriptionRow {
  const { takes_effect: _, ...fields } = cancelledAt(subscription, end);
  return { ...subscription, ...fields, ...NO_PAUSE, due_at: null };
}

const NO_PAUSE = {
  pause_status: 'none',
  active_pause_id: null,
  pause_at: null,
  resume_at: null,
} as const;

const withDue = (subscription: SubscriptionRow): SubscriptionRow => ({
  ...subscription,
  due_at: dueAt(subscription),
});

function runningPeriod({ current_period_start, current_period_end }: SubscriptionRow) {
  return { start: current_period_start, end: current_period_end };
}

/** A future start is reached: the opening invoice, or the preview of the trial (billing 19.1, 10.4). */
function opening(subscription: SubscriptionRow): Advance {
  return {
    subscription,
    target: openingTarget(subscription),
    isIssuedAtOnce: true,
    isWrittenEmpty: false,
    // The subscription was active before its start; a later failed payment does not change that (10.3).
    after: () => withDue(subscription),
  };
}

/** A pause begins: nothing is invoiced until it ends (billing 12.3). */
const paused = (subscription: SubscriptionRow): SubscriptionRow =>
  withDue({
    ...subscription,
    subscription_status: moveSubscription(subscription.subscription_status, 'pause'),
    pause_status: mirroredPauseStatus(movePause('scheduled', 'start')),
  });

const pausing = (subscription: SubscriptionRow): Advance => ({
  subscription,
  target: null,
  isIssuedAtOnce: false,
  isWrittenEmpty: false,
  after: () => paused(subscription),
});

/**
 * A pause ends: the running period becomes longer by the pause, and a cancellation at its end comes later. If the
 * pause began at the end of a period, a new period begins, and its advances are billed at once (billing 12.4).
 */
function resuming(subscription: SubscriptionRow, at: string): Advance {
  const {
    starts_new_period,
    shift_ms: _,
    ...period
  } = resumedPeriod(
    { ...subscription, current_period_end: uncutPeriodEnd(subscription) },
    { pause_start: subscription.pause_at! },
    at,
  );
  const { pause_record_status: __, ...states } = resume(subscription.subscription_status, 'active');
  const { billing_anchor, current_period_start } = period;
  const earlier_anchors = anchorsBefore(subscription, billing_anchor, current_period_start);
  const current_period_end = earlierOf(period.current_period_end, subscription.end_date);
  // A cancellation at the end of the period follows it; one at a date stays.
  const follows =
    subscription.cancel_at_period_end && subscription.cancel_at === subscription.current_period_end;
  const moved: SubscriptionRow = {
    ...subscription,
    ...period,
    current_period_end,
    cancel_at: follows ? current_period_end : subscription.cancel_at,
    earlier_anchors,
    ...NO_PAUSE,
    ...states,
  };
  const none = { subscription, target: null, isIssuedAtOnce: true, isWrittenEmpty: false };
  if (!starts_new_period) return { ...none, after: () => withDue(moved) };
  const next = periodContaining(paidSchedule(moved), at);
  if (next === null) return { ...none, after: () => endedAt(moved, at) };
  const begun = { ...moved, current_period_end: next.end };
  const opening = { start: at, end: next.end };
  return {
    ...none,
    target: {
      subscription: begun,
      billing_reason: 'SUBSCRIPTION_UPDATE',
      period: opening,
      proration_behavior: subscription.proration_behavior,
      covers: { closing: null, opening },
      invoice: null,
      finalize_after: null,
      resumed: subscription,
    },
    after: () => withDue(begun),
  };
}

/** The period is over: the cycle's draft, then the next period or the end. */
export function closing(
  subscription: SubscriptionRow,
  settings: { readonly grace_seconds: number },
): Advance {
  const period = runningPeriod(subscription);
  const next = periodAfter(subscription, period);
  return {
    subscription,
    target: cycleTarget(subscription, period, settings),
    isIssuedAtOnce: false,
    isWrittenEmpty: true,
    after: () => {
      if (isPausing(subscription, period.end)) return paused(subscription);
      return next === null
        ? endedAt(subscription, period.end)
        : withDue({
            ...subscription,
            current_period_start: next.start,
            current_period_end: next.end,
          });
    },
  };
}

/** A pause that begins where the period ends, unless the subscription ends there (billing 3.4). */
const isPausing = (subscription: SubscriptionRow, end: string): boolean =>
  subscription.pause_at === end && dueEnd(subscription, end) === null;

/**
 * The trial is over: the advances of the first paid period, or nothing if the subscription ends with the
 * trial (10.4).
 */
function trialEnd(subscription: SubscriptionRow): Advance {
  const trial_end = subscription.current_period_end;
  const end = dueEnd(subscription, trial_end);
  const none = { subscription, isIssuedAtOnce: true, isWrittenEmpty: false };
  if (end !== null) return { ...none, target: null, after: () => endedAt(subscription, end) };

  const target = trialEndTarget(subscription);
  return {
    ...none,
    target,
    after: (amountDue) => {
      const status = openingStatus(subscription, decimal(amountDue), false);
      const subscription_status = moveSubscription(
        subscription.subscription_status,
        status === 'active' ? 'convert_active' : 'convert_incomplete',
      );
      return withDue({ ...target.subscription, subscription_status });
    },
  };
}

const ORDINARY = { billing_reason: 'SUBSCRIPTION_CYCLE' } as const;

/**
 * The subscription ends at `end`, inside its running period: usage and arrears up to `end` (billing
 * 13). A trial that is cut short is not charged, nor is an incomplete subscription, which was never active. The end of
 * a period that is reached in a pause is an end like others: its invoice is the ordinary last one. If a pause began at
 * the end of the period, or the next one has begun in this instant, the period is closed already. Then only the unused
 * rest of commitments for a term is charged (12.8).
 */
export function cancellation(
  subscription: SubscriptionRow,
  end: string,
  settings: { readonly grace_seconds: number },
): Advance {
  const ended = endedAt(subscription, end);
  const { subscription_status, pause_at, current_period_start, current_period_end } = subscription;
  const isClosed = subscription_status === 'paused' && pause_at === current_period_end;
  const period = { start: isClosed ? current_period_end : current_period_start, end };
  const isCharged =
    wasActive(subscription_status) && period.start <= end && end > subscription.start_date;
  return {
    subscription,
    target: isCharged
      ? {
          ...closedTarget(ended, period, endProrations(subscription), settings),
          ...(end === current_period_end ? ORDINARY : {}),
        }
      : null,
    isIssuedAtOnce: false,
    isWrittenEmpty: false,
    after: () => ended,
  };
}

/** Whether the running period is one that is billed. */
const wasActive = (status: SubscriptionRow['subscription_status']): boolean =>
  status !== 'trialing' && status !== 'incomplete';
