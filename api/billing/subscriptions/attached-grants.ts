import { periodContaining, unclampedBoundary } from '../../../domain/time/billing-periods.ts';
import { paidSchedule } from '../../../domain/subscription/schedule.ts';
import { earlierOf, laterOf } from '../../../domain/time/instant.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import type { FirstPeriodProration } from '../../../domain/wallet/grant-application.ts';
import {
  attachedGrantStart,
  changedPlanGrantStart,
  type GrantStart,
} from '../../../domain/wallet/grant-schedule.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { AddonAssociationRow } from '../../../schemas/addon-association.ts';
import type { CreditGrant } from '../../../schemas/credit-grant.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import {
  findCreditGrantsOf,
  insertCreditGrants,
  updateCreditGrantRow,
} from '../../catalog/credit-grants/repository.ts';
import { changed, newRecord, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { applyGrants } from '../grants/apply-grants.ts';
import { copiedTerms } from './credit-grants.ts';

/** Copies of grants that begin inside a subscription, each with the proration of its first period. */
export type AttachedGrants = readonly {
  readonly grant: CreditGrant;
  readonly proration: FirstPeriodProration | null;
}[];

type Behavior = SubscriptionRow['proration_behavior'];

/**
 * The grants that an addon brings to a subscription: copies that begin with the association, in a trial with its end,
 * and end with it (money 5.2.5). The credits of one unit of the addon times its quantity. Writes nothing.
 */
export async function grantsOfAddon(
  tx: Transaction,
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  caller: Caller,
  subscription: GrantedSubscription,
  association: AddonAssociationRow,
  behavior: Behavior,
): Promise<AttachedGrants> {
  const { addon_id, quantity, start_date, end_date } = association;
  const templates = await findCreditGrantsOf(tx, caller.scope, 'addon_id', [addon_id]);
  return copies(deps, caller, subscription, templates, {
    behavior,
    from: start_date,
    until: end_date,
    startOf: attachedGrantStart,
    of: (template) => ({
      addon_id,
      addon_association_id: association.id,
      credits: decimalText(decimal(template.credits).times(decimal(quantity))),
    }),
  });
}

/**
 * Ends the grants of the old plan at the change and begins those of the new plan; credits that were given stay
 * (money 5.6.1). Grants of addons and of the subscription itself go on. Called after the invoice of the change is
 * written, which the new credits do not pay.
 */
export async function changeGrantsOfPlan(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  { to, effective_at }: { readonly to: { readonly id: string }; readonly effective_at: string },
  { at, proration_behavior }: { readonly at: string; readonly proration_behavior: Behavior },
): Promise<void> {
  const isOfPlan = ({ plan_id }: CreditGrant) => plan_id !== null;
  await endGrants(tx, deps, caller, subscription.id, isOfPlan, effective_at);
  const templates = await findCreditGrantsOf(tx, caller.scope, 'plan_id', [to.id]);
  const begun = copies(deps, caller, subscription, templates, {
    behavior: proration_behavior,
    from: effective_at,
    until: null,
    startOf: changedPlanGrantStart,
    of: () => ({ plan_id: to.id }),
  });
  await writeAttachedGrants(tx, deps, caller, subscription, begun, at);
}

/** Stores the grants and gives the credits that are due. The caller holds the lock of the subscription. */
export async function writeAttachedGrants(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  attached: AttachedGrants,
  at: string,
): Promise<void> {
  if (attached.length === 0) return;
  await insertCreditGrants(
    tx,
    attached.map(({ grant }) => grant),
  );
  const proration = prorationOf(attached);
  await applyGrants(tx, deps, caller, subscription, { at, refusal: 'throw', proration });
}

/** The proration of a grant by its id, for `applyGrants`. */
export function prorationOf(attached: AttachedGrants) {
  const byId = new Map(attached.map(({ grant, proration }) => [grant.id, proration]));
  return ({ id }: Pick<CreditGrant, 'id'>): FirstPeriodProration | null => byId.get(id) ?? null;
}

/** Ends the grants of one instance of an addon; another instance keeps its own (billing 15). */
export async function endGrantsOfAddon(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { id, subscription_id }: Pick<AddonAssociationRow, 'id' | 'subscription_id'>,
  effective_at: string,
): Promise<void> {
  const isOfAddon = ({ addon_association_id }: CreditGrant) => addon_association_id === id;
  await endGrants(tx, deps, caller, subscription_id, isOfAddon, effective_at);
}

/** Ends grants of the subscription that still run: what would be due then or later is not given (money 5.6.2). */
async function endGrants(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscriptionId: string,
  isEnded: (grant: CreditGrant) => boolean,
  effective_at: string,
): Promise<void> {
  const grants = await findCreditGrantsOf(tx, caller.scope, 'subscription_id', [subscriptionId]);
  const running = grants.filter(
    (grant) => isEnded(grant) && (grant.end_date === null || grant.end_date > effective_at),
  );
  for (const grant of running)
    await updateCreditGrantRow(tx, caller.scope, grant.id, {
      end_date: laterOf(effective_at, grant.start_date),
      ...changed(deps, caller),
    });
}

type GrantedSubscription = Parameters<typeof paidSchedule>[0] &
  Pick<SubscriptionRow, 'id' | 'billing_period' | 'billing_period_count'>;

function copies(
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  caller: Caller,
  subscription: GrantedSubscription,
  templates: readonly CreditGrant[],
  terms: {
    readonly behavior: Behavior;
    readonly from: string;
    /** Null: as long as the subscription. */
    readonly until: string | null;
    readonly startOf: (grant: CreditGrant, proration: FirstPeriodProration) => GrantStart;
    readonly of: (template: CreditGrant) => Partial<CreditGrant>;
  },
): AttachedGrants {
  const start = laterOf(terms.from, subscription.trial_end);
  const end_date =
    terms.until === null ? subscription.end_date : earlierOf(terms.until, subscription.end_date);
  if (end_date !== null && start >= end_date) return [];
  return templates.toReversed().map((template) => {
    const proration = firstPeriodOf(subscription, template, terms.behavior, start);
    const dates =
      proration === null
        ? { start_date: start, credit_grant_anchor: start }
        : terms.startOf(template, proration);
    const grant: CreditGrant = {
      ...newRecord(deps, caller, 'cg'),
      ...copiedTerms(template),
      scope: 'SUBSCRIPTION',
      plan_id: null,
      addon_id: null,
      addon_association_id: null,
      subscription_id: subscription.id,
      ...dates,
      end_date,
      ...terms.of(template),
    };
    return { grant, proration };
  });
}

function firstPeriodOf(
  subscription: GrantedSubscription,
  grant: CreditGrant,
  proration_behavior: Behavior,
  attached_at: string,
): FirstPeriodProration | null {
  const schedule = paidSchedule(subscription, attached_at);
  const billing_period = periodContaining(schedule, attached_at);
  if (billing_period === null) return null;
  return {
    proration_behavior,
    is_same_period:
      grant.period === subscription.billing_period &&
      grant.period_count === subscription.billing_period_count,
    billing_period,
    aligned_at: unclampedBoundary(schedule, billing_period.end),
    attached_at,
  };
}
