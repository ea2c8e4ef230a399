import assert from 'node:assert/strict';
import { decimalText } from '../money.ts';
import { moveGrantApplication } from '../states/grant-application.ts';
import type { SubscriptionStatus } from '../states/subscription.ts';
import { billingGrid, type BillingGrid } from '../time/billing-grid.ts';
import { epochMs, isoText } from '../time/instant.ts';
import type { CreditGrant } from './credit-grant.ts';
import {
  firstPeriodCredits,
  isCutShort,
  proratesFirstPeriod,
  type FirstPeriodProration,
  type GrantApplication,
} from './grant-application.ts';

/** A grant that runs on a subscription. */
export interface RunningGrant extends Pick<
  CreditGrant,
  'credits' | 'cadence' | 'period' | 'period_count'
> {
  readonly start_date: string;
  /** Exclusive; null means no end. */
  readonly end_date: string | null;
  /** The instant from which the grant's periods are counted. */
  readonly credit_grant_anchor: string;
  readonly timezone: string;
}

/** When a grant starts and from which instant its periods count, depending on how it was attached. */
export interface GrantStart {
  readonly start_date: string;
  readonly credit_grant_anchor: string;
}

/**
 * The start of a grant that is created with its subscription: the end of the trial, and it moves when the
 * trial end moves; without a trial, the start of the subscription (money 5.2.1).
 */
export const grantStart = (subscription: {
  readonly start_date: string;
  readonly trial_end: string | null;
}): GrantStart => {
  const start = subscription.trial_end ?? subscription.start_date;
  return { start_date: start, credit_grant_anchor: start };
};

/**
 * The start of a grant that is attached inside a billing period, with an addon. A prorated grant counts its
 * periods from the end of that period, so that its later periods are billing periods (money 5.2.6).
 */
export const attachedGrantStart = (
  grant: Pick<CreditGrant, 'cadence'>,
  proration: FirstPeriodProration,
): GrantStart => ({
  start_date: proration.attached_at,
  credit_grant_anchor: proratesFirstPeriod(grant, proration)
    ? proration.aligned_at
    : proration.attached_at,
});

/**
 * The start of a grant of a plan that the subscription changes to. A grant as long as the billing period
 * counts its periods from the end of the running one, prorated or not; others from the change (money 5.6.1).
 */
export const changedPlanGrantStart = (
  grant: Pick<CreditGrant, 'cadence'>,
  proration: FirstPeriodProration,
): GrantStart => ({
  start_date: proration.attached_at,
  credit_grant_anchor: isCutShort(grant, proration) ? proration.aligned_at : proration.attached_at,
});

/**
 * The first application of a grant. Null when the grant ends before a whole period (money 5.3), or
 * no later than the only application of a one-time grant (5.1.7).
 */
export function firstApplication(
  grant: RunningGrant,
  proration: FirstPeriodProration | null = null,
): GrantApplication | null {
  const credits =
    proration === null ? grant.credits : decimalText(firstPeriodCredits(grant, proration));
  if (grant.cadence === 'ONETIME') {
    if (grant.end_date !== null && grant.end_date <= grant.start_date) return null;
    return application(grant.start_date, null, credits, 'onetime_credit_grant');
  }
  return periodApplication(grant, grant.start_date, credits, 'first_time_recurring_credit_grant');
}

/**
 * The application after an applied or skipped one. It is created in the same transaction, so a recurring
 * grant always has an open application (money 5.3.2). Null at the grant's end and for a
 * one-time grant. A last part shorter than a period gives no credits (5.3.4).
 */
export function nextApplication(
  grant: RunningGrant,
  previous: Pick<GrantApplication, 'period_end'>,
): GrantApplication | null {
  if (grant.cadence === 'ONETIME' || previous.period_end === null) return null;
  return periodApplication(grant, previous.period_end, grant.credits, 'recurring_credit_grant');
}

/** The last instant that can be written. */
const LAST_MS = epochMs('9999-12-31T23:59:59.999Z');

/** States in which no grant is applied; due applications stay open (money 5.4). */
const WAITING: readonly SubscriptionStatus[] = ['draft', 'incomplete', 'trialing'];

/**
 * The open application of a grant at `at`: the next due one, or the first one while the subscription's
 * state defers it (money 5.3.2, 5.4, 5.6.4). Null when the subscription is cancelled or the grant has no
 * further application.
 */
export function upcomingApplication(
  grant: RunningGrant,
  subscription: { readonly subscription_status: SubscriptionStatus },
  at: string,
): GrantApplication | null {
  const { subscription_status } = subscription;
  if (subscription_status === 'cancelled') return null;
  const first = firstApplication(grant);
  if (first === null || first.scheduled_for > at) return first;
  if (WAITING.includes(subscription_status)) return first;
  if (grant.cadence === 'ONETIME') return null;
  // Computed directly, not stepped from the first: a daily grant of ten years has thousands of periods.
  const grid = grantGrid(grant);
  const nextMs = grid.boundaryMs(grid.indexAt(at) + 1);
  if (nextMs > LAST_MS) return null;
  return periodApplication(grant, isoText(nextMs), grant.credits, 'recurring_credit_grant');
}

/**
 * The application after its grant ended, or its subscription was cancelled, at `end`. An open one that is due
 * then or later is cancelled, because a boundary belongs to the next period (money 5.1.7, 5.6.3).
 */
export function cancelledFrom<
  Application extends Pick<GrantApplication, 'application_status' | 'scheduled_for'>,
>(application: Application, end: string): Application {
  const { application_status: status, scheduled_for } = application;
  const isOpen = status === 'pending' || status === 'failed';
  if (!isOpen || epochMs(scheduled_for) < epochMs(end)) return application;
  return { ...application, application_status: moveGrantApplication(status, 'cancel') };
}

function periodApplication(
  grant: RunningGrant,
  start: string,
  credits: string,
  reason: GrantApplication['application_reason'],
): GrantApplication | null {
  const end = boundaryAfter(grant, start);
  if (end === null) return null;
  if (grant.end_date !== null && epochMs(end) > epochMs(grant.end_date)) return null;
  return application(start, end, credits, reason);
}

const application = (
  start: string,
  end: string | null,
  credits: string,
  reason: GrantApplication['application_reason'],
): GrantApplication => ({
  scheduled_for: start,
  period_start: start,
  period_end: end,
  credits,
  application_status: moveGrantApplication(null, 'schedule'),
  application_reason: reason,
});

/** The end of the grant's period that contains an instant; null if it cannot be written. */
export function boundaryAfter(grant: RunningGrant, at: string): string | null {
  const grid = grantGrid(grant);
  const endMs = grid.boundaryMs(grid.indexAt(at) + 1);
  return endMs > LAST_MS ? null : isoText(endMs);
}

/**
 * Boundaries by the local time of the subscription's time zone, counted from the anchor (money
 * 5.3.3).
 */
export function grantGrid(grant: RunningGrant): BillingGrid {
  assert(grant.period !== null && grant.period_count !== null, 'a recurring grant has a period');
  return billingGrid({
    billing_anchor: grant.credit_grant_anchor,
    billing_cycle: 'anniversary',
    billing_period: grant.period,
    billing_period_count: grant.period_count,
    customer_timezone: grant.timezone,
  });
}
