import { invalidField, invalidOperation } from '../errors.ts';
import { nextPeriod, type BillingSchedule } from '../time/billing-periods.ts';
import { earlierOf, type Instant, laterOf, type Period } from '../time/instant.ts';
import type { ExcludedDuring } from '../metering/usage.ts';
import { byText } from '../text-order.ts';

/** The customer who pays: the invoicing customer of a delegated subscription, else its own customer (billing 16). */
export const payerOf = (subscription: {
  readonly customer_id: string;
  readonly invoicing_customer_id: string | null;
}): string => subscription.invoicing_customer_id ?? subscription.customer_id;

/** What a request says about other subscriptions and customers. */
export interface Inheritance {
  readonly external_customer_ids_to_inherit_subscription?: readonly string[] | null;
  readonly invoicing_customer_external_id?: string | null;
  readonly parent_subscription_id?: string | null;
  readonly subscriptions_ids_for_grouped_invoicing?: readonly string[] | null;
}

/** Refuses roles that exclude each other (billing 16). */
export function refuseTwoRoles(inheritance: Inheritance): void {
  const children =
    (inheritance.external_customer_ids_to_inherit_subscription?.length ?? 0) +
      (inheritance.subscriptions_ids_for_grouped_invoicing?.length ?? 0) >
    0;
  if (inheritance.invoicing_customer_external_id && children)
    throw invalidField(
      'inheritance.invoicing_customer_external_id',
      'is not sent together with children: a parent is invoiced to its own customer',
    );
  if (!inheritance.parent_subscription_id) return;
  if (children || inheritance.invoicing_customer_external_id)
    throw invalidField(
      'inheritance.parent_subscription_id',
      'is not sent together with children or an invoicing customer: a grouped subscription is billed on the invoice of its parent',
    );
}

/** A customer whose usage counts for a parent, and when (billing 16). */
export interface PooledCustomer {
  readonly external_id: string;
  readonly start_date: Instant;
  readonly end_date: Instant | null;
}

const FIRST_INSTANT = '1970-01-01T00:00:00.000Z';

/**
 * The children whose usage counts in the time, and their usage of other times, which does not. A child that left and
 * came back counts in both times. `isLifetime`: usage before the time counts too.
 */
export function pooledDuring(
  pool: readonly PooledCustomer[],
  { start, end }: Period,
  isLifetime: boolean,
): { readonly external_ids: string[]; readonly excluded_during: ExcludedDuring[] } {
  const within = pool.filter(
    ({ start_date, end_date }) => start_date < end && (end_date === null || end_date > start),
  );
  const external_ids = [...new Set(within.map(({ external_id }) => external_id))];
  const time = { start: isLifetime ? FIRST_INSTANT : start, end };
  return {
    external_ids,
    excluded_during: external_ids.flatMap((external_id) => {
      const own = within.filter((one) => one.external_id === external_id);
      const excluded = { filter_values: {}, external_customer_ids: [external_id] };
      return timesOutside(own, time).map((span) => ({ ...span, ...excluded }));
    }),
  };
}

/** The parts of a time in which a customer is no child. */
function timesOutside(times: readonly PooledCustomer[], { start, end }: Period): Period[] {
  const ordered = times.toSorted((left, right) => byText(left.start_date, right.start_date));
  const outside: Period[] = [];
  let covered = start;
  for (const { start_date, end_date } of ordered) {
    if (covered < start_date) outside.push({ start: covered, end: earlierOf(end, start_date) });
    covered = laterOf(covered, end_date ?? end);
  }
  return covered < end ? [...outside, { start: covered, end }] : outside;
}

/** The fields of a subscription that decide whether it can be a parent. */
export interface PossibleParent {
  readonly id: string;
  readonly subscription_type: string;
  readonly subscription_status: string;
  readonly cancel_at: Instant | null;
}

/** Refuses a subscription that cannot have children (billing 16). */
export function assertPossibleParent(parent: PossibleParent): void {
  if (parent.subscription_type !== 'standalone' && parent.subscription_type !== 'parent')
    throw invalidOperation(
      `A subscription of type ${parent.subscription_type} cannot have children.`,
      'subscription_type',
    );
}

/** The fields of a subscription that its parent's invoice depends on. */
export interface GroupableSubscription extends BillingSchedule {
  readonly id: string;
  readonly currency: string;
  readonly current_period_end: Instant;
}

/** Boundaries that a parent and a grouped subscription must share; more than two years of months. */
const BOUNDARIES = 30;

