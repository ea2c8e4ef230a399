import type { EntitlementSource } from '../../../domain/entitlement/effective-limits.ts';
import { clockTimeAt, type ClockTime } from '../../../domain/time/clock-times.ts';
import { earlierOf, laterOf } from '../../../domain/time/instant.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { clockTimesOf } from '../../../postgres/tables/test-clocks.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { findAddonAssociationsOf } from '../offers/addon-association-repository.ts';
import { groupBy } from '../../../domain/group-by.ts';
import { entitlementHistory, findEntitlementsOfAll, type EntitlementRow } from './repository.ts';

/**
 * Whether a subscription grants entitlements at an instant. An inherited one does not: its parent grants
 * (money 6.9).
 */
export const isGranting = (subscription: SubscriptionRow, at: string): boolean =>
  (subscription.subscription_status === 'active' ||
    subscription.subscription_status === 'trialing') &&
  subscription.subscription_type !== 'inherited' &&
  subscription.start_date <= at &&
  (subscription.end_date === null || subscription.end_date > at);

/**
 * The state of a source from `known_from` to `known_until`, in the time of the subscription's customer; a null end
 * means until now.
 */
export interface DatedSource extends EntitlementSource {
  readonly entitlement: EntitlementRow;
  readonly known_from: string;
  readonly known_until: string | null;
}

/**
 * The entitlements of subscriptions as they are now, source by source: for each subscription its plan's
 * entitlements, newest first, those of its addons, then its own (money 6.5). Each applies between its dates.
 */
export async function entitlementSources(
  db: Db,
  scope: Scope,
  subscriptions: readonly Pick<SubscriptionRow, 'id' | 'plan_id'>[],
): Promise<EntitlementSource[]> {
  const now = subscriptions.map(({ id, plan_id }) => ({ id, plan_id, earlier_plans: [] }));
  return await sourcesOfAllPlans(db, scope, now);
}

/**
 * The same with the plans that the subscriptions had before, each until its change: they may have opened windows of
 * quotas that last (money 7.4).
 */
export async function sourcesOfAllPlans(
  db: Db,
  scope: Scope,
  subscriptions: readonly Pick<SubscriptionRow, 'id' | 'plan_id' | 'earlier_plans'>[],
): Promise<EntitlementSource[]> {
  const dated = await datedSources(db, scope, subscriptions, false);
  return dated.filter(({ known_until }) => known_until === null);
}

/**
 * The same with every earlier state, and with the plans that the subscriptions had before, each until its change
 * (billing 4, 14.2): four statements for all subscriptions.
 */
export async function datedSources(
  db: Db,
  scope: Scope,
  subscriptions: readonly Pick<SubscriptionRow, 'id' | 'plan_id' | 'earlier_plans'>[],
  withHistory = true,
): Promise<DatedSource[]> {
  const ids = subscriptions.map(({ id }) => id);
  const associations = await findAddonAssociationsOf(db, scope, ids);
  const entities = [
    ...ids,
    ...subscriptions.flatMap((row) => plansOf(row).map(({ plan_id }) => plan_id)),
    ...associations.map((row) => row.addon_id),
  ];
  const entityIds = [...new Set(entities)];
  const [current, earlier, clockTimes] = await Promise.all([
    findEntitlementsOfAll(db, scope, entityIds),
    withHistory ? entitlementHistory(db, scope, entityIds) : [],
    withHistory ? clockTimesOf(db, scope, ids) : NO_CLOCKS,
  ]);
  const byEntity = groupBy(datedStates(current, earlier), ({ state }) => state.entity_id);
  const addonsOf = groupBy(associations, ({ subscription_id }) => subscription_id);
  return subscriptions.flatMap((subscription): DatedSource[] => {
    const { id } = subscription;
    const times = clockTimes.get(id) ?? null;
    const source = (
      dated: DatedState,
      quantity: string,
      window: { readonly start_date: string | null; readonly end_date: string | null },
    ): DatedSource => ({
      entitlement: dated.state,
      subscription_id: id,
      quantity,
      start_date: either(laterOf, dated.state.start_date, window.start_date),
      end_date: either(earlierOf, dated.state.end_date, window.end_date),
      ...knownIn(dated, times),
    });
    const always = { start_date: null, end_date: null };
    return [
      ...plansOf(subscription).flatMap(({ plan_id, ...window }) =>
        (byEntity.get(plan_id) ?? []).map((state) => source(state, '1', window)),
      ),
      ...(addonsOf.get(id) ?? []).flatMap((addon) =>
        (byEntity.get(addon.addon_id) ?? []).map((state) => source(state, addon.quantity, addon)),
      ),
      ...(byEntity.get(id) ?? []).map((state) => source(state, '1', always)),
    ];
  });
}

