import { decimal } from '../../../domain/money.ts';
import { moveGrantApplication } from '../../../domain/states/grant-application.ts';
import type { SubscriptionStatus } from '../../../domain/states/subscription.ts';
import type { Instant, Period } from '../../../domain/time/instant.ts';
import type { CreditGrant } from '../../../domain/wallet/credit-grant.ts';
import {
  decideApplication,
  grantExpiry,
  type FirstPeriodProration,
  type GrantApplication,
} from '../../../domain/wallet/grant-application.ts';
import {
  attachedGrantStart,
  cancelledFrom,
  firstApplication,
  nextApplication,
  type RunningGrant,
} from '../../../domain/wallet/grant-schedule.ts';
import { toDecimals, type Answer, type JsonObject } from '../compare.ts';
import type { AreaOperations } from '../operation.ts';

const NOW = '2026-03-02T00:00:00.000Z';

export const creditGrants: AreaOperations = {
  credit_grant(given) {
    if (given['action'] === 'cancel_subscription') return cancelled(given);
    if (given['application_period_start'] !== undefined) return appliedAt(given);
    return scheduled(given);
  },

  credit_expiry: (given) => ({
    expiry_date: grantExpiry(
      expirationOf(given),
      given['from'] as string,
      (given['customer_timezone'] ?? given['timezone'] ?? '') as string,
      null,
    ),
  }),
};

/** The first two applications, each applied when it is due. */
function scheduled(given: JsonObject): Answer {
  const proration = prorationOf(given);
  const start = (given['attach_at'] ?? given['start_date'] ?? NOW) as string;
  const grant: RunningGrant = {
    credits: given['credits'] as string,
    cadence: given['cadence'] as CreditGrant['cadence'],
    period: (given['period'] ?? null) as CreditGrant['period'],
    period_count: (given['period_count'] ?? 1) as number,
    end_date: (given['end_date'] ?? null) as string | null,
    timezone: (given['customer_timezone'] ?? '') as string,
    ...(proration === null
      ? { start_date: start, credit_grant_anchor: start }
      : attachedGrantStart({ cadence: given['cadence'] as CreditGrant['cadence'] }, proration)),
  };
  const first = firstApplication(grant, proration)!;
  const next = nextApplication(grant, first);
  const subscription = subscriptionOf(given);
  const found = [
    due(first, start, subscription),
    ...(next === null ? [] : [due(next, start, subscription)]),
  ];
  return {
    applications: found.map(asAnswer),
    first_application: asAnswer(found[0]!),
    periods: found.map(({ period_start, period_end }) => ({
      start: period_start,
      end: period_end,
    })),
  };
}

/** An application after the run at `at`: what is not due yet stays pending. */
function due(
  application: GrantApplication,
  at: Instant,
  subscription: CaseSubscription,
): GrantApplication {
  if (application.scheduled_for > at) return application;
  const { action } = decideApplication(subscription, null, 0, at);
  return {
    ...application,
    application_status: moveGrantApplication(
      application.application_status,
      action === 'wait' ? 'defer' : action,
    ),
  };
}

function appliedAt(given: JsonObject): Answer {
  const at = (given['now'] ?? given['application_period_start']) as string;
  const start = given['application_period_start'] as string;
  const expiry = grantExpiry(
    expirationOf(given),
    start,
    (given['customer_timezone'] ?? '') as string,
    ((given['subscription'] as JsonObject | undefined)?.['current_period_end'] ?? null) as
      string | null,
  );
  const decision = decideApplication(subscriptionOf(given), expiry, 0, at);
  return {
    transaction_expiry_date: decision.action === 'apply' ? decision.expiry_date : null,
    application_status: moveGrantApplication(
      'pending',
      decision.action === 'wait' ? 'defer' : decision.action,
    ),
    credits_added: decision.action === 'apply' ? decimal((given['credits'] ?? '1') as string) : '0',
  };
}

function cancelled(given: JsonObject): Answer {
  const applications = (given['applications'] as string[]).map((status): GrantApplication => ({
    scheduled_for: NOW,
    period_start: NOW,
    period_end: null,
    credits: '1',
    application_status: status as GrantApplication['application_status'],
    application_reason: 'recurring_credit_grant',
  }));
  return {
    application_statuses: applications.map(
      (application) => cancelledFrom(application, NOW).application_status,
    ),
  };
}

interface CaseSubscription {
  readonly subscription_status: SubscriptionStatus;
  readonly trial_end: string | null;
}

/** Active, when the case does not say otherwise. */
const subscriptionOf = (given: JsonObject): CaseSubscription => ({
  subscription_status: 'active',
  trial_end: null,
  ...(given['subscription'] as Partial<CaseSubscription> | undefined),
});

/** With create_prorations a case speaks of a grant that is as long as the billing period. */
function prorationOf(given: JsonObject): FirstPeriodProration | null {
  if (given['proration_behavior'] === undefined) return null;
  const subscription = given['subscription'] as {
    current_period_start: string;
    current_period_end: string;
  };
  const billing_period: Period = {
    start: subscription.current_period_start,
    end: subscription.current_period_end,
  };
  return {
    proration_behavior: given['proration_behavior'] as FirstPeriodProration['proration_behavior'],
    is_same_period: true,
    billing_period,
    aligned_at: billing_period.end,
    attached_at: given['attach_at'] as string,
  };
}

const expirationOf = (given: JsonObject) =>
  ({
    expiration_type: given['expiration_type'],
    expiration_duration: given['expiration_duration'] ?? null,
    expiration_duration_unit: given['expiration_duration_unit'] ?? null,
  }) as Parameters<typeof grantExpiry>[0];

const asAnswer = (application: GrantApplication): { [key: string]: Answer } => ({
  credits: toDecimals(decimal(application.credits), 8),
  status: application.application_status,
  reason: application.application_reason,
  period_end: application.period_end,
});