/**
 * Refuses a subscription that cannot be billed on the parent's invoice: it has the parent's currency, period
 * and boundaries, and does not start before it (billing 16). `path` names the request's field.
 */
export function assertGroupable(
  parent: GroupableSubscription & PossibleParent,
  child: GroupableSubscription,
  path: string,
): void {
  assertPossibleParent(parent);
  if (parent.subscription_status !== 'active')
    throw invalidField(path, `subscription ${parent.id} is ${parent.subscription_status}`);
  if (parent.cancel_at !== null)
    throw invalidField(path, `the cancellation of subscription ${parent.id} is scheduled`);
  if (child.currency !== parent.currency)
    throw invalidField(path, `subscription ${parent.id} is in ${parent.currency}`);
  const { billing_period, billing_period_count } = parent;
  if (
    child.billing_period !== billing_period ||
    child.billing_period_count !== billing_period_count
  )
    throw invalidField(
      path,
      `subscription ${parent.id} is billed every ${billing_period_count} ${billing_period}`,
    );
  if (child.start_date < parent.start_date)
    throw invalidField(path, `subscription ${parent.id} starts later, at ${parent.start_date}`);
  if (!shareBoundaries(parent, child))
    throw invalidField(
      path,
      `billing periods of subscription ${parent.id} end at other times; its anchor is ${parent.billing_anchor}`,
    );
}

function shareBoundaries(parent: GroupableSubscription, child: GroupableSubscription): boolean {
  const met = firstCommonEnd(parent, child);
  if (met === null) return false;
  let at = met;
  for (let passed = 0; passed < BOUNDARIES; passed += 1) {
    const [next, own] = [endAfter(parent, at), endAfter(child, at)];
    if (next === null || next !== own) return false;
    at = next;
  }
  return true;
}

/**
 * The first end of a period of both, from the running ones on; either may be behind, or be cut by its end date. Null:
 * they pass each other.
 */
function firstCommonEnd(
  parent: GroupableSubscription,
  child: GroupableSubscription,
): Instant | null {
  let [left, right] = [parent.current_period_end, child.current_period_end];
  for (let turns = 0; turns < 2 && left !== right; turns += 1) {
    const isParent = left < right;
    const until = laterOf(left, right);
    let at = isParent ? left : right;
    while (at < until) {
      const next = endAfter(isParent ? parent : child, at);
      if (next === null) return null;
      at = next;
    }
    if (isParent) left = at;
    else right = at;
  }
  return left === right ? left : null;
}

/** The end of the period around an instant, as if the subscription had no end date. */
const endAfter = (subscription: GroupableSubscription, at: Instant): Instant | null =>
  nextPeriod({ ...subscription, end_date: null }, at)?.end ?? null;

/** The boundary from which the rows of a grouped subscription are on its parent's invoice (billing 16). */
export const mergesFrom = (
  parent: Pick<GroupableSubscription, 'current_period_end'>,
  child: Pick<GroupableSubscription, 'current_period_end'>,
): Instant => laterOf(parent.current_period_end, child.current_period_end);

/**
 * Whether the period of a grouped subscription ends at the instant with that of its parent, so that the parent's
 * invoice has its rows (billing 16). One of the two that ends within the period of the other bills itself.
 */
export const isMergedAt = (
  child: {
    readonly subscription_status: string;
    readonly current_period_end: Instant;
    readonly merges_from: Instant | null;
  },
  end: Instant,
): boolean => child.current_period_end === end && isMerged(child);

/** Whether the end of the running period of a grouped subscription is on its parent's invoice (billing 16). */
export const isMerged = (child: {
  readonly subscription_status: string;
  readonly current_period_end: Instant;
  readonly merges_from?: Instant | null;
}): boolean =>
  child.subscription_status === 'active' &&
  child.merges_from != null &&
  child.merges_from <= child.current_period_end;

/**
 * Whether the parent ends before the running period of a grouped subscription does. The child bills this period itself
 * then (billing 16).
 */
export const endsWithin = (
  parent: { readonly end_date: Instant | null; readonly cancel_at: Instant | null },
  child: { readonly current_period_end: Instant },
): boolean =>
  [parent.end_date, parent.cancel_at].some((end) => end !== null && end < child.current_period_end);

/** A subscription without its parent bills itself from its running period on (billing 16). */
export const STANDING_ALONE = {
  subscription_type: 'standalone',
  parent_subscription_id: null,
  merges_from: null,
} as const;