/** The plans of a subscription, the current one first, each with its time; null: from the start, or until now. */
const plansOf = ({ plan_id, earlier_plans }: Pick<SubscriptionRow, 'plan_id' | 'earlier_plans'>) =>
  [...earlier_plans, { plan_id, until: null }]
    .map(({ plan_id: id, until: end_date }, index) => ({
      plan_id: id,
      start_date: earlier_plans[index - 1]?.until ?? null,
      end_date,
    }))
    .toReversed();

/**
 * The sources at the end of a period, for the invoice of that period (billing 4): an entitlement that is changed
 * later does not change it. A back-dated subscription is billed by the sources at its creation.
 */
export function sourcesOfPeriod<Source extends DatedSource>(
  sources: readonly Source[],
  subscription: Pick<SubscriptionRow, 'created_at'>,
  periodEnd: string,
): Source[] {
  const { created_at } = subscription;
  if (created_at >= periodEnd)
    return sources.filter(
      ({ known_from, known_until }) =>
        known_from <= created_at && (known_until === null || known_until > created_at),
    );
  return sources.filter(
    ({ known_from, known_until }) =>
      known_from < periodEnd && (known_until === null || known_until >= periodEnd),
  );
}

/** A state from the instant at which it was written until the one at which it was changed; null: it stands now. */
interface DatedState {
  readonly state: EntitlementRow;
  readonly written_at: string;
  readonly changed_at: string | null;
  /** The entitlement was created with this state. */
  readonly isFirst: boolean;
}

/** Each state of each entitlement, the current ones first, in their order. */
function datedStates(
  current: readonly EntitlementRow[],
  earlier: readonly { readonly valid_to: string; readonly state: EntitlementRow }[],
): DatedState[] {
  const past = groupBy(earlier, ({ state }) => state.id);
  const dated = (state: EntitlementRow, before: string | undefined, changed_at: string | null) => ({
    state,
    written_at: before ?? state.created_at,
    changed_at,
    isFirst: before === undefined,
  });
  const now = current.map((state) => dated(state, past.get(state.id)?.at(-1)?.valid_to, null));
  const before = [...past.values()].flatMap((states) =>
    states.map(({ state, valid_to }, index) => dated(state, states[index - 1]?.valid_to, valid_to)),
  );
  return [...now, ...before.filter(({ state }) => state.status === 'published')];
}

/**
 * From when until when a state was known in the time of the customer. Entitlements of plans and addons are written in
 * real time: for the customers of a test clock this is the time that the clock had then (billing 22.5). An entitlement
 * whose start lies before its creation is entered late and stands from its start (billing 4.7).
 */
function knownIn(
  { state, written_at, changed_at, isFirst }: DatedState,
  times: readonly ClockTime[] | null,
): Pick<DatedSource, 'known_from' | 'known_until'> {
  const isInRealTime = times === null || state.entity_type === 'SUBSCRIPTION';
  const inItsTime = (at: string) => (isInRealTime ? at : clockTimeAt(times, at));
  const written = inItsTime(written_at);
  return {
    known_from: isFirst ? earlierOf(written, state.start_date) : written,
    known_until: changed_at === null ? null : inItsTime(changed_at),
  };
}

const NO_CLOCKS: ReadonlyMap<string, readonly ClockTime[]> = new Map();

const either = (
  choose: (left: string, right: string | null) => string,
  left: string | null,
  right: string | null,
): string | null => (left === null ? right : choose(left, right ?? left));
