import { invalidField } from '../../../domain/errors.ts';
import { assertSameRates, validateGrant } from '../../../domain/wallet/credit-grant.ts';
import { grantStart } from '../../../domain/wallet/grant-schedule.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { CreditGrant } from '../../../schemas/credit-grant.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import type { CreateSubscriptionBody } from '../../../schemas/subscription-requests.ts';
import { below } from '../../conventions/bulk-error.ts';
import { grantTerms } from '../../catalog/credit-grants/grant-terms.ts';
import {
  findCreditGrantsOf,
  updateCreditGrantRow,
} from '../../catalog/credit-grants/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import type { NewSubscription } from '../records/subscription-repository.ts';

/**
 * The credit grants of a new subscription: those of the request, else copies of the plan's (money
 * 5.2.1, 5.2.2). They start with the subscription, after its trial if it has one, and end with it. Writes
 * nothing. 400 with the path in the request for a grant that contradicts itself or the subscription.
 */
export async function newCreditGrants(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  draft: NewSubscription,
  body: CreateSubscriptionBody,
): Promise<CreditGrant[]> {
  const start = grantStart(draft);
  const run = (grant: GrantTerms, plan_id: string | null): CreditGrant => {
    const start_date = grant.start_date ?? start.start_date;
    return {
      ...newRecord(deps, caller, 'cg'),
      ...grant,
      scope: 'SUBSCRIPTION',
      plan_id,
      addon_id: null,
      addon_association_id: null,
      subscription_id: draft.id,
      start_date,
      credit_grant_anchor: grant.credit_grant_anchor ?? start_date,
      end_date: grant.end_date ?? draft.end_date,
    };
  };
  if (body.credit_grants) {
    refuseOtherPlans(body.credit_grants, draft);
    refuseUntypedDurations(body.credit_grants);
    return requested(body.credit_grants.map(grantTerms), draft, run);
  }
  const templates = await findCreditGrantsOf(tx, caller.scope, 'plan_id', [draft.plan_id]);
  // A trial as long as the subscription leaves no time for credits.
  if (draft.end_date !== null && start.start_date >= draft.end_date) return [];
  return templates.reverse().map((template) => run(copiedTerms(template), draft.plan_id));
}

/** Without an expiration type credits never expire, so a duration would have no effect (money 5.1.3). */
function refuseUntypedDurations(
  grants: NonNullable<CreateSubscriptionBody['credit_grants']>,
): void {
  for (const [index, grant] of grants.entries())
    for (const field of ['expiration_duration', 'expiration_duration_unit'] as const)
      if (!grant.expiration_type && grant[field])
        throw invalidField(
          `credit_grants[${index}].${field}`,
          'needs the expiration_type DURATION',
        );
}

/** The plan of a grant can only repeat that of the subscription (api 33). */
function refuseOtherPlans(
  grants: NonNullable<CreateSubscriptionBody['credit_grants']>,
  draft: NewSubscription,
): void {
  for (const [index, { plan_id }] of grants.entries())
    if (plan_id && plan_id !== draft.plan_id)
      throw invalidField(`credit_grants[${index}].plan_id`, 'is not the plan of the subscription');
}

type GrantTerms = ReturnType<typeof grantTerms>;

function requested(
  grants: readonly GrantTerms[],
  draft: NewSubscription,
  run: (grant: GrantTerms, planId: null) => CreditGrant,
): CreditGrant[] {
  const made = grants.map((grant, index) => {
    const running = run(grant, null);
    try {
      validateGrant(running, draft);
    } catch (error) {
      throw below(error, `credit_grants[${index}]`);
    }
    return running;
  });
  assertSameRates(made);
  return made;
}

/** The terms that a copy inherits. Dates and anchor are its own: a template has none. */
export const copiedTerms = (grant: CreditGrant): GrantTerms => ({
  name: grant.name,
  credits: grant.credits,
  conversion_rate: grant.conversion_rate,
  topup_conversion_rate: grant.topup_conversion_rate,
  cadence: grant.cadence,
  period: grant.period,
  period_count: grant.period_count,
  expiration_type: grant.expiration_type,
  expiration_duration: grant.expiration_duration,
  expiration_duration_unit: grant.expiration_duration_unit,
  priority: grant.priority,
  credit_grant_anchor: null,
  start_date: null,
  end_date: null,
  metadata: grant.metadata,
});

/**
 * Grants that begin with the subscription, or with the end of its trial, begin there too after the change
 * (money 5.2.1). `applyGrants` moves their first applications.
 */
export async function moveGrants(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  before: SubscriptionRow,
  after: SubscriptionRow,
): Promise<void> {
  const start = grantStart(before).start_date;
  const moved = grantStart(after);
  if (moved.start_date === start) return;
  const grants = await findCreditGrantsOf(tx, caller.scope, 'subscription_id', [before.id]);
  for (const { id, start_date, credit_grant_anchor: anchor } of grants)
    if (start_date === start)
      await updateCreditGrantRow(tx, caller.scope, id, {
        start_date: moved.start_date,
        credit_grant_anchor: anchor === start ? moved.credit_grant_anchor : anchor,
        ...changed(deps, caller),
      });
}
