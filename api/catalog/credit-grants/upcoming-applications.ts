import { applicationOutsidePause } from '../../../domain/wallet/grant-pauses.ts';
import { upcomingApplication } from '../../../domain/wallet/grant-schedule.ts';
import { isoTime } from '../../../platform/clock.ts';
import { derivedId } from '../../../platform/ids.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { CreditGrantApplication } from '../../../schemas/customer-view.ts';
import type { BillingDeps } from '../../deps.ts';
import {
  findOpenApplications,
  findSubscriptionGrants,
  type SubscriptionGrant,
} from './repository.ts';

/**
 * The next open application of each credit grant of a customer's subscriptions, or of one subscription, by
 * due time (money 5.6.4): the stored one, else computed from the grant's terms, for example of a draft. A pause moves
 * or takes it, as far as its end is known.
 */
export async function upcomingApplications(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  of: { readonly customer_id: string } | { readonly subscription_id: string },
): Promise<CreditGrantApplication[]> {
  const at = isoTime(deps.clock.now());
  const grants = await findSubscriptionGrants(deps.pool, scope, of);
  const subscriptionIds = [...new Set(grants.map((grant) => grant.subscription_id))];
  const applications = await findOpenApplications(deps.pool, scope, subscriptionIds);
  const stored = new Map(applications.map((row) => [row.credit_grant_id, row]));
  return grants
    .flatMap((grant) => {
      const open = stored.get(grant.id) ?? computed(grant, at);
      const next = open === null ? null : afterPause(grant, open);
      return next === null || hasEnded(grant, next) ? [] : [next];
    })
    .sort((left, right) => compare(left.scheduled_for, right.scheduled_for));
}

const compare = (left: string, right: string): number =>
  left < right ? -1
  : left > right ? 1
  : 0; // prettier-ignore

/** At the end of a grant or of its subscription nothing is given (money 5.1.7, 5.6.3). */
const hasEnded = (
  { ends_at }: SubscriptionGrant,
  { scheduled_for }: CreditGrantApplication,
): boolean => ends_at !== null && scheduled_for >= ends_at;

const afterPause = (
  grant: SubscriptionGrant,
  open: CreditGrantApplication,
): CreditGrantApplication | null =>
  grant.pause_at === null
    ? open
    : applicationOutsidePause(grant, open, { start: grant.pause_at, end: grant.resume_at });

function computed(grant: SubscriptionGrant, at: string): CreditGrantApplication | null {
  const next = upcomingApplication(grant, grant, at);
  return next === null ? null : answerOf(grant, next);
}

function answerOf(
  grant: SubscriptionGrant,
  next: NonNullable<ReturnType<typeof upcomingApplication>>,
): CreditGrantApplication {
  const key = derivedId('cga', grant.id, next.period_start, next.period_end ?? '');
  return {
    id: key,
    tenant_id: grant.tenant_id,
    environment_id: grant.environment_id,
    status: 'published',
    credit_grant_id: grant.id,
    subscription_id: grant.subscription_id,
    ...next,
    subscription_status_at_application: grant.subscription_status,
    applied_at: null,
    failure_reason: null,
    retry_count: 0,
    idempotency_key: key,
    metadata: {},
    created_at: grant.created_at,
    updated_at: grant.updated_at,
    created_by: grant.created_by,
    updated_by: grant.updated_by,
  };
}
