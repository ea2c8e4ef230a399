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
 * due time (money 5.6.4): the stored one, else computed from the grant's terms, for example of a draft.
 */
export async function upcomingApplications(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  of: { readonly customer_id: string } | { readonly subscription_id: string },
): Promise<CreditGrantApplication[]> {
  const at = isoTime(deps.clock.now());
  const grants = await runningGrants(deps.pool, scope, of);
  const open = await openApplications(deps.pool, scope, [
    ...new Set(grants.map((g) => g.subscription_id)),
  ]);
  return grants
    .flatMap((grant) => {
      const stored = open.get(grant.id);
      if (stored !== undefined) return hasEnded(grant, stored) ? [] : [stored];
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

/** At the end of its grant nothing is given. */
const hasEnded = (grant: GrantRow, { scheduled_for }: CreditGrantApplication): boolean =>
  grant.end_date !== null && scheduled_for >= grant.end_date;

/** The open application of each grant of the subscriptions. */
async function openApplications(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, CreditGrantApplication>> {
  if (subscriptionIds.length === 0) return new Map();
  const rows = await db<CreditGrantApplication[]>`
    select id, tenant_id, environment_id, credit_grant_id, subscription_id, scheduled_for, period_start,
           period_end, credits, application_status, application_reason,
           subscription_status_at_application, applied_at, failure_reason, retry_count,
           idempotency_key, metadata, status, created_at, updated_at, created_by, updated_by
      from credit_grant_applications
     where ${inScope(db, scope)} and subscription_id = any(${subscriptionIds as string[]})
       and application_status in ('pending', 'failed')`;
  return new Map(rows.map((row) => [row.credit_grant_id, row]));
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
