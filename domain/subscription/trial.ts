import { invalidField, invalidOperation } from '../errors.ts';
import type { PriceType } from '../pricing/price.ts';
import type { SubscriptionStatus } from '../states/subscription.ts';
import { epochMs, isoText, type Instant, type Period } from '../time/instant.ts';
import { advanceDays, localDaysBetween } from '../time/local-days.ts';

export interface TrialRequest {
  readonly trial_start: Instant | null;
  readonly trial_end: Instant | null;
  /** 0 means no trial, even if the prices have one. */
  readonly trial_period_days: number | null;
}

/** The fields of a plan price that trials need. */
export interface TrialPrice {
  readonly type: PriceType;
  readonly is_recurring: boolean;
  /** Days; null or 0 means no trial. */
  readonly trial_period: number | null;
}

/**
 * The trial of a new subscription, or null (billing 10.4). Order of precedence: dates of the
 * request, days of the request, days of the recurring fixed prices. Days are calendar days in the customer's
 * time zone. Refuses prices with different trials if the request gives neither dates nor days.
 */
export function trialWindow(
  start: Instant,
  request: TrialRequest,
  prices: readonly TrialPrice[],
  timezone: string,
): Period | null {
  if (request.trial_start !== null || request.trial_end !== null) {
    return requestedWindow(start, request);
  }
  const days = request.trial_period_days ?? commonDays(prices);
  if (!Number.isInteger(days) || days < 0) {
    throw invalidField('trial_period_days', 'must be a whole number, 0 or more');
  }
  return days === 0 ? null : { start, end: advanceDays(start, days, timezone) };
}

function requestedWindow(start: Instant, request: TrialRequest): Period | null {
  const from = request.trial_start ?? start;
  const to = request.trial_end;
  if (to === null) throw invalidField('trial_end', 'is required with trial_start');
  if (epochMs(from) > epochMs(start)) {
    throw invalidField('trial_start', 'must not be after the start of the subscription');
  }
  if (epochMs(to) < epochMs(start)) {
    throw invalidField('trial_end', 'must not be before the start of the subscription');
  }
  return epochMs(from) === epochMs(to) ? null : { start: from, end: to };
}

function commonDays(prices: readonly TrialPrice[]): number {
  const days = new Set(
    prices
      .filter((price) => price.type === 'FIXED' && price.is_recurring)
      .map((price) => price.trial_period ?? 0),
  );
  if (days.size > 1) {
    throw invalidField(
      'trial_period_days',
      'is required, because the prices of the plan have different trials',
    );
  }
  return [...days][0] ?? 0;
}

/**
 * The trial of a draft that is activated at `start`: as many calendar days as before, else as many
 * milliseconds (billing 10.5). Null without a trial.
 */
export function trialFrom(
  start: Instant,
  draft: {
    readonly trial_start: Instant | null;
    readonly trial_end: Instant | null;
    readonly customer_timezone: string;
  },
): Period | null {
  const { trial_start: from, trial_end: to, customer_timezone: timezone } = draft;
  if (from === null || to === null) return null;
  const days = localDaysBetween(from, to, timezone);
  const end =
    advanceDays(from, days, timezone) === to
      ? advanceDays(start, days, timezone)
      : isoText(epochMs(start) + epochMs(to) - epochMs(from));
  return { start, end };
}

/** Subscription fields that change with the end of its trial. The start of its grants changes too. */
export interface TrialEnd {
  readonly trial_end: Instant;
  readonly current_period_end: Instant;
}

/**
 * Moves the end of a running trial to `newEnd`, now or later (billing 10.4). If `newEnd` is `at`,
 * the caller ends the trial now. `path` names the field of the request. Refuses a subscription that is not trialing,
 * and a past instant.
 */
export function moveTrialEnd(
  subscription: { readonly subscription_status: SubscriptionStatus },
  newEnd: Instant,
  at: Instant,
  path = 'trial_end',
): TrialEnd {
  if (subscription.subscription_status !== 'trialing') {
    throw invalidOperation(
      `The subscription is ${subscription.subscription_status} and has no running trial.`,
      'subscription_status',
    );
  }
  if (epochMs(newEnd) < epochMs(at)) throw invalidField(path, 'must not be in the past');
  return { trial_end: newEnd, current_period_end: newEnd };
}
