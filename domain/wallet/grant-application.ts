import type { GRANT_APPLICATION_REASONS } from '../../schemas/words.ts';
import { invalidOperation } from '../errors.ts';
import { decimal, roundToStorage, type Decimal } from '../money.ts';
import type { SubscriptionStatus } from '../states/subscription.ts';
import type { GrantApplicationStatus } from '../states/grant-application.ts';
import { billingGrid } from '../time/billing-grid.ts';
import { epochMs, isoText, LAST_INSTANT, type Instant, type Period } from '../time/instant.ts';
import { validateExpiration, type CreditGrant } from './credit-grant.ts';

/** One period's credits of one grant, due at the period's start (money 5.3.1). */
export interface GrantApplication {
  readonly scheduled_for: string;
  readonly period_start: string;
  /** Null for a one-time grant. */
  readonly period_end: string | null;
  readonly credits: string;
  readonly application_status: GrantApplicationStatus;
  readonly application_reason: GrantApplicationReason;
}

export type GrantApplicationReason = (typeof GRANT_APPLICATION_REASONS)[number];

/**
 * What to do with a due application. After `apply` and `skip`, a recurring grant gets its next application.
 */
export type ApplicationDecision =
  | { readonly action: 'apply'; readonly expiry_date: string | null }
  | { readonly action: 'skip'; readonly reason: string }
  | { readonly action: 'wait'; readonly next_attempt_at: string }
  | { readonly action: 'cancel' };

/**
 * The outcome of a due application by the state of its subscription (money 5.4).
 * `scheduled_for` never changes. A deferred application is retried at `next_attempt_at`; a deferral is
 * not a failure. Credits that would already be expired are skipped (5.5.5).
 */
export function decideApplication(
  subscription: {
    readonly subscription_status: SubscriptionStatus;
    readonly trial_end: string | null;
  },
  expiryDate: string | null,
  deferrals: number,
  at: string,
): ApplicationDecision {
  switch (subscription.subscription_status) {
    case 'cancelled':
      return { action: 'cancel' };
    case 'paused':
      return { action: 'skip', reason: 'the subscription was paused' };
    case 'trialing':
      return { action: 'wait', next_attempt_at: subscription.trial_end ?? laterBy(at, deferrals) };
    case 'incomplete':
    case 'draft':
      return { action: 'wait', next_attempt_at: laterBy(at, deferrals) };
    case 'active':
      return expiryDate !== null && epochMs(expiryDate) <= epochMs(at)
        ? { action: 'skip', reason: 'the credits had expired' }
        : { action: 'apply', expiry_date: expiryDate };
    default:
      return subscription.subscription_status satisfies never;
  }
}

/** 30 minutes, doubled with each of the first four deferrals (money 5.4). */
const laterBy = (at: string, deferrals: number): string =>
  isoText(epochMs(at) + 30 * MINUTE_MS * 2 ** Math.min(deferrals, 4));

/**
 * When a failed application is retried: after 15 minutes, doubled with each failure, at most a day
 * (money 5.3.6).
 */
export const retryAt = (failures: number, at: string): string =>
  isoText(epochMs(at) + Math.min(15 * MINUTE_MS * 2 ** (failures - 1), 24 * 60 * MINUTE_MS));

/** From this number of failures on, the doctor names the credits (money 5.3.6). */
export const FAILURES_TO_ALERT = 10;

const MINUTE_MS = 60_000;

/**
 * When the credits of an application expire; null means never (money 5.5.3, 5.5.4). A duration
 * counts from the period's start by the calendar of the subscription's time zone: days keep the local
 * time of day, months and years clamp to the month's end. BILLING_CYCLE is the end of the billing period
 * that contains the start; without a billing period it refuses, so that credits never lack an expiry. A duration that
 * ends beyond the calendar, of a grant made before durations had a limit, does not end: null.
 */
export function grantExpiry(
  grant: Pick<CreditGrant, 'expiration_type' | 'expiration_duration' | 'expiration_duration_unit'>,
  periodStart: string,
  timezone: string,
  billingPeriodEnd: string | null,
): string | null {
  validateExpiration(grant);
  switch (grant.expiration_type) {
    case 'NEVER':
      return null;
    case 'BILLING_CYCLE':
      if (billingPeriodEnd === null) {
        throw invalidOperation(
          `No billing period of the subscription contains ${periodStart}.`,
          'expiration_type',
        );
      }
      return billingPeriodEnd;
    case 'DURATION': {
      const grid = billingGrid({
        billing_anchor: periodStart,
        billing_cycle: 'anniversary',
        billing_period: DURATION_PERIODS[grant.expiration_duration_unit!],
        billing_period_count: grant.expiration_duration!,
        customer_timezone: timezone,
      });
      return grid.boundaryMs(1) > epochMs(LAST_INSTANT) ? null : grid.boundary(1);
    }
    default:
      return grant.expiration_type satisfies never;
  }
}

const DURATION_PERIODS = {
  DAY: 'DAILY',
  WEEK: 'WEEKLY',
  MONTH: 'MONTHLY',
  YEAR: 'ANNUAL',
} as const;

/** A grant that is attached inside a billing period. */
export interface FirstPeriodProration {
  readonly proration_behavior: 'create_prorations' | 'none';
  /** The grant's period and period count equal those of the subscription's billing period. */
  readonly is_same_period: boolean;
  /** The billing period that contains `attached_at`. */
  readonly billing_period: Period;
  /** A boundary from the end of that period on, from which later periods of equal length are counted. */
  readonly aligned_at: Instant;
  readonly attached_at: Instant;
}

/**
 * Credits of the first period of a grant that is attached inside a billing period (money
 * 5.2.6). With create_prorations and a recurring grant of the same length as the billing period: the
 * share for the rest of the period. Otherwise all credits. Full precision (5.2.7).
 */
export function firstPeriodCredits(
  grant: Pick<CreditGrant, 'cadence' | 'credits'>,
  proration: FirstPeriodProration,
): Decimal {
  const credits = decimal(grant.credits);
  if (!proratesFirstPeriod(grant, proration)) return credits;
  const { start, end } = proration.billing_period;
  const left = epochMs(end) - epochMs(proration.attached_at);
  return roundToStorage(credits.times(left).div(epochMs(end) - epochMs(start)));
}

/** Whether the first period is prorated: it then ends with the billing period. */
export const proratesFirstPeriod = (
  grant: Pick<CreditGrant, 'cadence'>,
  proration: FirstPeriodProration,
): boolean => proration.proration_behavior === 'create_prorations' && isCutShort(grant, proration);

/** Whether the grant's first period ends with the billing period in which it is attached. */
export const isCutShort = (
  { cadence }: Pick<CreditGrant, 'cadence'>,
  { is_same_period, attached_at, billing_period: { start, end } }: FirstPeriodProration,
): boolean =>
  cadence === 'RECURRING' &&
  is_same_period &&
  epochMs(attached_at) > epochMs(start) &&
  epochMs(attached_at) < epochMs(end);
