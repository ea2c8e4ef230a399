import { upcomingApplication, type RunningGrant } from '../../../domain/wallet/grant-schedule.ts';
import { isoTime } from '../../../platform/clock.ts';
import { derivedId } from '../../../platform/ids.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';
import type { CreditGrant } from '../../../schemas/credit-grant.ts';
import type { CreditGrantApplication } from '../../../schemas/customer-view.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { BillingDeps } from '../../deps.ts';

/**
 * The next open application of each credit grant of a customer's subscriptions, or of one subscription, by
 * due time (money 5.6.4). Computed from the grants' terms and the current time; they have no rows.
 */
export async function upcomingApplications(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  of: { readonly customer_id: string } | { readonly subscription_id: string },
): Promise<CreditGrantApplication[]> {
  const at = isoTime(deps.clock.now());
  const grants = await runningGrants(deps.pool, scope, of);
  return grants
    .flatMap((grant) => {
      const next = upcomingApplication(grant, grant, at);
      return next === null ? [] : [answerOf(grant, next)];
    })
    .sort((left, right) => compare(left.scheduled_for, right.scheduled_for));
}

const compare = (left: string, right: string): number =>
  left < right ? -1
  : left > right ? 1
  : 0; // prettier-ignore

type GrantRow = CreditGrant &
  RunningGrant & { readonly subscription_id: string } & Pick<
    SubscriptionRow,
    'subscription_status'
  >;

/** Grants of subscriptions that are not cancelled, in creation order. */
function runningGrants(
  db: Db,
  scope: Scope,
  of: Parameters<typeof upcomingApplications>[2],
): Promise<GrantRow[]> {
  const [column, id] =
    'customer_id' in of ? ['customer_id', of.customer_id] : ['id', of.subscription_id];
  return db<GrantRow[]>`
    select g.*, coalesce(g.credit_grant_anchor, g.start_date) as credit_grant_anchor,
           s.subscription_status, s.customer_timezone as timezone
      from subscriptions s
      join credit_grants g on g.subscription_id = s.id and ${inScope(db, scope, 'g')}
     where ${inScope(db, scope, 's')} and s.${db(column!)} = ${id!} and s.status = 'published'
       and s.subscription_status <> 'cancelled'
       and g.scope = 'SUBSCRIPTION' and g.status = 'published'
     order by g.created_at, g.id`;
}

function answerOf(
  grant: GrantRow,
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
